import CambiumCore
import Synchronization

/// Pages in memory: the store for tests, caches and anything that need not outlive the process.
///
/// A store with a name is shared by all in this process who open that name, and lives while one of
/// them keeps it. Without a name it is private. Nothing survives the last reference. Reads take no
/// copies. All three durabilities are the same here.
///
/// Thread-safe, as `PageStore` says.
public final class MemoryStore: PageStore {
  /// What this store is; its path is its name.
  public let identity: StoreIdentity
  private let content: MemoryContent
  private let isClosed = Atomic(false)

  /// Opens the store called `name`, or makes it; without a name, makes a private one.
  ///
  /// Memory is taken when pages are written.
  public init(name: String? = nil) {
    content = name.map { MemoryContent.named($0) } ?? MemoryContent()
    identity = StoreIdentity(
      kind: "memory", path: name ?? "memory", uuid: content.uuid, formatVersion: 1, codec: "",
      isReadOnly: false)
  }

  private func ensureOpen() throws(StoreError) {
    if isClosed.load(ordering: .acquiring) { throw .closed(path: identity.path) }
  }

  public func newestHead() throws(StoreError) -> Head {
    try ensureOpen()
    return content.newestHead
  }

  public func pin() throws(StoreError) -> Pin {
    try ensureOpen()
    return content.pin()
  }

  public func read(_ reference: PageReference) throws(StoreError) -> Page {
    try ensureOpen()
    return try content.read(reference)
  }

  public func beginWrite() throws(StoreError) -> any PageWriter {
    try ensureOpen()
    let base = content.enter()
    // Closing may have come while this waited for its turn.
    if isClosed.load(ordering: .acquiring) {
      content.leave(base)
      throw .closed(path: identity.path)
    }
    return MemoryWriter(content: content, base: base, path: identity.path)
  }

  public func sync() throws(StoreError) { try ensureOpen() }

  public func waitForCommit(after version: Version, timeoutNanoseconds: Int64) -> Version {
    content.waitForCommit(after: version, timeoutNanoseconds: timeoutNanoseconds) {
      isClosed.load(ordering: .acquiring)
    }
  }

  public func statistics() throws(StoreError) -> StoreStatistics {
    try ensureOpen()
    return content.statistics
  }

  public func check(reachable: [Extent]) throws(StoreError) -> [String] {
    try ensureOpen()
    return content.check(reachable: reachable)
  }

  public func close() throws(StoreError) {
    isClosed.store(true, ordering: .releasing)
    content.wakeWaiters()
  }
}
