import Synchronization

/// Memory for pages that transactions are making, kept from one to the next.
///
/// The system's allocator keeps small blocks at hand only: of a page's size each one is searched for,
/// split off and joined again, which cost a small commit a tenth of its instructions. All databases of
/// the process share what is kept, about half a megabyte at most. Any thread.
enum PageMemory {
  /// Memory that nobody uses, and whose pointer therefore may go from thread to thread: unchecked.
  private struct Block: @unchecked Sendable {
    let start: UnsafeMutableRawPointer
  }

  private struct Spares {
    /// The last ones that came back, by how many whole kilobytes they have.
    var blocks: [[Block]] = Array(repeating: [], count: largestStep + 1)
  }

  private static let stepByteCount = 1 << 10
  /// Larger blocks are not kept.
  private static let largestStep = 16
  /// How many blocks of a size are kept.
  private static let spareCount = 4
  private static let spares = Mutex(Spares())

  private static func step(_ byteCount: Int) -> Int {
    (byteCount + stepByteCount - 1) / stepByteCount
  }

  /// At least `byteCount` bytes with anything in them, aligned to 64.
  static func take(byteCount: Int) -> UnsafeMutableRawPointer {
    let step = step(byteCount)
    if step <= largestStep, let spare = spares.withLock({ $0.blocks[step].popLast() }) {
      return spare.start
    }
    return .allocate(byteCount: step * stepByteCount, alignment: 64)
  }

  /// Takes back what ``take(byteCount:)`` gave for `byteCount`.
  static func giveBack(_ start: UnsafeMutableRawPointer, byteCount: Int) {
    let (block, step) = (Block(start: start), step(byteCount))
    let isKept =
      step <= largestStep
      && spares.withLock { spares in
        guard spares.blocks[step].count < spareCount else { return false }
        spares.blocks[step].append(block)
        return true
      }
    if !isKept { start.deallocate() }
  }
}
