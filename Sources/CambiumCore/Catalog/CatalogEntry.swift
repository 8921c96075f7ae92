/// What the catalog says about one name.
///
/// The first byte of a stored entry is its kind.
///
/// Pointers: stored forms are borrowed for one call, and their lengths checked before they are read. A
/// table's form is written to an array that has room for all its roots.
enum CatalogEntry {
  case keyTree(TreeRoot)
  case table(TableRoots)
  case value([UInt8])
  case deadRoot(TreeRoot)
  case tableDescription(TableDescription)

  /// The part of a table that changes with every commit.
  struct TableRoots: Hashable {
    var id: UInt32
    var nextKey: Int64
    var nextColumn: UInt16
    var roots: [TreeRoot]
  }

  /// The part of a table that changes with the schema.
  struct TableDescription: Hashable {
    var groups: [[ColumnDescriptor]]
    var attributes: [UInt8]
  }

  private enum Kind: UInt8 {
    case keyTree = 1
    case table = 2
    case value = 3
    case deadRoot = 4
    case tableDescription = 5
  }

  private static let rootsOffset = 24
  private static let keyTreeRootOffset = 8

  /// The stored form.
  var bytes: [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .keyTree(let root):
      writer.put(Kind.keyTree.rawValue)
      writer.putZeros(7)
      writer.put(root.storedBytes)
    case .deadRoot(let root):
      writer.put(Kind.deadRoot.rawValue)
      writer.putZeros(7)
      writer.put(root.storedBytes)
    case .value(let bytes):
      writer.put(Kind.value.rawValue)
      writer.put(bytes)
    case .table(let table): return Self.bytes(of: table)
    case .tableDescription(let description):
      writer.put(Kind.tableDescription.rawValue)
      writer.putZeros(1)
      writer.put(UInt16(description.groups.reduce(0) { $0 + $1.count }))
      writer.put(UInt32(description.attributes.count))
      for (group, columns) in description.groups.enumerated() {
        for column in columns { Self.put(column, group: group, into: &writer) }
      }
      writer.put(description.attributes)
    }
    return writer.bytes
  }

  /// Whether pages of the table or key tree lie in memory.
  var hasUnstoredPages: Bool {
    switch self {
    case .keyTree(let root): root.reference.isDirty
    case .table(let table): table.roots.contains { $0.reference.isDirty }
    default: false
    }
  }

  /// The entry with what has become of a tree in memory since it was written.
  ///
  /// A small commit that adds rows to such a tree leaves the catalog alone: how many rows there are its top page
  /// says, and its last row moves on the key that the next one gets.
  func upToDate(_ source: PageSource) throws(StoreError) -> CatalogEntry {
    switch self {
    case .keyTree(let root): return .keyTree(try source.counted(root))
    case .table(var table):
      for index in table.roots.indices {
        table.roots[index] = try source.counted(table.roots[index])
      }
      if table.roots[0].reference.isDirty,
        let last = try ColumnTree(root: table.roots[0], source: source).lastKey()
      {
        table.nextKey = max(table.nextKey, last + 1)
      }
      return .table(table)
    default: return self
    }
  }

  /// Where in the stored form of a table or key tree its roots stand; empty for anything else, and for
  /// what breaks the format.
  static func rootOffsets(_ stored: UnsafeRawBufferPointer) -> [Int] {
    switch unsafe CatalogEntry(Array(stored)) {
    case .keyTree: [keyTreeRootOffset]
    case .table(let table):
      table.roots.indices.map { rootsOffset + $0 * TreeRoot.byteCount }
    default: []
    }
  }

  /// A table's roots, which every commit writes: put together in one go.
  private static func bytes(of table: TableRoots) -> [UInt8] {
    let count = rootsOffset + table.roots.count * TreeRoot.byteCount
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      initialized = count
      guard let base = unsafe buffer.baseAddress.map(UnsafeMutableRawPointer.init) else { return }
      unsafe base.storeBytes(
        of: (UInt64(Kind.table.rawValue) | UInt64(table.id) << 32).littleEndian, as: UInt64.self)
      unsafe base.storeBytes(of: table.nextKey.littleEndian, toByteOffset: 8, as: Int64.self)
      let counts = UInt64(table.nextColumn) | UInt64(table.roots.count) << 16
      unsafe base.storeBytes(of: counts.littleEndian, toByteOffset: 16, as: UInt64.self)
      for (index, root) in table.roots.enumerated() {
        unsafe root.store(to: base + rootsOffset + index * TreeRoot.byteCount)
      }
    }
  }

  private static func put(
    _ column: ColumnDescriptor, group: Int, into writer: inout ByteWriter
  ) {
    let name = Array(column.name.utf8)
    writer.put(column.id)
    writer.put(UInt8(group))
    writer.put(column.type.rawValue)
    writer.put(UInt8(column.isNullable ? 1 : 0))
    writer.putZeros(1)
    writer.put(UInt16(name.count))
    writer.put(UInt16(column.attributes.count))
    writer.put(name)
    writer.put(column.attributes)
  }

  /// A value of 8 bytes that holds `number`.
  static func value(_ number: UInt64) -> CatalogEntry {
    unsafe .value(withUnsafeBytes(of: number.littleEndian) { unsafe Array($0) })
  }

  /// The number in the stored form of such a value; nil when it is anything else.
  static func number(_ stored: UnsafeRawBufferPointer) -> UInt64? {
    guard stored.count == 9, unsafe stored[0] == Kind.value.rawValue else { return nil }
    return unsafe UInt64(littleEndian: stored.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
  }

  /// Reads the stored form; nil when it breaks the format.
  init?(_ bytes: [UInt8], mayHaveUnstoredRoots: Bool = false) {
    var reader = ByteReader(bytes)
    guard let raw = reader.get(UInt8.self), let kind = Kind(rawValue: raw) else { return nil }
    switch kind {
    case .value:
      self = .value(reader.rest())
    case .keyTree, .deadRoot:
      guard reader.skipZeros(7),
        let root = reader.getRoot(mayBeUnstored: mayHaveUnstoredRoots && kind == .keyTree),
        kind == .deadRoot || root.kind == .key, reader.isAtEnd
      else { return nil }
      self = kind == .keyTree ? .keyTree(root) : .deadRoot(root)
    case .table:
      guard let table = Self.readTable(&reader, mayHaveUnstoredRoots: mayHaveUnstoredRoots) else {
        return nil
      }
      self = .table(table)
    case .tableDescription:
      guard let description = Self.readDescription(&reader) else { return nil }
      self = .tableDescription(description)
    }
  }

  private static func readTable(
    _ reader: inout ByteReader, mayHaveUnstoredRoots: Bool
  ) -> TableRoots? {
    guard reader.skipZeros(3), let id = reader.get(UInt32.self),
      let nextKey = reader.get(Int64.self), let nextColumn = reader.get(UInt16.self),
      let count = reader.get(UInt16.self), reader.skipZeros(4)
    else { return nil }
    var roots: [TreeRoot] = []
    for _ in 0..<count {
      guard let root = reader.getRoot(mayBeUnstored: mayHaveUnstoredRoots), root.kind == .column
      else { return nil }
      roots.append(root)
    }
    guard reader.isAtEnd, !roots.isEmpty else { return nil }
    return TableRoots(id: id, nextKey: nextKey, nextColumn: nextColumn, roots: roots)
  }

  private static func readDescription(_ reader: inout ByteReader) -> TableDescription? {
    guard reader.skipZeros(1), let count = reader.get(UInt16.self),
      let attributeCount = reader.get(UInt32.self)
    else { return nil }
    var groups: [[ColumnDescriptor]] = [[]]
    var previous: UInt16?
    for _ in 0..<count {
      guard let id = reader.get(UInt16.self), let group = reader.get(UInt8.self),
        let rawType = reader.get(UInt8.self), let type = ColumnType(rawValue: rawType),
        let flags = reader.get(UInt8.self), flags <= 1, reader.skipZeros(1),
        let nameCount = reader.get(UInt16.self), let attributes = reader.get(UInt16.self),
        let name = reader.get(count: Int(nameCount)),
        let attributeBytes = reader.get(count: Int(attributes))
      else { return nil }
      if let previous, previous >= id { return nil }
      previous = id
      guard Int(group) + 1 >= groups.count else { return nil }
      while groups.count <= Int(group) { groups.append([]) }
      guard groups[Int(group)].count < TableRecord.maximumGroupWidth else { return nil }
      groups[Int(group)].append(
        ColumnDescriptor(
          id: id, type: type, isNullable: flags == 1, name: String(decoding: name, as: UTF8.self),
          attributes: attributeBytes))
    }
    guard let attributes = reader.get(count: Int(attributeCount)), reader.isAtEnd else {
      return nil
    }
    return TableDescription(groups: groups, attributes: attributes)
  }
}

