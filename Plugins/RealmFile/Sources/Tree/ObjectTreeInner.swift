/// An inner node of an object tree.
///
/// ```
///   0          1         2         3 …
///  | offsets  | height  | objects | children |
/// ```
///
/// Offsets: a ref of the key offset of each child, or 0 where child j begins at key `j << 8 · height`.
/// Height and number of objects are tagged.
struct ObjectTreeInner {
  static let largestChildCount = 256
  private static let largestHeight: Int64 = 7
  private static let firstChild = 3

  let node: Node
  /// How many objects the leaves below have.
  let objectCount: Int
  /// The offset of each child, ascending, the first one 0.
  let offsets: [Int64]
  /// Whether the children are leaves.
  let hasLeaves: Bool
  var childCount: Int { offsets.count }

  init(_ node: Node, _ walk: Walk) throws(ReadFault) {
    self.node = node
    let childCount = node.count - Self.firstChild
    guard 1...Self.largestChildCount ~= childCount else {
      throw node.damage("an inner node of an object tree has \(node.count) elements")
    }
    let height = try node.tagged(1, "the height of an object tree")
    guard 1...Self.largestHeight ~= height else {
      throw node.damage("an object tree has the height \(height)")
    }
    hasLeaves = height == 1
    let count = try node.tagged(2, "the number of objects in a tree")
    // Each leaf takes at least a header, and has at most 256 objects.
    guard count / 32 <= Int64(walk.logicalByteCount) else {
      throw node.damage("an object tree claims to have \(count) objects")
    }
    objectCount = Int(count)
    if let list = try node.optionalRef(0, "the offsets of an object tree") {
      offsets = try walk.node(at: list).integers(
        "the offsets of an object tree", .unsigned, expected: childCount)
    } else {
      let shift = 8 * height
      guard Int64(childCount - 1) <= Int64.max >> shift else {
        throw node.damage("the keys of an object tree exceed 63 bits")
      }
      offsets = (0..<Int64(childCount)).map { $0 << shift }
    }
  }

  /// Throws unless offsets ascend from 0 and stay below 2⁶³, as they do in the tree of a class.
  func checkOffsets() throws(ReadFault) {
    guard offsets[0] == 0 else {
      throw node.damage("the first offset of an object tree is \(offsets[0]) instead of 0")
    }
    for index in offsets.indices.dropFirst() where offsets[index - 1] >= offsets[index] {
      throw node.damage("the offsets of an object tree do not ascend")
    }
  }

  /// Where child `index` lies.
  func child(_ index: Int) throws(ReadFault) -> Int {
    try node.ref(Self.firstChild + index, "an object tree's child")
  }

  /// The keys that child `index` may have, when those of the node lie from `base` up to `limit`.
  func range(
    of index: Int, base: Int64, limit: Int64?
  ) throws(ReadFault) -> (base: Int64, limit: Int64?) {
    let start = try sum(base, offsets[index])
    guard limit.map({ start < $0 }) ?? true else { throw exceeded }
    guard index + 1 < offsets.count else { return (start, limit) }
    let end = try sum(base, offsets[index + 1])
    return (start, limit.map { min($0, end) } ?? end)
  }

  private var exceeded: ReadFault {
    node.damage("an offset of an object tree exceeds the keys of the tree")
  }

  private func sum(_ base: Int64, _ offset: Int64) throws(ReadFault) -> Int64 {
    let (sum, overflow) = base.addingReportingOverflow(offset)
    guard !overflow else { throw exceeded }
    return sum
  }
}
