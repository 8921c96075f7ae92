import Synchronization

/// Memory for pages that transactions are making, kept from one to the next.
///
/// The system's allocator keeps small blocks at hand only: of a page's size each one is searched for,
/// split off and joined again, which cost a small commit a tenth of its instructions. All databases of
/// the process share what is kept, about half a megabyte at most.
///
/// Any thread. Nobody waits: while another thread looks at what is kept, the allocator serves, and so it
/// does for good in a process that was forked at such a moment.
///
/// Pointers: a block belongs to who took it until it is given back, once and with the length it was
/// taken for. So each block that is kept has the whole kilobytes of its step.
enum PageMemory {
  /// Memory that nobody uses.
  ///
  /// Unchecked: because nobody uses it, its pointer may go from thread to thread.
  @safe fileprivate struct Block: @unchecked Sendable {
    let start: UnsafeMutableRawPointer
  }

  struct Spares {
    /// The last ones that came back, by how many whole kilobytes they have.
    fileprivate var blocks: [[Block]] = Array(repeating: [], count: largestStep + 1)

    /// Keeps `block` for later; false when there are enough of its size.
    fileprivate mutating func keep(_ block: Block, _ step: Int) -> Bool {
      guard blocks[step].count < spareCount else { return false }
      blocks[step].append(block)
      return true
    }
  }

  private static let stepByteCount = 1 << 10
  /// Larger blocks are not kept.
  private static let largestStep = 16
  /// How many blocks of a size are kept.
  private static let spareCount = 4
  static let spares = Mutex(Spares())

  private static func step(_ byteCount: Int) -> Int {
    (byteCount + stepByteCount - 1) / stepByteCount
  }

  /// At least `byteCount` bytes with anything in them, aligned to 64.
  static func take(byteCount: Int) -> UnsafeMutableRawPointer {
    let step = step(byteCount)
    if step <= largestStep,
      let spare = spares.withLockIfAvailable({ $0.blocks[step].popLast() }) ?? nil
    {
      return unsafe spare.start
    }
    return .allocate(byteCount: step * stepByteCount, alignment: 64)
  }

  /// Takes back what ``take(byteCount:)`` gave for `byteCount`.
  static func giveBack(_ start: UnsafeMutableRawPointer, byteCount: Int) {
    let (block, step) = unsafe (Block(start: start), step(byteCount))
    if step <= largestStep, spares.withLockIfAvailable({ $0.keep(block, step) }) == true { return }
    unsafe start.deallocate()
  }
}
