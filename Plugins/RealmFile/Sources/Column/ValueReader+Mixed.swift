/// Values of any type.
extension ValueReader {
  /// Adds the values of a leaf, with the collections in them.
  func appendMixed(
    _ node: Node, _ place: Place, to values: inout [RealmFileValue], _ walk: Walk
  ) throws(ReadFault) {
    var nested: [MixedLeaf.Nested] = []
    try appendMixed(node, place, to: &values, nested: &nested, walk)
    try NestedCollections(self, walk).fill(&values, nested)
  }

  /// The values of an element tree, with the collections in them.
  func mixedElements(root: Int, _ walk: Walk) throws(ReadFault) -> [RealmFileValue] {
    var nested: [MixedLeaf.Nested] = []
    var values = try mixedElements(root: root, nested: &nested, walk)
    try NestedCollections(self, walk).fill(&values, nested)
    return values
  }

  /// The values of an element tree; those that are collections stay null and are noted in `nested`.
  func mixedElements(
    root: Int, nested: inout [MixedLeaf.Nested], _ walk: Walk
  ) throws(ReadFault) -> [RealmFileValue] {
    var values: [RealmFileValue] = []
    var leaves = ElementLeaves(root: root, walk)
    while let leaf = try leaves.next() {
      let start = values.count
      try appendMixed(leaf, .element, to: &values, nested: &nested, walk)
      leaves.elementCount += values.count - start
    }
    return values
  }

  /// Adds the values of a leaf; those that are collections stay null and are noted in `nested`.
  func appendMixed(
    _ node: Node, _ place: Place, to values: inout [RealmFileValue],
    nested: inout [MixedLeaf.Nested], _ walk: Walk
  ) throws(ReadFault) {
    var leaf = try MixedLeaf(node, expected: place.expected, walk)
    try place.forEach(of: leaf.descriptors.count) { index throws(ReadFault) in
      let bits = leaf.descriptors[index]
      guard bits != 0 else {
        values.append(.null)
        return
      }
      let descriptor = MixedLeaf.Descriptor(bits)
      if 19...21 ~= descriptor.type {
        nested.append(
          MixedLeaf.Nested(
            index: values.count, position: try leaf.collection(descriptor),
            isDictionary: descriptor.type == 21))
        values.append(.null)
      } else {
        values.append(try scalar(descriptor, &leaf, walk))
      }
    }
  }

  private func scalar(
    _ descriptor: MixedLeaf.Descriptor, _ leaf: inout MixedLeaf, _ walk: Walk
  ) throws(ReadFault) -> RealmFileValue {
    let x = descriptor.x
    switch descriptor.type {
    case 0: return .int(descriptor.isInPlace ? x : try leaf.int(x))
    case 1: return .bool(x != 0)
    case 2: return try leaf.string(x, walk).map { .string(text($0)) } ?? .string("")
    case 4: return .data(try leaf.string(x, walk).map { Array($0) } ?? [])
    case 8:
      let (seconds, nanoseconds) = try leaf.pair(x)
      return try date(seconds, nanoseconds, leaf.node)
    case 9: return .float(Float(bitPattern: UInt32(truncatingIfNeeded: try leaf.int(x))))
    case 10: return .double(Double(bitPattern: UInt64(bitPattern: try leaf.int(x))))
    case 11:
      let (low, high) = try leaf.pair(x)
      return Decimal.value(low: UInt64(bitPattern: low), high: UInt64(bitPattern: high))
    case 15: return .objectId(try leaf.bytes(x, count: 12, walk))
    case 16:
      let (table, key) = try leaf.pair(x)
      return link(table: table, key: key)
    case 17: return .uuid(try leaf.bytes(x, count: 16, walk))
    case 12: throw leaf.node.damage("a mixed value is a link without a class")
    default:
      throw leaf.node.damage("a mixed value has the type \(descriptor.type), which none has")
    }
  }
}
