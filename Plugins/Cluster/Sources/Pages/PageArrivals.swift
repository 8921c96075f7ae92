import CambiumCore
import Synchronization

/// Pages that were asked for ahead of their reads.
///
/// Pages that lie close together come with one operation, and one that crosses the end of a block with one for
/// each block. A page is given out once; whoever reads it again finds it in the engine's cache. What nobody
/// fetches is forgotten when others are asked for.
///
/// Thread-safe.
final class PageArrivals: Sendable {
  /// One read of a range of a block.
  final class Read: Sendable {
    let call = ObjectCall()
    let block: UInt64
    let range: Range<Int>

    init(block: UInt64, range: Range<Int>) {
      self.block = block
      self.range = range
    }
  }

  /// Where a piece of a page lies in what a read brings.
  struct Piece {
    var read: Read
    var offset: Int
    var byteCount: Int
  }

  /// The pieces of a page: more than the first only when it crosses the end of a block.
  struct Arrival {
    var first: Piece
    var rest: [Piece] = []

    fileprivate func comes(with read: Read) -> Bool {
      first.read === read || rest.contains { $0.read === read }
    }
  }

  private struct State {
    var slots: [UInt64: Arrival] = [:]
    /// In the order in which they were asked for.
    var queue: [(read: Read, locations: [UInt64])] = []
    var byteCount = 0

    /// A page that loses one piece is forgotten whole.
    mutating func forgetOldest() {
      let oldest = queue.removeFirst()
      byteCount -= oldest.read.range.count
      for location in oldest.locations where slots[location]?.comes(with: oldest.read) == true {
        slots[location] = nil
      }
    }

    /// One more read, which brings these pieces of pages of a block.
    mutating func expect(_ run: [(location: UInt64, range: Range<Int>)], ofBlock block: UInt64)
      -> Read?
    {
      guard let first = run.first, let last = run.last else { return nil }
      let read = Read(block: block, range: first.range.lowerBound..<last.range.upperBound)
      for (location, range) in run {
        let piece = Piece(
          read: read, offset: range.lowerBound - read.range.lowerBound, byteCount: range.count)
        // The pieces before it are there: they lie at lower addresses.
        if slots[location]?.rest.append(piece) == nil { slots[location] = Arrival(first: piece) }
      }
      queue.append((read, run.map(\.location)))
      byteCount += read.range.count
      return read
    }
  }

  private let state = Mutex(State())
  private let isEmpty = Atomic(true)
  /// More than so many bytes between two pages are not read with them.
  private static let gapByteCount = 16 << 10
  private static let readByteCount = 1 << 20
  /// What was not fetched is forgotten when all has more bytes.
  private let byteLimit: Int

  init(byteLimit: Int = 128 << 20) { self.byteLimit = byteLimit }

  /// The reads that bring the pages at `references`, which are to be started now.
  func expect(_ references: [PageReference], _ layout: BlockLayout) -> [Read] {
    let sorted = references.sorted { $0.location < $1.location }
    return state.withLock { state in
      var reads: [Read] = []
      var run: [(location: UInt64, range: Range<Int>)] = []
      var block: UInt64 = 0
      var latest: UInt64?
      for reference in sorted
      where reference.location != latest && state.slots[reference.location] == nil {
        latest = reference.location
        layout.forEachPart(of: reference.extent) { part in
          let range = part.byteOffset..<part.byteOffset + part.byteCount
          if let first = run.first, let last = run.last,
            part.block != block || range.lowerBound - last.range.upperBound > Self.gapByteCount
              || range.upperBound - first.range.lowerBound > Self.readByteCount
          {
            if let read = state.expect(run, ofBlock: block) { reads.append(read) }
            run = []
          }
          block = part.block
          run.append((reference.location, range))
        }
      }
      if let read = state.expect(run, ofBlock: block) { reads.append(read) }
      while state.byteCount > byteLimit, state.queue.count > reads.count {
        state.forgetOldest()
      }
      if !reads.isEmpty { isEmpty.store(false, ordering: .releasing) }
      return reads
    }
  }

  /// The pieces of a page that was asked for; nil when it was not, or was given out.
  func take(_ location: UInt64) -> Arrival? {
    if isEmpty.load(ordering: .acquiring) { return nil }
    return state.withLock { state in
      guard let arrival = state.slots.removeValue(forKey: location) else { return nil }
      if state.slots.isEmpty {
        (state.queue, state.byteCount) = ([], 0)
        isEmpty.store(true, ordering: .releasing)
      }
      return arrival
    }
  }
}