extension ByteReader {
  /// The next tree root; nil when it breaks the format.
  fileprivate mutating func getRoot(mayBeUnstored: Bool) -> TreeRoot? {
    guard let bytes = get(count: TreeRoot.byteCount) else { return nil }
    return unsafe bytes.withUnsafeBytes {
      unsafe TreeRoot(loadingFrom: $0, mayBeUnstored: mayBeUnstored)
    }
  }
}

extension PageSource {
  /// A root whose page may lie in memory, with as many rows as that page says.
  fileprivate func counted(_ root: TreeRoot) throws(StoreError) -> TreeRoot {
    guard root.reference.isDirty else { return root }
    var counted = root
    let page = try page(root.reference, PageRole(root).kind)
    defer { withExtendedLifetime(page) {} }
    if root.kind == .key {
      let node = KeyNode(page)
      counted.rowCount = UInt64(root.height == 1 ? node.count : node.rowCount(before: node.count))
    } else if root.height == 1 {
      counted.rowCount = UInt64(ColumnLeaf(page).rowCount)
    } else {
      let branch = ColumnBranch(page)
      counted.rowCount = (0..<branch.count).reduce(0) { $0 &+ branch.rowCount($1) }
    }
    return counted
  }
}

extension ColumnTree {
  /// The highest key of a row but the highest of all keys, behind which there is none; nil when no row has one.
  fileprivate func lastKey() throws(StoreError) -> Int64? {
    var cursor = leafCursor()
    for index in [count - 1, count - 2] where try cursor.seek(toIndex: index) {
      let key = cursor.leaf.key(at: index - cursor.firstIndex)
      if key < .max { return key }
    }
    return nil
  }
}
