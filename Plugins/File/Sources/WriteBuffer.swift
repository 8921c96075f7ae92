import CambiumCore
import Synchronization

/// Gathers pages that lie side by side, so that a commit is one write.
///
/// Whole blocks are written: the rest of the last one is filled with zeros, so that the system never
/// has to read what it is about to overwrite. Belongs to the running write; any thread may look for
/// a page in it.
final class WriteBuffer: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    var start = 0

    /// Puts `new` in the place of what is gathered for `offset`; false when nothing is.
    mutating func replace(_ new: UnsafeRawBufferPointer, at offset: Int) -> Bool {
      let position = offset - start
      guard position >= 0, position + new.count <= bytes.count else { return false }
      bytes.withUnsafeMutableBytes {
        UnsafeMutableRawBufferPointer(rebasing: $0[position...]).copyMemory(from: new)
      }
      return true
    }
  }

  /// What is gathered before it is written.
  static let capacity = 1 << 20
  private let state = Mutex(State())
  /// Where the gathered bytes lie, so that a reader of anything else need not take the lock.
  private let start = Atomic(0)
  private let end = Atomic(0)

  /// Adds `bytes` for `offset`; false when they do not continue what is gathered or there is no room,
  /// and then the caller writes out first.
  func append(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
    state.withLock { state in
      if state.replace(bytes, at: offset) { return true }
      if state.bytes.isEmpty {
        state.start = offset
        state.bytes.reserveCapacity(min(Self.capacity, 64 << 10))
      }
      // A page at the beginning of a block may follow a gap in the block before, which belongs to
      // this write alone.
      let gap = offset - state.start - state.bytes.count
      guard
        gap == 0
          || gap > 0 && gap < FileLayout.blockByteCount && offset % FileLayout.blockByteCount == 0,
        state.bytes.isEmpty || state.bytes.count + gap + bytes.count <= Self.capacity
      else { return false }
      if gap > 0 { state.bytes.append(contentsOf: repeatElement(0, count: gap)) }
      state.bytes.append(contentsOf: bytes)
      start.store(state.start, ordering: .relaxed)
      end.store(state.start + state.bytes.count, ordering: .releasing)
      return true
    }
  }

  /// Gathers a block of zeros first, to be replaced.
  func begin(withBlockAt offset: Int) {
    state.withLock { state in
      state.start = offset
      state.bytes.reserveCapacity(64 << 10)
      state.bytes.append(contentsOf: repeatElement(0, count: FileLayout.blockByteCount))
      start.store(offset, ordering: .relaxed)
      end.store(offset + state.bytes.count, ordering: .releasing)
    }
  }

  /// Puts `bytes` in the place of what is gathered for `offset`; false when nothing is.
  func replace(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
    state.withLock { $0.replace(bytes, at: offset) }
  }

  /// The gathered page at `reference`, if it is here.
  func page(_ reference: PageReference) -> PageBuffer? {
    guard reference.byteOffset < end.load(ordering: .acquiring),
      reference.byteOffset >= start.load(ordering: .relaxed)
    else { return nil }
    return state.withLock { state in
      let position = reference.byteOffset - state.start
      guard position >= 0, position + reference.byteCount <= state.bytes.count else { return nil }
      let buffer = PageBuffer(byteCount: reference.byteCount)
      state.bytes.withUnsafeBytes { bytes in
        let page = UnsafeRawBufferPointer(
          rebasing: bytes[position..<(position + reference.byteCount)])
        UnsafeMutableRawBufferPointer(start: buffer.bytes, count: page.count).copyMemory(from: page)
      }
      return buffer
    }
  }

  /// One past the last gathered byte; 0 when there is none.
  var endOffset: Int { state.withLock { $0.bytes.isEmpty ? 0 : $0.start + $0.bytes.count } }

  /// Hands what is gathered to `write`, filled up to a whole block if nothing else lies in it
  /// (`endsRun`), and forgets it, whether or not that fails.
  func flush(
    endsRun: Bool, _ write: (UnsafeRawBufferPointer, Int) throws(StoreError) -> Void
  ) throws(StoreError) {
    try state.withLock { state throws(StoreError) in
      if state.bytes.isEmpty { return }
      defer { clear(&state) }
      if endsRun {
        let rest = (state.start + state.bytes.count) % FileLayout.blockByteCount
        if rest > 0 {
          let padding = FileLayout.blockByteCount - rest
          state.bytes.append(contentsOf: repeatElement(0, count: padding))
        }
      }
      let offset = state.start
      let result = state.bytes.withUnsafeBytes { bytes in
        Result<Void, StoreError> { () throws(StoreError) in try write(bytes, offset) }
      }
      try result.get()
    }
  }

  private func clear(_ state: inout State) {
    start.store(0, ordering: .relaxed)
    end.store(0, ordering: .releasing)
    state.bytes.removeAll(keepingCapacity: true)
    state.start = 0
  }

  /// Forgets what is gathered.
  func drop() { state.withLock { clear(&$0) } }
}
