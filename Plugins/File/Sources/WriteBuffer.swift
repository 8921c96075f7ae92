import CambiumCore
import Synchronization

/// Gathers pages that lie side by side, so that a commit is one write.
///
/// A block for the commit's head may be kept in front of them. It is written last: with the pages if
/// it lies before them, as a write of its own if not.
///
/// Whole blocks are written: the rest of the last one is filled with zeros, so that the system never
/// has to read what it is about to overwrite. Belongs to the running write; any thread may look for
/// a page in it.
///
/// Pointers: the state's array lends its bytes under the lock, for one call. A place in them is what was gathered
/// for all bytes that are asked for.
final class WriteBuffer: Sendable {
  private struct State {
    /// The block in front, if there is one, and then the pages.
    var bytes: [UInt8] = []
    /// Where the block in front lies.
    var front: Int?
    /// Where the first page lies.
    var start = 0
    /// Where the page lies that reaches the last border of blocks, or begins there.
    var crossing = 0

    var frontByteCount: Int { front == nil ? 0 : FileLayout.blockByteCount }
    /// How many bytes of pages there are.
    var count: Int { bytes.count - frontByteCount }
    /// Whether block and pages are one.
    var isJoined: Bool { front.map { $0 + FileLayout.blockByteCount == start } ?? false }

    /// Where `byteCount` bytes for `offset` are gathered; nil when they are not.
    func position(of byteCount: Int, at offset: Int) -> Int? {
      if let front, offset >= front, offset + byteCount <= front + FileLayout.blockByteCount {
        return offset - front
      }
      guard offset >= start, offset + byteCount <= start + count else { return nil }
      return frontByteCount + offset - start
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
    let (first, last) = (state.start, state.start + state.count)
    guard let front = state.front else { return setBounds(first, last) }
    let frontEnd = front + FileLayout.blockByteCount
    if state.count == 0 { return setBounds(front, frontEnd) }
    setBounds(min(first, front), max(last, frontEnd))
  }

  private func setBounds(_ first: Int, _ last: Int) {
    start.store(first, ordering: .relaxed)
    end.store(last, ordering: .releasing)
  }

  /// Keeps the block at `offset` in front, zeros at first; nothing has been gathered yet.
  func begin(withBlockAt offset: Int) {
    state.withLock { state in
      state.bytes.reserveCapacity(64 << 10)
      state.bytes += Self.zeros
      state.front = offset
      noteBounds(state)
    }
  }

  /// Puts `bytes` in the place of what is gathered for `offset`; false when nothing is.
  func replace(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
    state.withLock { unsafe $0.replace(bytes, at: offset) }
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

  /// One past the last byte of gathered pages; 0 when there is none.
  var endOffset: Int { state.withLock { $0.count == 0 ? 0 : $0.start + $0.count } }

  /// Passes the gathered pages on to `behind`, which writes them while more are gathered: all, or whole
  /// blocks only, which the system takes in less time than parts of them.
  ///
  /// The block in front is kept. Of whole blocks more is kept, where other pages will follow: it begins
  /// at a block, too, and has all of the page that is not whole in what is passed on; a few blocks are
  /// written a second time for that. Throws what `behind` has failed with before, and then keeps
  /// everything.
  func pass(
    to behind: WriteBehind, wholeBlocks: Bool, endsRun: Bool,
    _ write: @escaping WriteBehind.Write
  ) throws(StoreError) {
    try state.withLock { state throws(StoreError) in
      if endsRun, !wholeBlocks { state.fillBlock() }
      let (start, front) = (state.start, state.frontByteCount)
      let count = wholeBlocks ? state.wholeBlocksByteCount : state.count
      if count <= 0 { return }
      try behind.finish()
      let kept = wholeBlocks ? state.firstKept : start + count
      var next = behind.takeSpare()
      next.reserveCapacity(capacity + FileLayout.blockByteCount)
      next.append(contentsOf: state.bytes[..<front])
      next.append(contentsOf: state.bytes[(front + kept - start)...])
      swap(&state.bytes, &next)
      state.start = state.count == 0 ? 0 : kept
      unsafe behind.hand(consume next, from: front, count: count, at: start, write)
      noteBounds(state)
    }
  }

  /// Hands the gathered pages to `write`, filled up to a whole block if nothing else lies in it
  /// (`endsRun`), and the block in front if the commit ends (`endsCommit`), and forgets what was
  /// handed over, whether or not that fails.
  func flush(
    endsRun: Bool, endsCommit: Bool,
    _ write: (UnsafeRawBufferPointer, Int) throws(StoreError) -> Void
  ) throws(StoreError) {
    try state.withLock { state throws(StoreError) in
      defer { if endsCommit { forget(&state) } else { forgetPages(&state) } }
      if endsRun { state.fillBlock() }
      let frontByteCount = state.frontByteCount
      let (start, count, front) = (state.start, state.count, endsCommit ? state.front : nil)
      let isJoined = state.isJoined
      try unsafe state.bytes.withBytes { bytes throws(StoreError) -> Void in
        if let front, isJoined { return try unsafe write(bytes, front) }
        if count > 0 {
          try unsafe write(UnsafeRawBufferPointer(rebasing: bytes[frontByteCount...]), start)
        }
        if let front {
          try unsafe write(UnsafeRawBufferPointer(rebasing: bytes[..<frontByteCount]), front)
        }
      }
    }
  }

  private func forgetPages(_ state: inout State) {
    state.bytes.removeLast(state.count)
    state.start = 0
    noteBounds(state)
  }

  private func forget(_ state: inout State) {
    state.bytes.removeAll(keepingCapacity: true)
    state.front = nil
    state.start = 0
    setBounds(0, 0)
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
