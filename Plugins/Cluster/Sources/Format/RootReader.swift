import CambiumCore

/// Reads the root: the newest version, and what the log says of those before it.
struct RootReader: Sendable {
  let client: ObjectClient
  let codec: (any PageCodec)?
  /// Where the header begins.
  let headerOffset: Int
  /// What the root begins with as long as it is that of the same store.
  private let mark: [UInt8]

  /// Reads the root of the store that `identity` is of.
  init(client: ObjectClient, codec: (any PageCodec)?, identity: RootIdentity) {
    self.client = client
    self.codec = codec
    headerOffset = identity.headerOffset
    mark = Array(identity.bytes.prefix(RootIdentity.markByteCount))
  }

  private static let aheadByteCount = 128 << 10
  private static let wholeByteCount = 4 << 20

  private var headerRange: Range<Int> { headerOffset..<headerOffset + RootHeader.byteCount }
  /// Where the log begins.
  var logStart: Int { headerRange.upperBound }

  /// A state of the root, as far as it was not known.
  struct Image {
    var header: RootHeader
    /// Whether the log has begun anew, so that these are all its commits.
    var isWhole: Bool
    /// The commits, oldest first, each with the place of the pages that it carries.
    var commits: [(record: CommitRecord, buffer: PageBuffer, pagesOffset: Int)] = []
  }

  /// What is new since `known`, or everything when that is nil; nil when nothing is new.
  ///
  /// Throws `StoreError.notFound(path:)` when the store was deleted, and `StoreError.moved(path:)` when another one
  /// was made in its place, or its deletion has begun.
  func read(after known: RootHeader?) throws(StoreError) -> Image? {
    var known = known
    while true {
      let begin = known?.logEnd ?? logStart
      let header: RootHeader
      var pieces: [PageBuffer]
      let ahead = begin..<begin + (known == nil ? Self.wholeByteCount : Self.aheadByteCount)
      (header, pieces) = try readLog(ahead)
      if let seen = known, header.token == seen.token { return nil }
      if let seen = known, header.logGeneration != seen.logGeneration {
        known = nil
        continue
      }
      guard header.logEnd >= begin else {
        throw .damaged(Damage(.head, "the root of '\(client.path)' became shorter"))
      }
      if header.logEnd > begin + pieces[0].byteCount {
        let rest = try readLog(begin..<header.logEnd)
        // Another swap came between; what it has added is read the next time.
        guard rest.header.logGeneration == header.logGeneration else {
          known = nil
          continue
        }
        pieces = rest.pieces
      }
      var image = Image(header: header, isWhole: known == nil)
      try parse(pieces[0], header.logEnd - begin, after: known?.newestVersion, into: &image)
      return image
    }
  }

  private func readLog(
    _ range: Range<Int>
  ) throws(StoreError) -> (header: RootHeader, pieces: [PageBuffer]) {
    guard
      let buffers = try client.read(
        ObjectNames.root, [0..<mark.count, headerRange, range], "read the root")
    else { throw .notFound(path: client.path) }
    guard buffers[0].copy(0..<buffers[0].byteCount) == mark else { throw .moved(path: client.path) }
    let header = try RootHeader(buffers[1].copy(0..<buffers[1].byteCount), path: client.path)
    return (header, [buffers[2]])
  }

  private func parse(
    _ log: PageBuffer, _ end: Int, after known: Version?, into image: inout Image
  ) throws(StoreError) {
    var position = 0
    var last = known
    while position < end {
      let (record, pagesOffset) = try CommitRecord.read(
        log, at: &position, end: end, codec, path: client.path)
      if let last, record.head.version != last + 1 {
        throw .damaged(Damage(.head, "the log of '\(client.path)': versions do not follow"))
      }
      last = record.head.version
      image.commits.append((record, log, pagesOffset))
    }
    if last ?? 0 != image.header.newestVersion {
      throw .damaged(
        Damage(.head, "the log of '\(client.path)' does not end with the newest version"))
    }
  }
}
