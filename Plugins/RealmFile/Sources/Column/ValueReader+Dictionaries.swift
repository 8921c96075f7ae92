/// Dictionaries: two element trees, of keys and of values; below format 23 object trees.
///
/// ```
///  formats 23 and 24        formats 21 and 22, a leaf of the object tree
///   0      1                 0          1      2        3
///  | keys | values |        | (hashes) | keys | values | collisions |
/// ```
extension ValueReader {
  /// The format in which dictionaries became pairs of element trees.
  private static let firstPairedFormat = 23

  /// The entries of a dictionary, with the collections in their values.
  func entries(
    root: Int, integerKeys: Bool, _ walk: Walk
  ) throws(ReadFault) -> [RealmFileValue.Entry] {
    var nested: [MixedLeaf.Nested] = []
    var (keys, values) = try dictionaryParts(
      root: root, integerKeys: integerKeys, nested: &nested, walk)
    try NestedCollections(self, walk).fill(&values, nested)
    return zip(keys, values).map { RealmFileValue.Entry(key: $0, value: $1) }
  }

  /// Keys and values, as many of both; values that are collections are noted in `nested`.
  func dictionaryParts(
    root: Int, integerKeys: Bool, nested: inout [MixedLeaf.Nested], _ walk: Walk
  ) throws(ReadFault) -> (keys: [RealmFileValue], values: [RealmFileValue]) {
    format < Self.firstPairedFormat
      ? try objectTreeParts(root, integerKeys, &nested, walk)
      : try pairedParts(root, integerKeys, &nested, walk)
  }

  private func pairedParts(
    _ root: Int, _ integerKeys: Bool, _ nested: inout [MixedLeaf.Nested], _ walk: Walk
  ) throws(ReadFault) -> ([RealmFileValue], [RealmFileValue]) {
    let node = try walk.node(at: root)
    var keys: [RealmFileValue] = []
    if let position = try node.optionalRef(0, "the keys of a dictionary") {
      var leaves = ElementLeaves(root: position, walk)
      while let leaf = try leaves.next() {
        let start = keys.count
        try appendKeys(leaf, integerKeys, expected: nil, &keys, walk)
        leaves.elementCount += keys.count - start
      }
    }
    var values: [RealmFileValue] = []
    if let position = try node.optionalRef(1, "the values of a dictionary") {
      values = try mixedElements(root: position, nested: &nested, walk)
    }
    guard keys.count == values.count else {
      throw node.damage("a dictionary has \(keys.count) keys and \(values.count) values")
    }
    return (keys, values)
  }

  private func objectTreeParts(
    _ root: Int, _ integerKeys: Bool, _ nested: inout [MixedLeaf.Nested], _ walk: Walk
  ) throws(ReadFault) -> ([RealmFileValue], [RealmFileValue]) {
    var keys: [RealmFileValue] = []
    var values: [RealmFileValue] = []
    var leaves = ObjectLeaves(root: root, .dictionary, walk)
    while let leaf = try leaves.next()?.leaf {
      let count = leaf.objectCount
      if count == 0 { continue }
      try appendKeys(leaf.column(0, walk), integerKeys, expected: count, &keys, walk)
      let part = LeafPart(from: 0, byteLimit: .max, walk)
      try appendMixed(
        leaf.column(1, walk), .column(count, part), to: &values, nested: &nested, walk)
    }
    return (keys, values)
  }

  private func appendKeys(
    _ node: Node, _ areIntegers: Bool, expected: Int?, _ keys: inout [RealmFileValue],
    _ walk: Walk
  ) throws(ReadFault) {
    if areIntegers {
      for key in try node.integers("keys of a dictionary", expected: expected) {
        keys.append(.int(key))
      }
      return
    }
    let leaf = try BlobLeaf(node, .text, walk)
    if let expected, expected != leaf.count {
      throw node.damage("a dictionary has \(leaf.count) keys for \(expected) values")
    }
    for index in 0..<leaf.count {
      guard let key = try leaf.value(index, walk) else {
        throw node.damage("a key of a dictionary is null")
      }
      keys.append(.string(text(key)))
    }
  }
}
