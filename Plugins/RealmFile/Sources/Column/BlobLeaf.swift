/// A leaf of texts or bytes in one of three shapes.
///
/// - Short: blocks of `width` bytes: the text, zeros, and how many zeros there are before the last byte.
///   The width itself instead of that number says null. For texts only.
/// - Medium: three nodes, the end of each value in a blob, the blob, and a flag for each null.
/// - Big: a blob for each value, or 0 for null. A value of more than 16 MiB is a node with the refs of
///   several blobs.
///
/// ```
///  short, width 4     61 62 63 00  "abc"     61 00 00 02  "a"     00 00 00 04  null
/// ```
///
/// A medium or big text has a zero byte at its end, which does not belong to it.
struct BlobLeaf {
  /// What the values are.
  enum Content {
    case text, bytes
  }

  private enum Shape {
    case short
    case medium(ends: [Int64], blob: Node, nulls: [Int64])
    case big
  }

  /// How many values there are.
  let count: Int
  private let node: Node
  private let content: Content
  private let shape: Shape

  init(_ node: Node, _ content: Content, _ walk: Walk) throws(ReadFault) {
    self.node = node
    self.content = content
    switch (node.scheme, node.hasRefs) {
    case (.bytes, false):
      guard content == .text else { throw node.damage("bytes stand in the shape of short texts") }
      count = node.count
      shape = .short
    case (.bits, true) where node.hasContext:
      count = node.count
      shape = .big
    case (.bits, true):
      let what = "values in a blob"
      guard node.count == 3 else {
        throw node.damage("a leaf of \(what) has \(node.count) elements instead of 3")
      }
      let ends = try walk.node(at: node.ref(0, "the ends of \(what)")).integers(what)
      let blob = try walk.node(at: node.ref(1, "a blob"))
      try blob.check(.blob, hasRefs: false, "a blob")
      count = ends.count
      // Those of nulls, too: values that overlap could be any number of times what the file has.
      var last: Int64 = 0
      for end in ends {
        guard end >= last, end <= Int64(blob.count) else {
          throw node.damage("the ends of values in a blob do not ascend within it")
        }
        last = end
      }
      let nulls = try walk.node(at: node.ref(2, "the nulls of \(what)"))
        .integers("nulls of \(what)", expected: count)
      shape = .medium(ends: ends, blob: blob, nulls: nulls)
    default:
      throw node.damage("a node that holds no \(content) stands in the place of some")
    }
    if node.width == 0, count > Node.largestEmptyWidthCount {
      throw node.damage("\(count) values take no space")
    }
  }

  /// How many bytes all values have together at most; nil where each has a node of its own.
  var byteCount: Int? {
    switch shape {
    case .short: node.payload.count
    case .medium(_, let blob, _): blob.count
    case .big: nil
    }
  }

  /// Value `index`, which is below ``count``; nil for null.
  func value(_ index: Int, _ walk: Walk) throws(ReadFault) -> ArraySlice<UInt8>? {
    switch shape {
    case .short: return try short(index)
    case .medium(let ends, let blob, let nulls):
      guard nulls[index] == 0 else { return nil }
      let start = index == 0 ? 0 : Int(ends[index - 1])
      let bytes = blob.payload[start..<Int(ends[index])]
      return content == .text ? try withoutZero(bytes, blob) : bytes
    case .big: return try big(index, walk)
    }
  }

  private func short(_ index: Int) throws(ReadFault) -> ArraySlice<UInt8>? {
    let width = node.width
    guard width > 0 else { return nil }
    let start = index * width
    let zeroCount = Int(node.payload[start + width - 1])
    if zeroCount == width { return nil }
    guard zeroCount < width else {
      throw node.damage("short text \(index) has more padding than its width of \(width)")
    }
    return node.payload[start..<start + width - 1 - zeroCount]
  }

  private func big(_ index: Int, _ walk: Walk) throws(ReadFault) -> ArraySlice<UInt8>? {
    guard let position = try node.optionalRef(index, "a value") else { return nil }
    let value = try walk.node(at: position)
    if value.hasRefs, value.hasContext { return try joined(value, walk) }
    try value.check(.blob, hasRefs: false, "a blob")
    return content == .text ? try withoutZero(value.payload[...], value) : value.payload[...]
  }

  /// The parts of a split value, which has no zero byte at its end.
  private func joined(_ value: Node, _ walk: Walk) throws(ReadFault) -> ArraySlice<UInt8> {
    var bytes: [UInt8] = []
    for index in 0..<value.count {
      let part = try walk.node(at: value.ref(index, "a part of a value"))
      try part.check(.blob, hasRefs: false, "a part of a value")
      bytes += part.payload
    }
    return bytes[...]
  }

  private func withoutZero(
    _ bytes: ArraySlice<UInt8>, _ node: Node
  ) throws(ReadFault) -> ArraySlice<UInt8> {
    guard bytes.last == 0 else { throw node.damage("a text has no zero byte at its end") }
    return bytes.dropLast()
  }
}
