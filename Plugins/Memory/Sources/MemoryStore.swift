import CambiumCore
import Synchronization

/// Pages in memory: the store for tests, caches and anything that need not outlive the process.
///
/// A store with a name is shared by all in this process who open that name, and lives while one of
/// them keeps it. Without a name it is private. Nothing survives the last reference. Reads take no
/// copies. Both durabilities are the same here.
///
/// Thread-safe, as `PageStore` says.
public final class MemoryStore: PageStore {
  /// What this store is; its path is its name.
  public let identity: StoreIdentity
  /// The codec that pages go through, bound to this store; nil for none.
  public let boundCodec: (any PageCodec)?
  /// What the store keeps for the codec.
  public var codecParameters: [UInt8] { content.parameters }
  let content: MemoryContent
  /// How much memory writes through this store may make it take.
  private let maximumByteCount: Int?
  private let isClosed = Atomic(false)

  /// Opens the store called `name`, or makes it; without a name, makes a private one.
  ///
  /// Memory is taken when pages are written.
  ///
  /// `maximumByteCount` limits what writes through this object may make it take, see
  /// `StoreRequest.maximumByteCount`.
  public convenience init(name: String? = nil, maximumByteCount: Int? = nil) {
    self.init(
      name.map { MemoryContent.named($0) } ?? MemoryContent(), name: name, bound: nil,
      maximumByteCount)
  }

  /// The same with pages that go through `codec`, which the store binds and a new one records.
  ///
  /// A store that is there and was made for another codec tells so by its identity. Throws what the
  /// codec throws, when it was made with another key.
  public convenience init(
    name: String? = nil, codec: any PageCodec, maximumByteCount: Int? = nil
  ) throws(StoreError) {
    let content: MemoryContent
    if let name {
      content = try MemoryContent.named(name, for: codec)
    } else {
      content = try MemoryContent(for: codec)
    }
    var bound: (any PageCodec)?
    if content.codec == codec.name {
      let number = StoreNumber(high: content.uuid.0, low: content.uuid.1)
      bound = try codec.bound(to: number, parameters: content.parameters)
    }
    self.init(content, name: name, bound: bound, maximumByteCount)
  }

  private init(
    _ content: MemoryContent, name: String?, bound: (any PageCodec)?, _ maximumByteCount: Int?
  ) {
    self.content = content
    self.maximumByteCount = maximumByteCount
    boundCodec = bound
    identity = StoreIdentity(
      kind: "memory", path: name ?? "memory", uuid: content.uuid, formatVersion: 1,
      codec: content.codec, isReadOnly: false)
  }

  /// Whether this process is the child of the one that opened the store: its locks may be held for ever,
  /// by threads that are not there.
  private var isForked: Bool { content.isForked }

  private func ensureOpen() throws(StoreError) {
    if isForked { throw .forked(path: identity.path) }
    if isClosed.load(ordering: .acquiring) { throw .closed(path: identity.path) }
  }

  /// The newest head, without pinning it; throws only when the store is closed.
  public func newestHead() throws(StoreError) -> Head {
    try ensureOpen()
    return content.newestHead
  }

  /// Pins the newest version, so that its pages stay where they are until the pin is released.
  public func pin() throws(StoreError) -> Pin {
    try ensureOpen()
    return content.pin()
  }

  /// Whether what `pin` holds is still the newest version; takes no lock.
  public func isNewest(_ pin: Pin) -> Bool {
    content.isNewest(pin.head.version) && !isForked && !isClosed.load(ordering: .acquiring)
  }

  /// The page at `reference`, lent without a copy for as long as its version is pinned, also when the
  /// store has been closed.
  public func read(_ reference: PageReference, at pin: Pin) throws(StoreError) -> Page {
    try content.read(reference)
  }

  /// What the latest commits were given.
  public func metadata(
    from first: Version, through pin: Pin
  ) throws(StoreError) -> [CommitMetadata]? {
    try ensureOpen()
    return content.metadata(from: first, through: pin.head.version)
  }

  /// Waits for the writer lock and begins a write at the newest version.
  public func beginWrite() throws(StoreError) -> any PageWriter {
    try ensureOpen()
    content.writers.acquire()
    return try writer()
  }

  /// Begins a write if nobody writes and nobody waits.
  public func beginWriteIfFree() throws(StoreError) -> (any PageWriter)? {
    try ensureOpen()
    return content.writers.tryAcquire() ? try writer() : nil
  }

  /// The same without a waiting thread.
  public func beginWrite(
    then: @escaping @Sendable (sending Result<any PageWriter, StoreError>) -> Void
  ) {
    do throws(StoreError) { try ensureOpen() } catch {
      return content.calls.add { then(.failure(error)) }
    }
    content.writers.acquire { [self] in
      content.calls.add { [self] in
        do throws(StoreError) { then(.success(try writer())) } catch { then(.failure(error)) }
      }
    }
  }

  /// Begins a write; called by the holder of the writer lock.
  private func writer() throws(StoreError) -> MemoryWriter {
    // Closing may have come while this waited for the writer lock.
    if isClosed.load(ordering: .acquiring) {
      content.writers.release()
      throw .closed(path: identity.path)
    }
    return MemoryWriter(
      content: content, base: content.beginWrite(), path: identity.path,
      maximumByteCount: maximumByteCount)
  }

  /// Calls `then` at once: there is nothing to wait for.
  public func makeDurable(_ version: Version, then: @escaping @Sendable (StoreError?) -> Void) {
    then(nil)
  }

  /// Does nothing: memory has nothing to sync, and every version is as durable as it will be.
  public func sync() throws(StoreError) { try ensureOpen() }

  /// Waits until the newest version is above `version`, the store is closed or the time is up, and
  /// returns the newest version then.
  public func waitForCommit(after version: Version, timeoutNanoseconds: Int64) -> Version {
    if isForked { return version }
    return content.waitForCommit(after: version, timeoutNanoseconds: timeoutNanoseconds) {
      isClosed.load(ordering: .acquiring)
    }
  }

  /// Sizes and pins; throws only when the store is closed.
  public func statistics() throws(StoreError) -> StoreStatistics {
    try ensureOpen()
    return content.statistics
  }

  /// Pins the newest version, with what is in use of the memory then.
  public func audit() throws(StoreError) -> StoreAudit {
    try ensureOpen()
    return content.audit()
  }

  /// Refuses all further calls; pages of pins that are still alive stay readable.
  ///
  /// What the memory holds goes with the last store of its name. Closing twice is allowed.
  public func close() throws(StoreError) {
    if isForked { return }
    isClosed.store(true, ordering: .releasing)
    content.wakeWaiters()
  }
}
