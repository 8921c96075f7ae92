/// One way through the nodes of a snapshot: a class, a lookup, the schema.
///
/// Each node of a sound snapshot has one parent, so that what a walk reads is never more than the whole
/// snapshot. Damage that leads to a node again and again, or in a circle, ends when the budget is used
/// up; no list of visited nodes is kept.
final class Walk {
  /// More elements that take no space are not read for the columns of one leaf together.
  ///
  /// A thousand zeros are a leaf of 8 bytes: without a limit, a small file could fill the memory.
  static let largestEmptyElementCount = 1 << 25

  private let bytes: PlainBytes
  /// No node of the snapshot lies beyond.
  let logicalByteCount: Int
  /// How many bytes of nodes may be read yet.
  private var remainingByteCount: Int
  /// How many elements without space the nodes had.
  private var emptyElementCount = 0
  /// How many bytes of texts were given out that several values may share.
  private var sharedByteCount = 0

  /// What a walk has read.
  struct Spending {
    var byteCount = 0
    var emptyElementCount = 0
    var sharedByteCount = 0

    /// About how much memory the values take that were read for it, once each has its own.
    var size: Int { byteCount + emptyElementCount + sharedByteCount }

    static func - (left: Spending, right: Spending) -> Spending {
      Spending(
        byteCount: left.byteCount - right.byteCount,
        emptyElementCount: left.emptyElementCount - right.emptyElementCount,
        sharedByteCount: left.sharedByteCount - right.sharedByteCount)
    }

    static func + (left: Spending, right: Spending) -> Spending {
      Spending(
        byteCount: left.byteCount + right.byteCount,
        emptyElementCount: left.emptyElementCount + right.emptyElementCount,
        sharedByteCount: left.sharedByteCount + right.sharedByteCount)
    }
  }

  init(_ bytes: PlainBytes, logicalByteCount: Int) {
    self.bytes = bytes
    self.logicalByteCount = logicalByteCount
    remainingByteCount = logicalByteCount
  }

  /// What was read so far.
  var spent: Spending {
    Spending(
      byteCount: logicalByteCount - remainingByteCount, emptyElementCount: emptyElementCount,
      sharedByteCount: sharedByteCount)
  }

  /// Gives back what was spent on nodes that are read once more by the wish of the caller.
  func refund(_ spending: Spending) {
    remainingByteCount += spending.byteCount
    emptyElementCount -= spending.emptyElementCount
    sharedByteCount -= spending.sharedByteCount
  }

  /// Notes that a value has so many bytes of a text that others may have as well.
  func noteShared(byteCount: Int) { sharedByteCount += byteCount }

  /// Begins with another leaf, whose elements without space are counted anew.
  func beginLeaf() { emptyElementCount = 0 }

  /// Reads the node at `position`, of which nothing is known yet.
  func node(at position: Int) throws(ReadFault) -> Node {
    guard position & 7 == 0 else {
      throw .damage("a ref is no multiple of 8", position: position)
    }
    guard position >= Node.lowestPosition else {
      throw .damage("a ref leads into the header of the file", position: position)
    }
    guard position <= logicalByteCount - Node.Header.byteCount else {
      throw .damage(
        "a ref leads beyond the end of the snapshot, which has \(logicalByteCount) bytes",
        position: position)
    }
    guard let header = Node.Header(try bytes.word(at: position)) else {
      throw .damage("a node has scheme 3, which does not exist", position: position)
    }
    guard header.extent <= logicalByteCount - position else {
      throw .damage(
        "a node of \(header.extent) bytes reaches beyond the end of the snapshot, which has"
          + " \(logicalByteCount) bytes", position: position)
    }
    guard header.extent <= remainingByteCount else {
      throw .damage("nodes are shared or form a cycle", position: position)
    }
    remainingByteCount -= header.extent
    if header.width == 0, header.scheme != .blob {
      emptyElementCount += header.count
      guard emptyElementCount <= Self.largestEmptyElementCount else {
        throw .damage("\(emptyElementCount) elements take no space", position: position)
      }
    }
    let payloadByteCount = header.payloadByteCount
    let payload =
      payloadByteCount == 0
      ? []
      : try bytes.read(at: position + Node.Header.byteCount, count: payloadByteCount)
    return Node(position: position, header: header, payload: payload)
  }
}
