/// A leaf of an object tree: up to 256 objects, and the leaves of their columns.
///
/// ```
///   0       1 + leaf index …
///  | keys  | column leaves |     keys: a ref of a list, or a tagged number n for 0 … n − 1
/// ```
struct ObjectTreeLeaf {
  static let largestObjectCount = 256

  let node: Node
  /// The keys without what the inner nodes above add to them.
  let relativeKeys: [Int64]
  var objectCount: Int { relativeKeys.count }

  init(_ node: Node, _ walk: Walk) throws(ReadFault) {
    self.node = node
    guard node.count >= 1 else { throw node.damage("a leaf of an object tree is empty") }
    switch try node.slot(0) {
    case .ref(let list):
      relativeKeys = try walk.node(at: list).integers("the keys of a leaf", .unsigned)
      guard relativeKeys.count <= Self.largestObjectCount else {
        throw node.damage("a leaf of an object tree has \(relativeKeys.count) objects")
      }
    case .tagged(let count):
      guard count <= Self.largestObjectCount else {
        throw node.damage("a leaf of an object tree has \(count) objects")
      }
      relativeKeys = Array(0..<count)
    case .none: throw node.damage("a leaf of an object tree has no keys")
    }
  }

  /// The objects of a root of which only their number is asked for.
  static func objectCount(root node: Node, _ walk: Walk) throws(ReadFault) -> Int {
    node.isInner
      ? try ObjectTreeInner(node, walk).objectCount
      : try ObjectTreeLeaf(node, walk).objectCount
  }

  /// The leaf of the column with that leaf index.
  func column(_ leafIndex: Int, _ walk: Walk) throws(ReadFault) -> Node {
    guard leafIndex + 1 < node.count else {
      throw node.damage("a leaf of an object tree has no column \(leafIndex)")
    }
    return try walk.node(at: node.ref(leafIndex + 1, "a column's leaf"))
  }

  /// The keys of the objects, which lie from `base` up to `limit` (nil: no limit) and ascend.
  func keys(base: Int64, limit: Int64?) throws(ReadFault) -> [Int64] {
    var keys: [Int64] = []
    keys.reserveCapacity(relativeKeys.count)
    var last: Int64 = -1
    for relative in relativeKeys {
      guard relative > last else { throw node.damage("the keys of a leaf do not ascend") }
      last = relative
      keys.append(base &+ relative)
    }
    guard let highest = keys.last else { return keys }
    guard highest >= base, limit.map({ highest < $0 }) ?? true else {
      throw node.damage("a leaf of an object tree has the key \(highest), which is not its own")
    }
    return keys
  }
}
