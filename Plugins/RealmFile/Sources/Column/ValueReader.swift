/// Turns leaves into values; what all classes of a file share.
final class ValueReader {
  let bytes: PlainBytes
  let format: Int
  let logicalByteCount: Int
  /// The index of the class that a table key leads to.
  var classes: [Int64: Int] = [:]
  /// How many texts were not valid UTF-8.
  private(set) var replacedTextCount = 0
  /// The distinct texts of enumerated columns, by where they lie; each is read once.
  private var enumerations: [Int: Result<[RealmFileValue], ReadFault>] = [:]
  /// All of them together take no more than the snapshot has.
  private lazy var enumerationWalk = makeWalk()

  init(_ bytes: PlainBytes, format: Int, logicalByteCount: Int) {
    self.bytes = bytes
    self.format = format
    self.logicalByteCount = logicalByteCount
  }

  /// A new walk with its whole budget.
  func makeWalk() -> Walk { Walk(bytes, logicalByteCount: logicalByteCount) }

  /// The values of a column for the objects of one leaf.
  func values(
    of column: Column, in leaf: ObjectTreeLeaf, _ walk: Walk
  ) throws(ReadFault) -> [RealmFileValue] {
    let part = LeafPart(from: 0, byteLimit: .max, walk)
    return try values(of: column, in: leaf, part, walk)
  }

  /// The values of a column for some objects of one leaf, in their order.
  func values(
    of column: Column, in leaf: ObjectTreeLeaf, _ part: LeafPart, _ walk: Walk
  ) throws(ReadFault) -> [RealmFileValue] {
    let count = leaf.objectCount
    let node = try leaf.column(column.leafIndex, walk)
    switch column.collection {
    case .none:
      var values: [RealmFileValue] = []
      values.reserveCapacity(count - part.start)
      try append(node, of: column, .column(count, part), to: &values, walk)
      if part.isSpent { return values }
      // Values that are small are all there.
      if values.count == count { return part.start == 0 ? values : Array(values[part.start...]) }
      guard values.count == count - part.start else {
        throw node.damage("a column's leaf has \(values.count) values instead of \(count)")
      }
      return values
    case .list, .set: return try lists(of: column, node, count: count, part, walk)
    case .dictionary: return try dictionaries(of: column, node, count: count, part, walk)
    }
  }

  // MARK: Texts

  /// The text; bytes that are no UTF-8 are replaced and counted.
  func text(_ bytes: ArraySlice<UInt8>) -> String {
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    replacedTextCount += 1
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The names in the node at `position`; null is the empty name.
  func names(at position: Int, _ walk: Walk) throws(ReadFault) -> [String] {
    let leaf = try BlobLeaf(walk.node(at: position), .text, walk)
    var names: [String] = []
    for index in 0..<leaf.count { names.append(try leaf.value(index, walk).map(text) ?? "") }
    return names
  }

  /// The distinct texts of an enumerated column.
  func enumeration(at position: Int) throws(ReadFault) -> [RealmFileValue] {
    if let known = enumerations[position] { return try known.get() }
    do throws(ReadFault) {
      let values = try readEnumeration(at: position, enumerationWalk)
      enumerations[position] = .success(values)
      return values
    } catch {
      enumerations[position] = .failure(error)
      throw error
    }
  }

  private func readEnumeration(
    at position: Int, _ walk: Walk
  ) throws(ReadFault) -> [RealmFileValue] {
    var values: [RealmFileValue] = []
    var leaves = ElementLeaves(root: position, walk)
    while let leaf = try leaves.next() {
      let texts = try BlobLeaf(leaf, .text, walk)
      for index in 0..<texts.count {
        values.append(try texts.value(index, walk).map { .string(text($0)) } ?? .null)
      }
      leaves.elementCount += texts.count
    }
    return values
  }
}
