/// A leaf of values of any type: a descriptor for each, and pools that they are taken from.
///
/// ```
///   0             1      2       3         4             5
///  | descriptors | ints | pairs | strings | collections | – |     refs, 0 or missing for an empty pool
///
///  descriptor   63 … 8   7 … 5   4 … 0
///              | x      | place | type + 1 |     0 for null
/// ```
///
/// `x` is a small value itself, or tells which entry of a pool has it.
struct MixedLeaf {
  /// A collection that a value is, which is read later.
  struct Nested {
    /// Which of the values it is.
    var index: Int
    /// Where it lies; nil when it is empty.
    var position: Int?
    var isDictionary: Bool
  }

  private static let inPlace: Int64 = 0
  private static let collectionPlace: Int64 = 4

  let node: Node
  let descriptors: [Int64]
  private let ints: [Int64]
  private let pairs: [Int64]
  private let strings: BlobLeaf?
  /// What the values have not taken yet of the bytes of `strings`: each has an entry of its own in a sound file, and
  /// a few bytes of descriptors cannot stand for many of texts.
  private var untakenByteCount = Int.max
  private let collections: [Int64]

  init(_ node: Node, expected: Int?, _ walk: Walk) throws(ReadFault) {
    self.node = node
    guard node.count >= 4 else { throw node.damage("a leaf of mixed values lacks its pools") }
    descriptors = try walk.node(at: node.ref(0, "the descriptors of mixed values"))
      .integers("mixed values", expected: expected)
    ints = try Self.pool(node, 1, "the integers of mixed values", walk)
    pairs = try Self.pool(node, 2, "the pairs of mixed values", walk)
    if let position = try node.optionalRef(3, "the strings of mixed values") {
      let leaf = try BlobLeaf(walk.node(at: position), .text, walk)
      strings = leaf
      if let byteCount = leaf.byteCount { untakenByteCount = byteCount }
    } else {
      strings = nil
    }
    if let position = try node.optionalRef(4, "the collections of mixed values") {
      collections = try walk.node(at: position).references("collections of mixed values")
    } else {
      collections = []
    }
  }

  private static func pool(
    _ node: Node, _ slot: Int, _ what: String, _ walk: Walk
  ) throws(ReadFault) -> [Int64] {
    guard let position = try node.optionalRef(slot, what) else { return [] }
    return try walk.node(at: position).integers(what)
  }

  /// What a descriptor says.
  struct Descriptor {
    let type: Int64
    let place: Int64
    let x: Int64

    init(_ bits: Int64) {
      type = bits & 31 - 1
      place = bits >> 5 & 7
      x = bits >> 8
    }

    /// Whether the value lies in the descriptor itself.
    var isInPlace: Bool { place == MixedLeaf.inPlace }
  }

  // MARK: Pools

  func int(_ x: Int64) throws(ReadFault) -> Int64 {
    guard x >= 0, x < Int64(ints.count) else { throw outside(x, "integers", ints.count) }
    return ints[Int(x)]
  }

  func pair(_ x: Int64) throws(ReadFault) -> (Int64, Int64) {
    guard x >= 0, x < Int64(pairs.count / 2) else { throw outside(x, "pairs", pairs.count / 2) }
    return (pairs[2 * Int(x)], pairs[2 * Int(x) + 1])
  }

  /// The bytes of an entry; nil for null.
  mutating func string(_ x: Int64, _ walk: Walk) throws(ReadFault) -> ArraySlice<UInt8>? {
    guard let strings, x >= 0, x < Int64(strings.count) else {
      throw outside(x, "strings", strings?.count ?? 0)
    }
    let bytes = try strings.value(Int(x), walk)
    untakenByteCount -= bytes?.count ?? 0
    guard untakenByteCount >= 0 else { throw node.damage("mixed values share their texts") }
    return bytes
  }

  /// The first `count` bytes of an entry.
  mutating func bytes(_ x: Int64, count: Int, _ walk: Walk) throws(ReadFault) -> [UInt8] {
    guard let bytes = try string(x, walk), bytes.count >= count else {
      throw node.damage("a mixed value has fewer than \(count) bytes")
    }
    return Array(bytes.prefix(count))
  }

  /// Where a nested collection lies; nil for an empty one.
  func collection(_ descriptor: Descriptor) throws(ReadFault) -> Int? {
    let x = descriptor.x
    guard descriptor.place == Self.collectionPlace, x >= 0, x < Int64(collections.count) else {
      throw outside(x, "collections", collections.count)
    }
    switch Node.Slot(collections[Int(x)]) {
    case .none: return nil
    case .ref(let position): return position
    case .tagged: throw node.damage("an integer stands in the place of a collection")
    }
  }

  private func outside(_ x: Int64, _ pool: String, _ count: Int) -> ReadFault {
    node.damage("a mixed value is number \(x) of \(count) \(pool)")
  }
}
