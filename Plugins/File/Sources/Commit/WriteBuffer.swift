import CambiumCore
import Synchronization

/// Gathers pages that lie side by side, so that a commit is one write.
///
/// Whole blocks are written: the rest of the last one is filled with zeros, so that the system never
/// has to read what it is about to overwrite. Belongs to the running write; any thread may look for
/// a page in it.
///
/// Pointers: the state's array lends its bytes under the lock, for one call. A place in them is what was gathered
/// for all bytes that are asked for.
final class WriteBuffer: Sendable {
  private struct State {
    /// The pages.
    var bytes: [UInt8] = []
    /// Where the first page lies.
    var start = 0
    /// Where the page lies that reaches the last border of blocks, or begins there.
    var crossing = 0

    /// How many bytes of pages there are.
    var count: Int { bytes.count }

    /// Where `byteCount` bytes for `offset` are gathered; nil when they are not.
    func position(of byteCount: Int, at offset: Int) -> Int? {
      guard offset >= start, offset + byteCount <= start + count else { return nil }
      return offset - start
    }

    /// How many bytes there are up to the last border of blocks.
    var wholeBlocksByteCount: Int {
      (start + count) / FileLayout.blockByteCount * FileLayout.blockByteCount - start
    }
    /// Where what is kept begins when whole blocks are handed over: the block of the page that is not
    /// whole in them.
    var firstKept: Int {
      max(start, crossing / FileLayout.blockByteCount * FileLayout.blockByteCount)
    }

    /// Fills the last block with zeros.
    mutating func fillBlock() {
      let rest = (start + count) % FileLayout.blockByteCount
      guard count > 0, rest > 0 else { return }
      bytes += WriteBuffer.zeros[rest...]
    }

    /// Puts `new` in the place of what is gathered for `offset`; false when nothing is.
    mutating func replace(_ new: UnsafeRawBufferPointer, at offset: Int) -> Bool {
      guard let position = position(of: new.count, at: offset) else { return false }
      unsafe bytes.withUnsafeMutableBytes {
        unsafe UnsafeMutableRawBufferPointer(rebasing: $0[position...]).copyMemory(from: new)
      }
      return true
    }
  }

  /// A block of zeros, to be copied.
  private static let zeros = [UInt8](repeating: 0, count: FileLayout.blockByteCount)

  /// So much memory is kept from one write to the next: a thousand files that are open and idle have as many buffers.
  private static let keptByteCount = 256 << 10

  /// How many bytes are gathered before they are written.
  let capacity: Int
  private let state = Mutex(State())
  /// Where the gathered bytes lie, or more, so that a reader of anything else need not take the lock.
  private let start = Atomic(0)
  private let end = Atomic(0)

  init(capacity: Int) { self.capacity = capacity }

  /// Adds `bytes` for `offset`; false when they do not continue what is gathered or there is no room,
  /// and then the caller writes out first.
  func append(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
    state.withLock { state in
      if unsafe state.replace(bytes, at: offset) { return true }
      if state.count == 0 {
        state.start = offset
        state.bytes.reserveCapacity(min(capacity, 64 << 10))
      }
      // A page at the beginning of a block may follow a gap in the block before, which belongs to
      // this write alone.
      let gap = offset - state.start - state.count
      guard
        gap == 0
          || gap > 0 && gap < FileLayout.blockByteCount && offset % FileLayout.blockByteCount == 0,
        state.count == 0 || state.count + gap + bytes.count <= capacity
      else { return false }
      let blocks = (state.start + state.count) / FileLayout.blockByteCount
      if state.count == 0 || (offset + bytes.count) / FileLayout.blockByteCount > blocks {
        state.crossing = offset
      }
      if gap > 0 { state.bytes += Self.zeros[..<gap] }
      unsafe state.bytes.append(contentsOf: bytes)
      noteBounds(state)
      return true
    }
  }

  private func noteBounds(_ state: borrowing State) {
    start.store(state.start, ordering: .relaxed)
    end.store(state.start + state.count, ordering: .releasing)
  }

  /// The gathered page at `reference`, if it is here.
  func page(_ reference: PageReference) -> PageBuffer? {
    guard reference.byteOffset < end.load(ordering: .acquiring),
      reference.byteOffset >= start.load(ordering: .relaxed)
    else { return nil }
    return state.withLock { state in
      guard
        let position = state.position(of: reference.byteCount, at: reference.byteOffset)
      else { return nil }
      return PageBuffer(reference, in: state.bytes, at: position)
    }
  }

  /// How many bytes are gathered.
  var byteCount: Int { state.withLock { $0.count } }

  /// How many bytes of memory it has.
  var reservedByteCount: Int { state.withLock { $0.bytes.capacity } }

  /// One past the last byte of gathered pages; 0 when there is none.
  var endOffset: Int { state.withLock { $0.count == 0 ? 0 : $0.start + $0.count } }

  /// Passes the gathered pages on to `behind`, which writes them while more are gathered: all, or whole
  /// blocks only, which the system takes in less time than parts of them.
  ///
  /// Of whole blocks more is kept, where other pages will follow: it begins
  /// at a block, too, and has all of the page that is not whole in what is passed on; a few blocks are
  /// written a second time for that. Throws what `behind` has failed with before, and then keeps
  /// everything.
  func pass(
    to behind: WriteBehind, wholeBlocks: Bool, endsRun: Bool,
    _ write: @escaping WriteBehind.Write
  ) throws(StoreError) {
    try state.withLock { state throws(StoreError) in
      if endsRun, !wholeBlocks { state.fillBlock() }
      let start = state.start
      let count = wholeBlocks ? state.wholeBlocksByteCount : state.count
      if count <= 0 { return }
      try behind.finish()
      let kept = wholeBlocks ? state.firstKept : start + count
      var next = behind.takeSpare()
      next.reserveCapacity(capacity + FileLayout.blockByteCount)
      next.append(contentsOf: state.bytes[(kept - start)...])
      swap(&state.bytes, &next)
      state.start = state.count == 0 ? 0 : kept
      unsafe behind.hand(consume next, count: count, at: start, write)
      noteBounds(state)
    }
  }

  /// Hands the gathered pages to `write`, filled up to a whole block if nothing else lies in it
  /// (`endsRun`), and forgets them, whether or not that fails.
  func flush(
    endsRun: Bool,
    _ write: (UnsafeRawBufferPointer, Int) throws(StoreError) -> Void
  ) throws(StoreError) {
    try state.withLock { state throws(StoreError) in
      defer { forget(&state) }
      if endsRun { state.fillBlock() }
      let start = state.start
      if state.count == 0 { return }
      try unsafe state.bytes.withBytes { bytes throws(StoreError) in
        try unsafe write(bytes, start)
      }
    }
  }

  private func forget(_ state: inout State) {
    state.bytes.removeAll(keepingCapacity: state.bytes.capacity <= Self.keptByteCount)
    state.start = 0
    noteBounds(state)
  }

  /// Forgets what is gathered.
  func drop() { state.withLock { forget(&$0) } }
}

extension PageBuffer {
  /// A copy of the page at `reference`, whose bytes begin at `position` of `bytes`.
  convenience init(_ reference: PageReference, in bytes: [UInt8], at position: Int) {
    self.init(byteCount: reference.byteCount)
    unsafe bytes.withUnsafeBytes { all in
      let page = unsafe UnsafeRawBufferPointer(
        rebasing: all[position..<(position + reference.byteCount)])
      unsafe UnsafeMutableRawBufferPointer(start: self.bytes, count: page.count).copyMemory(
        from: page)
    }
  }
}
