import CPlatform
import CambiumCore
import Synchronization

/// Writes what a large commit has gathered in the background, while the commit gathers more.
///
/// One chunk is under way at a time, so that chunks are written in the order in which they were handed
/// over. Whoever needs the place of a chunk that the lane has not begun writes it itself: nobody waits for
/// a thread that gets no processor, and where there is only one none is asked. A reader finds pages of the
/// chunk here until they are in the file. What is handed over belongs to the running write; any thread may
/// look for a page.
///
/// Pointers: the bytes are those of the chunk's array, which stays as it is until they are written. What is handed
/// over, or found as a page, lies within it: the buffer passes on what it has gathered, and a page is looked
/// for there.
final class WriteBehind: Sendable {
  /// Writes bytes at an offset.
  typealias Write = @Sendable (UnsafeRawBufferPointer, Int) throws(StoreError) -> Void

  @safe private struct Chunk {
    var bytes: [UInt8]
    /// How many of them are to be written, and where.
    var count: Int
    var offset: Int
    var write: Write
  }

  private struct State {
    /// What is under way; it stays until it is in the file.
    var chunk: Chunk?
    /// Whether somebody writes it.
    var isBegun = false
    /// Why a chunk could not be written; the next call throws it.
    var failure: StoreError?
    /// An empty array whose memory serves the next chunk.
    var spare: [UInt8] = []
  }

  private let state = Mutex(State())
  /// Raised when a chunk is done.
  private let done = CommitSignal()
  private let background: BackgroundJob
  /// So long after the last chunk its memory is kept for the next one.
  private static let idleNanoseconds: Int64 = 100_000_000
  /// Where the chunk lies, so that a reader of anything else need not take the lock.
  private let start = Atomic(0)
  private let end = Atomic(0)
  /// Whether a second thread can run at all.
  private static let isUseful = cambium_processor_count() > 1

  init(_ lane: BackgroundLane) { background = BackgroundJob(lane) }

  /// Takes `bytes`, of which the first `count` are to be written at `offset`; nothing else is under way.
  func hand(
    _ bytes: consuming [UInt8], count: Int, at offset: Int,
    _ write: @escaping Write
  ) {
    // Moved, not copied: who is done with a chunk uses its memory again if nobody else holds it.
    var chunk: Chunk? = unsafe Chunk(
      bytes: consume bytes, count: count, offset: offset, write: write)
    state.withLock { state in
      precondition(state.chunk == nil, "One chunk is under way at a time.")
      state.chunk = chunk.take()
      start.store(offset, ordering: .relaxed)
      end.store(offset + count, ordering: .releasing)
    }
    // Without a thread it is written when its place is needed.
    guard Self.isUseful else { return }
    background.schedule { [self] now in
      if state.withLock({ $0.chunk == nil }) {
        // Nothing has come for a while.
        state.withLock { $0.spare = [] }
        return nil
      }
      _ = writeNext()
      return now + Self.idleNanoseconds
    }
  }

  /// An empty array with the memory of the chunk before, if there was one.
  func takeSpare() -> [UInt8] {
    state.withLock { state in
      var spare: [UInt8] = []
      swap(&spare, &state.spare)
      return spare
    }
  }

  /// Returns when all that was handed over is in the file; throws when some of it is not.
  func finish() throws(StoreError) {
    settle()
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  /// Forgets what was handed over, as far as it is not in the file yet, and what has failed.
  func drop() {
    let isBegun = state.withLock { state in
      if !state.isBegun { state.chunk = nil }
      return state.isBegun
    }
    if isBegun { settle() }
    state.withLock { $0.failure = nil }
    forgetPlace()
  }

  /// The page at `reference`, if it is under way.
  func page(_ reference: PageReference) -> PageBuffer? {
    guard reference.byteOffset < end.load(ordering: .acquiring),
      reference.byteOffset >= start.load(ordering: .relaxed)
    else { return nil }
    return state.withLock { state in
      guard let chunk = state.chunk, reference.byteOffset >= chunk.offset,
        reference.byteOffset + reference.byteCount <= chunk.offset + chunk.count
      else { return nil }
      let position = reference.byteOffset - chunk.offset
      return PageBuffer(reference, in: chunk.bytes, at: position)
    }
  }

  /// Waits until nothing is under way.
  private func settle() {
    if writeNext() { return }
    done.wait(timeoutNanoseconds: .max) { state.withLock { $0.chunk == nil } }
  }

  /// Writes the chunk unless somebody has begun to; whether nothing is under way then.
  private func writeNext() -> Bool {
    let (isMine, isIdle) = state.withLock { state in
      let isMine = state.chunk != nil && !state.isBegun
      if isMine { state.isBegun = true }
      return (isMine, state.chunk == nil)
    }
    if !isMine { return isIdle }
    let failure = writeBegun()
    forgetPlace()
    state.withLock { state in
      if state.failure == nil { state.failure = failure }
      // Nobody else holds the array by now: it keeps its memory.
      state.spare = state.chunk.take()?.bytes ?? []
      state.spare.removeAll(keepingCapacity: true)
      state.isBegun = false
    }
    done.raise()
    return true
  }

  /// Writes the chunk that was begun, which stays where readers find it.
  ///
  /// Not inlined: what it holds of the chunk is let go when it returns.
  @inline(never) private func writeBegun() -> StoreError? {
    guard let chunk = state.withLock({ $0.chunk }) else { return nil }
    return unsafe chunk.bytes.withUnsafeBytes { bytes -> StoreError? in
      do throws(StoreError) {
        try unsafe chunk.write(
          UnsafeRawBufferPointer(rebasing: bytes[..<chunk.count]), chunk.offset)
        return nil
      } catch {
        return error
      }
    }
  }

  private func forgetPlace() {
    start.store(0, ordering: .relaxed)
    end.store(0, ordering: .releasing)
  }
}
