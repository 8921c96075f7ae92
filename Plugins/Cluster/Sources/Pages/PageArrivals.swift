import CambiumCore
import Synchronization

/// Pages that were asked for ahead of their reads.
///
/// Pages that lie close together come with one operation. A page is given out once; whoever reads it again
/// finds it in the engine's cache. What nobody fetches is forgotten when others are asked for.
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

  private struct Slot {
    var read: Read
    var offset: Int
  }

  private struct State {
    var slots: [UInt64: Slot] = [:]
    /// In the order in which they were asked for.
    var queue: [(read: Read, locations: [UInt64])] = []
    var byteCount = 0

    mutating func forgetOldest() {
      let oldest = queue.removeFirst()
      byteCount -= oldest.read.range.count
      for location in oldest.locations where slots[location]?.read === oldest.read {
        slots[location] = nil
      }
    }
  }

  private let state = Mutex(State())
  private let isEmpty = Atomic(true)
  /// More than so many bytes between two pages are not read with them.
  private static let gapByteCount = 16 << 10
  private static let readByteCount = 1 << 20
  private static let limitByteCount = 128 << 20

  /// The reads that bring the pages at `references`, which are to be started now.
  func expect(_ references: [PageReference], _ layout: BlockLayout) -> [Read] {
    let sorted = references.sorted { $0.location < $1.location }
    return state.withLock { state in
      var reads: [Read] = []
      var run: [(location: UInt64, range: Range<Int>)] = []
      var block: UInt64 = 0
      func end(_ state: inout State) {
        guard let first = run.first, let last = run.last else { return }
        let read = Read(block: block, range: first.range.lowerBound..<last.range.upperBound)
        for page in run {
          state.slots[page.location] = Slot(
            read: read, offset: page.range.lowerBound - read.range.lowerBound)
        }
        state.queue.append((read, run.map(\.location)))
        state.byteCount += read.range.count
        reads.append(read)
        run = []
      }
      for reference in sorted where state.slots[reference.location] == nil {
        let parts = layout.parts(of: reference.extent)
        guard parts.count == 1, let part = parts.first else { continue }
        let range = part.byteOffset..<part.byteOffset + part.byteCount
        if let first = run.first, let last = run.last,
          part.block != block || range.lowerBound - last.range.upperBound > Self.gapByteCount
            || range.upperBound - first.range.lowerBound > Self.readByteCount
        {
          end(&state)
        }
        block = part.block
        run.append((reference.location, range))
      }
      end(&state)
      while state.byteCount > Self.limitByteCount, state.queue.count > reads.count {
        state.forgetOldest()
      }
      if !reads.isEmpty { isEmpty.store(false, ordering: .releasing) }
      return reads
    }
  }

  /// The read that brings a page, and where the page is in it; nil when it was not asked for.
  func take(_ location: UInt64) -> (read: Read, offset: Int)? {
    if isEmpty.load(ordering: .acquiring) { return nil }
    return state.withLock { state in
      guard let slot = state.slots.removeValue(forKey: location) else { return nil }
      if state.slots.isEmpty {
        (state.queue, state.byteCount) = ([], 0)
        isEmpty.store(true, ordering: .releasing)
      }
      return (slot.read, slot.offset)
    }
  }
}
