/// A table of the file: its schema, and where its objects are.
///
/// ```
///  0      2       3            7                 11           12
/// | spec | tree  | table key  | opposite tables | primary key | kind |     other slots are skipped
///
///  spec   0       1       2            4             5
///        | types | names | attributes | enumeration | column keys |
/// ```
///
/// Types, attributes and keys are of all columns: first the public ones, which have names, then those of
/// backlinks, which are not read.
struct ClassTable {
  /// Tables of classes have it in front of the class's name.
  static let namePrefix = "class_"
  private static let bookkeepingName = "!OID"

  private enum Slot {
    static let spec = 0
    static let objects = 2
    static let key = 3
    static let oppositeTables = 7
    static let primaryKey = 11
    static let kind = 12
  }

  /// The name of the table without the prefix.
  let name: String
  let key: Int64
  let kind: RealmFileClass.Kind
  var columns: [Column]
  /// The index of the primary key among the columns.
  let primaryKey: Int?
  /// Where the root of the object tree lies.
  let objects: Int
  let objectCount: Int

  /// Reads the table that `node` is, whose table key has `slot` in its low bits.
  init(
    _ node: Node, name: String, slot: Int, _ reader: ValueReader, _ walk: Walk
  ) throws(ReadFault) {
    self.name = name
    key = try node.tagged(Slot.key, "the key of the table '\(name)'")
    guard key & 0xFFFF == Int64(slot) else {
      throw node.damage("the table in slot \(slot) has the key \(key)")
    }
    kind = try Self.kind(node)
    objects = try node.ref(Slot.objects, "the objects of a table")
    columns = try Self.columns(node, reader, walk)
    primaryKey = try Self.primaryKey(node, columns)
    if kind == .asymmetric {
      objectCount = 0
    } else {
      objectCount = try ObjectTreeLeaf.objectCount(root: walk.node(at: objects), walk)
    }
  }

  /// What users are told.
  var description: RealmFileClass {
    let properties = columns.indices.map { index in
      let column = columns[index]
      return RealmFileProperty(
        name: column.name, type: column.storage.type, collection: column.collection,
        isOptional: column.isNullable, isIndexed: column.isIndexed && index != primaryKey,
        isFullTextIndexed: column.isFullTextIndexed, target: column.target,
        hasIntegerKeys: column.hasIntegerKeys)
    }
    return RealmFileClass(
      name: name, kind: kind, properties: properties, primaryKey: primaryKey,
      objectCount: objectCount)
  }

  // MARK: Parts

  private static func kind(_ node: Node) throws(ReadFault) -> RealmFileClass.Kind {
    switch try node.optionalTagged(Slot.kind, "the kind of a table").map({ $0 & 3 }) {
    case nil, 0: .object
    case 1: .embedded
    case 2: .asymmetric
    default: throw node.damage("a table is of a kind that does not exist")
    }
  }

  private static func primaryKey(_ node: Node, _ columns: [Column]) throws(ReadFault) -> Int? {
    guard let bits = try node.optionalTagged(Slot.primaryKey, "the primary key of a table") else {
      return nil
    }
    guard let index = columns.firstIndex(where: { $0.key.bits == bits }) else {
      throw node.damage("the primary key of a table is none of its columns")
    }
    let types: [ColumnKey.Storage] = [.int, .string, .objectId, .uuid]
    guard types.contains(columns[index].storage), columns[index].collection == .none else {
      throw node.damage("the column '\(columns[index].name)' cannot be a primary key")
    }
    return index
  }

  /// The public columns, without those that are bookkeeping.
  private static func columns(
    _ node: Node, _ reader: ValueReader, _ walk: Walk
  ) throws(ReadFault) -> [Column] {
    let spec = try ColumnLists(at: node.ref(Slot.spec, "the schema of a table"), reader, walk)
    var targets: [Int64] = []
    if let list = try node.optionalRef(Slot.oppositeTables, "the opposite tables") {
      targets = try walk.node(at: list).integers(
        "the opposite tables", largestEmptyWidthCount: Node.largestColumnCount)
    }
    var columns: [Column] = []
    var names: Set<String> = []
    var leafIndexes: Set<Int> = []
    for index in spec.names.indices {
      let column = try spec.column(index, targets: targets)
      guard names.insert(column.name).inserted else {
        throw node.damage("a table has two columns with the name '\(column.name)'")
      }
      guard leafIndexes.insert(column.leafIndex).inserted else {
        throw node.damage("two columns of a table have the leaf index \(column.leafIndex)")
      }
      if column.name != bookkeepingName { columns.append(column) }
    }
    return columns
  }
}
