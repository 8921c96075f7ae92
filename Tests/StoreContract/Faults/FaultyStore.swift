import CambiumCore
import Synchronization

/// A store that asks ``StoreFaults`` before it hands an operation on to another one.
final class FaultyStore: RelayingStore {
  let inner: any PageStore
  let faults: StoreFaults
  private let isPoisoned = Atomic(false)

  init(_ inner: any PageStore, _ faults: StoreFaults) {
    self.inner = inner
    self.faults = faults
  }

  private var path: String { inner.identity.path }

  // MARK: What may fail

  /// Counts an operation that decides what the medium holds, and throws if it is to fail; after a failure
  /// of the medium no more writes are taken.
  func noteEnd(_ operation: StoreFaults.Operation) throws(StoreError) {
    do throws(StoreError) { try faults.note(operation, path) } catch {
      if case .system = error { isPoisoned.store(true, ordering: .sequentiallyConsistent) }
      throw error
    }
  }

  /// Counts the writing of a page, and throws if it is to fail.
  func noteWriting() throws(StoreError) { try faults.note(.writing, path) }

  private func checkPoison() throws(StoreError) {
    if isPoisoned.load(ordering: .sequentiallyConsistent) { throw .poisoned(path: path) }
  }

  private func checkSync() throws(StoreError) {
    try checkPoison()
    try noteEnd(.syncing)
  }

  /// The writer for the holder of the writer lock; releases it if beginning is to fail.
  private func begun(_ writer: any PageWriter) throws(StoreError) -> any PageWriter {
    do throws(StoreError) {
      try checkPoison()
      try faults.note(.beginning, path)
    } catch {
      writer.abort()
      throw error
    }
    return FaultyWriter(writer, self)
  }

  func beginWrite() throws(StoreError) -> any PageWriter { try begun(try inner.beginWrite()) }

  func beginWrite(
    then: @escaping @Sendable (sending Result<any PageWriter, StoreError>) -> Void
  ) {
    inner.beginWrite { [self] result in
      do throws(StoreError) {
        then(.success(try begun(try result.get())))
      } catch {
        then(.failure(error))
      }
    }
  }

  /// Nil where beginning is to fail: who then waits for the lock is told why.
  func beginWriteIfFree() throws(StoreError) -> (any PageWriter)? {
    if faults.isDue(.beginning) || isPoisoned.load(ordering: .sequentiallyConsistent) { return nil }
    guard let writer = try inner.beginWriteIfFree() else { return nil }
    return try begun(writer)
  }

  func sync() throws(StoreError) {
    try checkSync()
    try inner.sync()
  }

  func makeDurable(_ version: Version) throws(StoreError) {
    try checkSync()
    try inner.makeDurable(version)
  }

  func makeDurable(_ version: Version, then: @escaping @Sendable (StoreError?) -> Void) {
    do throws(StoreError) { try checkSync() } catch { return then(error) }
    inner.makeDurable(version, then: then)
  }

  // MARK: What the other store does better than the contract

  func isNewest(_ pin: Pin) -> Bool { inner.isNewest(pin) }
  func metadata(
    from first: Version, through pin: Pin
  ) throws(StoreError) -> [CommitMetadata]? { try inner.metadata(from: first, through: pin) }
  func pinnedVersionCount() throws(StoreError) -> Int { try inner.pinnedVersionCount() }
}

/// A write of a ``FaultyStore``.
private final class FaultyWriter: RelayingWriter {
  let inner: any PageWriter
  private let store: FaultyStore

  init(_ inner: any PageWriter, _ store: FaultyStore) {
    self.inner = inner
    self.store = store
  }

  func write(
    _ bytes: Span<UInt8>, to extent: Extent, checksum: UInt64
  ) throws(StoreError) {
    try store.noteWriting()
    try inner.write(bytes, to: extent, checksum: checksum)
  }

  func publish(
    root: TreeRoot, durability: Durability, metadata: [UInt8], beforeNext: (Head) -> Void
  ) throws(StoreError) -> Pin {
    // Before anything is published, so that the version before stays the newest one.
    try store.noteEnd(.publishing)
    if durability == .full { try store.noteEnd(.syncing) }
    return try inner.publish(
      root: root, durability: durability, metadata: metadata, beforeNext: beforeNext)
  }

  var relocation: Relocation? { inner.relocation }
  func expect(_ durability: Durability) { inner.expect(durability) }
}
