/// The parallel lists that describe the columns of a table.
struct ColumnLists {
  private static let indexed: Int64 = 1
  private static let fullTextIndexed: Int64 = 256
  private static let integerKeyType: Int64 = 0

  let names: [String]
  private let node: Node
  private let types: [Int64]
  private let attributes: [Int64]
  private let keys: [Int64]
  /// Where the distinct texts of enumerated columns lie, or 0; may be shorter than the names.
  private let enumerations: [Int64]

  init(at position: Int, _ reader: ValueReader, _ walk: Walk) throws(ReadFault) {
    let node = try walk.node(at: position)
    self.node = node
    names = try reader.names(at: node.ref(1, "the names of columns"), walk)
    types = try Self.integers(node, 0, "types of columns", walk)
    attributes = try Self.integers(node, 2, "attributes of columns", walk)
    keys = try Self.integers(node, 5, "keys of columns", walk)
    if let list = try node.optionalRef(4, "the enumerated columns") {
      enumerations = try walk.node(at: list).references("enumerated columns")
    } else {
      enumerations = []
    }
    guard keys.count >= names.count, keys.count == types.count, keys.count == attributes.count
    else {
      throw node.damage(
        "a table has \(names.count) names, \(types.count) types, \(attributes.count) attributes and"
          + " \(keys.count) keys of columns")
    }
  }

  private static func integers(
    _ node: Node, _ slot: Int, _ what: String, _ walk: Walk
  ) throws(ReadFault) -> [Int64] {
    let list = try walk.node(at: node.ref(slot, "the \(what)"))
    return try list.integers(what, largestEmptyWidthCount: Node.largestColumnCount)
  }

  /// The public column `index`; `targets` has a table key for each leaf index.
  func column(_ index: Int, targets: [Int64]) throws(ReadFault) -> Column {
    let key = ColumnKey(bits: keys[index])
    let name = names[index]
    guard let storage = key.storage else {
      throw node.damage("the column '\(name)' has a type that does not exist")
    }
    guard let collection = key.collection else {
      throw node.damage("the column '\(name)' is not one collection")
    }
    guard storage != .typedLink || collection == .none else {
      throw node.damage("the column '\(name)' is a collection of links without a class")
    }
    return Column(
      name: name, key: key, storage: storage, collection: collection,
      hasIntegerKeys: collection == .dictionary && types[index] >> 16 == Self.integerKeyType,
      isIndexed: attributes[index] & Self.indexed != 0,
      isFullTextIndexed: attributes[index] & Self.fullTextIndexed != 0,
      targetKey: key.leafIndex < targets.count ? targets[key.leafIndex] : SnapshotRoot.noTable,
      enumeration: try enumeration(index))
  }

  private func enumeration(_ index: Int) throws(ReadFault) -> Int? {
    guard index < enumerations.count else { return nil }
    switch Node.Slot(enumerations[index]) {
    case .none: return nil
    case .ref(let position): return position
    case .tagged: throw node.damage("an enumerated column has an integer instead of its texts")
    }
  }
}
