import CambiumCore
import CambiumStoreKit
import Synchronization

/// A store in one array of bytes whose room is used again.
///
/// What is hard about that comes from CambiumStoreKit: which room is free, what waits for which version, and
/// who may write.
final class SlabStore: PageStore {
  private struct State: ~Copyable {
    var head = Head(version: 0, epoch: 1, root: .empty(.key))
    var space = Space(firstBlock: 1)
    var bytes: [UInt8] = []
    var isClosed = false
  }

  let identity: StoreIdentity
  private let state: Mutex<State>
  private let writers = WriterQueue()
  private let commits = CommitSignal()

  init(name: String, codec: String = "") {
    identity = StoreIdentity(
      kind: "slab", path: name, uuid: (.random(in: 1 ... .max), .random(in: 1 ... .max)),
      formatVersion: 1, codec: codec, isReadOnly: false)
    state = Mutex(State())
    // The store holds its newest version.
    state.withLock { $0.space.ledger.hold(0, .store) }
  }

  private func open<Value: Sendable>(
    _ body: (inout State) throws(StoreError) -> Value
  ) throws(StoreError) -> Value {
    try state.withLock { state throws(StoreError) in
      if state.isClosed { throw .closed(path: identity.path) }
      return try body(&state)
    }
  }

  // MARK: Reading

  func newestHead() throws(StoreError) -> Head { try open { $0.head } }

  func pin() throws(StoreError) -> Pin { try open { hold(&$0) } }

  private func hold(_ state: inout State) -> Pin {
    let head = state.head
    state.space.ledger.hold(head.version, .pin)
    return Pin(head: head) { [self] in
      self.state.withLock { $0.space.release(head.version, .pin) }
    }
  }

  func read(_ reference: PageReference, at pin: Pin) throws(StoreError) -> Page {
    // Copied: another page may lie there once the version is let go.
    try state.withLock { state throws(StoreError) in
      let (start, count) = (reference.byteOffset, reference.byteCount)
      guard count > 0, !reference.isDirty, start <= state.bytes.count,
        count <= state.bytes.count - start
      else {
        throw .damaged(Damage(.reference, at: reference, "the page lies outside of the store"))
      }
      let buffer = PageBuffer(byteCount: count)
      let target = UnsafeMutableRawBufferPointer(start: buffer.bytes, count: count)
      state.bytes.withUnsafeBytes {
        target.copyMemory(from: .init(rebasing: $0[start..<start + count]))
      }
      return buffer.page
    }
  }

  func waitForCommit(after version: Version, timeoutNanoseconds: Int64) -> Version {
    commits.wait(timeoutNanoseconds: timeoutNanoseconds) {
      state.withLock { $0.head.version > version || $0.isClosed }
    }
    return state.withLock { $0.head.version }
  }

  func statistics() throws(StoreError) -> StoreStatistics {
    try open { state in
      StoreStatistics(
        totalByteCount: state.space.totalByteCount, freeByteCount: state.space.freeByteCount,
        pendingByteCount: state.space.pendingByteCount, newestVersion: state.head.version,
        durableVersion: state.head.version, pinnedVersions: state.space.ledger.pinnedVersions)
    }
  }

  func audit() throws(StoreError) -> StoreAudit {
    try open { state in
      StoreAudit(of: hold(&state), compare: SpaceAudit(state.space.copy()).findings(reachable:))
    }
  }

  // MARK: Writing

  func beginWrite() throws(StoreError) -> any PageWriter {
    writers.acquire()
    do throws(StoreError) { return SlabWriter(self, base: try newestHead()) } catch {
      writers.release()
      throw error
    }
  }

  fileprivate func allocate(byteCount: Int) throws(StoreError) -> Extent {
    try StoreLimits.checkPage(byteCount: byteCount)
    return try state.withLock { state throws(StoreError) in
      let extent = try state.space.allocate(byteCount: byteCount) { _ in }
      let missing = state.space.totalByteCount - state.bytes.count
      if missing > 0 { state.bytes += [UInt8](repeating: 0, count: missing) }
      return extent
    }
  }

  fileprivate func put(_ bytes: Span<UInt8>, to extent: Extent) {
    let bytes = [UInt8](copying: bytes)
    state.withLock { state in
      state.bytes.replaceSubrange(extent.byteOffset..<extent.byteOffset + bytes.count, with: bytes)
    }
  }

  fileprivate func takeBack(_ extent: Extent) { state.withLock { $0.space.takeBack(extent) } }

  fileprivate func publish(
    _ head: Head, _ ledger: WriteLedger, _ beforeNext: (Head) -> Void
  ) throws(StoreError) -> Pin {
    let pin = try state.withLock { state throws(StoreError) in
      let (version, freed) = (head.version, ledger.freed)
      if let index = try state.space.applyReachable(
        ledger.allocations, freed: freed, version: version)
      {
        throw .damaged(
          Damage(.reference, "the page at byte \(freed[index].extent.byteOffset) is not in use"))
      }
      state.space.publish(version: version, previous: state.head.version, freed: freed)
      state.head = head
      return hold(&state)
    }
    commits.raise()
    beforeNext(head)
    writers.release()
    return pin
  }

  fileprivate func abort(_ ledger: WriteLedger) {
    state.withLock { $0.space.rollBack(ledger.allocations) }
    writers.release()
  }

  func sync() throws(StoreError) { try open { _ in } }

  func close() throws(StoreError) {
    state.withLock { $0.isClosed = true }
    commits.raise()
  }
}

private final class SlabWriter: PageWriter {
  let base: Head
  var version: Version { base.version + 1 }
  private let store: SlabStore
  private var ledger = WriteLedger()
  private var hasEnded = false

  init(_ store: SlabStore, base: Head) {
    self.store = store
    self.base = base
  }

  deinit { abort() }

  func reserve(byteCount: Int) throws(StoreError) {}

  func allocate(byteCount: Int) throws(StoreError) -> Extent {
    let extent = try store.allocate(byteCount: byteCount)
    ledger.take(extent)
    return extent
  }

  func write(
    _ bytes: Span<UInt8>, to extent: Extent, checksum: UInt64
  ) throws(StoreError) {
    ledger.noteWritten(bytes.count, to: extent)
    store.put(bytes, to: extent)
  }

  func free(_ reference: PageReference) {
    if ledger.free(reference, version: version) { store.takeBack(reference.extent) }
  }

  func publish(
    root: TreeRoot, durability: Durability, metadata: [UInt8], beforeNext: (Head) -> Void
  ) throws(StoreError) -> Pin {
    do throws(StoreError) {
      try StoreLimits.check(metadata: metadata)
      let head = Head(version: version, epoch: base.epoch, root: root)
      let pin = try store.publish(head, ledger, beforeNext)
      hasEnded = true
      return pin
    } catch {
      abort()
      throw error
    }
  }

  func abort() {
    if hasEnded { return }
    hasEnded = true
    store.abort(ledger)
  }
}
