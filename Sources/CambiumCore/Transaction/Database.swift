import Synchronization

/// How a database behaves, whatever its store.
public struct DatabaseOptions: Hashable, Sendable {
  /// How many bytes of changed pages a transaction keeps in memory before it writes some of them
  /// ahead of its commit.
  public var transactionBudgetByteCount = 256 << 20
  /// How many bytes of decoded pages are cached; unused where the store lends its memory.
  public var pageCacheByteCount = 64 << 20
  /// How many pages of dropped trees a commit frees at most.
  public var deadPagesPerCommit = 1024

  /// The default of every option.
  public init() {}
}

/// The versioned trees of one store: snapshots to read, transactions to write.
///
/// May be used from any thread. Readers never wait, neither for one another nor for the writer.
public final class Database: Sendable {
  private struct LatestSnapshot {
    weak var snapshot: Snapshot?
  }

  let store: any PageStore
  /// The codec that pages go through, bound to the store where that keeps something for it.
  public let codec: (any PageCodec)?
  /// How it was opened.
  public let options: DatabaseOptions
  private let trust = TrustTable()
  private let cache: PageCache
  let tables = TableCache()
  let combiner = WriteCombiner()
  private let latest = Mutex(LatestSnapshot())

  /// Opens the database in `store`, whose pages go through `codec`.
  ///
  /// A store that was opened with a codec brings it along, bound to itself; naming it again is not
  /// needed. Throws ``StoreError/codecMismatch(path:found:expected:)`` when the store's pages went through
  /// another one.
  public init(
    store: any PageStore, codec: (any PageCodec)? = nil, options: DatabaseOptions = .init()
  ) throws(StoreError) {
    let identity = store.identity
    let bound = store.boundCodec
    let name = (codec ?? bound)?.name ?? ""
    guard identity.codec == name else {
      throw .codecMismatch(
        path: identity.path, found: identity.codec.isEmpty ? "none" : identity.codec,
        expected: name.isEmpty ? "none" : name)
    }
    self.store = store
    self.codec = bound ?? codec
    self.options = options
    cache = PageCache(byteCount: options.pageCacheByteCount)
  }

  /// What the store is.
  public var identity: StoreIdentity { store.identity }

  /// The newest version.
  ///
  /// While it stays the newest, every call returns the same snapshot.
  public func snapshot() throws(StoreError) -> Snapshot {
    // Where none is alive, pinning tells which version is the newest.
    if let known = latest.withLock({ $0.snapshot }) {
      let newest = try store.newestHead()
      if known.version == newest.version, known.epoch == newest.epoch { return known }
    }
    return adopt(try store.pin())
  }

  /// Waits for the writer lock and begins a transaction at the newest version.
  ///
  /// One transaction at a time may run among all users of the store; waiting ones are served in
  /// the order of their calls.
  public func beginWrite() throws(StoreError) -> WriteTransaction {
    let writer = try store.beginWrite()
    do throws(StoreError) {
      let pin = try store.pin()
      return WriteTransaction(database: self, writer: writer, source: makeSource(pin))
    } catch {
      writer.abort()
      throw error
    }
  }

  /// Makes everything committed so far durable.
  public func sync() throws(StoreError) { try store.sync() }

  /// Waits until the newest version is above `version`, at most `timeoutNanoseconds`; returns it.
  public func waitForCommit(after version: Version, timeoutNanoseconds: Int64) -> Version {
    store.waitForCommit(after: version, timeoutNanoseconds: timeoutNanoseconds)
  }

  /// Sizes and pins, for people and tools.
  public func statistics() throws(StoreError) -> StoreStatistics { try store.statistics() }

  /// Syncs and releases the store.
  ///
  /// Snapshots that are still held stay readable; until they are gone, the store may refuse to be
  /// opened again.
  public func close() throws(StoreError) { try store.close() }

  /// A source over `pin`, sharing what this database knows of its pages.
  func makeSource(_ pin: Pin) -> PageSource {
    PageSource(pin: pin, store: store, codec: codec, trust: trust, cache: cache)
  }

  /// Makes a snapshot of `pin` and remembers it while it is alive.
  func adopt(_ pin: Pin) -> Snapshot {
    let snapshot = Snapshot(pin: pin, source: makeSource(pin))
    latest.withLock { latest in
      if let known = latest.snapshot, known.version > snapshot.version { return }
      latest.snapshot = snapshot
    }
    return snapshot
  }
}
