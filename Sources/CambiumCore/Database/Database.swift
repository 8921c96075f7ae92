import Synchronization

/// How a database behaves, whatever its store.
public struct DatabaseOptions: Hashable, Sendable {
  /// How many bytes of changed pages a transaction keeps in memory before it writes some of them
  /// ahead of its commit.
  public var transactionBudgetByteCount = 256 << 20
  /// How many bytes of decoded pages are cached; unused where the store lends its memory.
  ///
  /// Up to half as many again are held for sources that read, of pages that are read again and again;
  /// as many once more while others still read through those that were held before. A database that nobody uses for
  /// a minute or two gives them back.
  public var pageCacheByteCount = 64 << 20
  /// How many pages of dropped trees a commit frees at most.
  public var deadPagesPerCommit = 1024
  /// How many bytes of live pages a commit moves, about, when much of the store is free, so that the
  /// store can give its end back to the system; 0 if pages are never to be moved.
  public var relocatedByteCountPerCommit = 128 << 10
  /// How many versions may be pinned, by all users of the store, when a transaction begins; nil for
  /// any number.
  ///
  /// What is pinned and was changed since is kept: this tells of a snapshot that was forgotten, in
  /// place of a store that grows. The newest version counts if somebody reads it. What another process,
  /// or another database over the same store, keeps of its reads and commits counts, too, for half a second at
  /// most, and so does the version that a sync is making durable: the limit is for tens of versions.
  public var maximumNumberOfActiveVersions: Int?

  /// The default of every option.
  public init() {}
}

/// The versioned trees of one store: snapshots to read, transactions to write.
///
/// May be used from any thread. Readers never wait, neither for one another nor for the writer.
public final class Database: Sendable {
  package let store: any PageStore
  /// The codec that pages go through, bound to the store where that keeps something for it.
  public let codec: (any PageCodec)?
  /// How it was opened.
  public let options: DatabaseOptions
  private let trust = TrustTable()
  private let cache: PageCache
  let tables = TableCache()
  /// How far pages have been moved from the end of the store.
  let moves = Mutex(PageRelocator.Progress())
  /// The dropped trees that cannot be read.
  let deadRoots = Mutex(DeadRoots.Progress())
  /// Who is called when versions are durable.
  let durableCalls = DurableCalls()
  /// Who is told of commits.
  let watchers: CommitWatchers
  private let latest: LatestSnapshot
  private let idleMemory: IdleMemory

  /// Opens the database in `store`, whose pages go through `codec`.
  ///
  /// A store that was opened with a codec brings it along, bound to itself; naming it again is not
  /// needed. Throws ``StoreError/codecMismatch(path:found:expected:)`` when the store's pages went through
  /// another one.
  public convenience init(
    store: any PageStore, codec: (any PageCodec)? = nil, options: DatabaseOptions = .init()
  ) throws(StoreError) {
    try self.init(store: store, codec: codec, options: options, lane: nil)
  }

  /// Opens the database with a lane for all its background work; nil for the process's and one of its own.
  package init(
    store: any PageStore, codec: (any PageCodec)? = nil, options: DatabaseOptions = .init(),
    lane: BackgroundLane?
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
    let codec = bound ?? codec
    self.codec = codec
    self.options = options
    watchers = (store as? any WatchableStore)?.watchers ?? CommitWatchers()
    cache = PageCache(byteCount: options.pageCacheByteCount)
    latest = LatestSnapshot(lane: lane ?? .shared)
    idleMemory = IdleMemory(trust, cache, lane: lane)
    (store as? any ResidentStore)?.storePages { [weak self] store, writer throws(StoreError) in
      if let self { try storePages(writer) } else { try Self.storePages(store, writer) }
    }
  }

  /// Makes the newest version of a store without a database once more, with all its pages stored.
  package static func storePages(
    _ store: any PageStore, _ writer: any PageWriter
  ) throws(StoreError) {
    try Database(storingPagesOf: store, store.boundCodec).storePages(writer)
  }

  /// A database that asks the store for nothing.
  private init(
    storingPagesOf store: any PageStore, _ codec: (any PageCodec)?,
    _ options: DatabaseOptions = DatabaseOptions()
  ) {
    self.store = store
    self.codec = codec
    self.options = options
    watchers = CommitWatchers()
    cache = PageCache(byteCount: options.pageCacheByteCount)
    latest = LatestSnapshot(lane: .shared)
    idleMemory = IdleMemory(trust, cache, lane: nil)
  }

  /// What the store is.
  public var identity: StoreIdentity { store.identity }

  /// Whether whoever opens the database where it was opened still gets this one; see ``PageStore/isInPlace``.
  public var isInPlace: Bool { store.isInPlace }

  /// The newest version.
  ///
  /// While it stays the newest and somebody holds it, every call returns the same snapshot. One that
  /// is asked for again and again is kept in between, and so is what a commit of this database makes; it
  /// goes half a second after the last call, a quarter of a second after a commit that nobody asks for or one
  /// of somebody else, or at once with a commit of this database.
  public func snapshot() throws(StoreError) -> Snapshot {
    if let known = latest.known, store.isNewest(known.pin) { return known }
    // Where none is alive, pinning tells which version is the newest.
    let pin = try store.pin()
    let snapshot = Snapshot(pin: pin, source: makeSource(pin), cache: tables)
    latest.note(pinned: snapshot)
    return snapshot
  }

  /// What the commits were given to keep that made the versions from `first` to that of `snapshot`, in
  /// their order; nil when the store does not know it of all of them.
  ///
  /// See ``PageStore/metadata(from:through:)``.
  public func metadata(
    from first: Version, through snapshot: Snapshot
  ) throws(StoreError) -> [CommitMetadata]? {
    try store.metadata(from: first, through: snapshot.pin)
  }

  /// Waits for the writer lock and begins a transaction at the newest version.
  ///
  /// One transaction at a time may run among all users of the store. Those of one store object are served
  /// in the order of their calls, except that others may go first while a thread wakes up whose turn
  /// comes after a short one; between processes who was last lets those who wait go first.
  ///
  /// Throws ``StoreError/tooManyVersions(count:limit:)`` when more versions are pinned than
  /// ``DatabaseOptions/maximumNumberOfActiveVersions`` allows; the way out is to release snapshots.
  ///
  /// `durability` is what the commit will likely ask for. It is a hint: a large transaction that expects
  /// to be durable sends pages to the medium before it commits, others leave that to the system.
  public func beginWrite(
    expecting durability: Durability = .full
  ) throws(StoreError) -> Transaction {
    try checkActiveVersions(limit: options.maximumNumberOfActiveVersions)
    let start = DatabaseEvents.now
    let writer = try store.beginWrite()
    DatabaseEvents.tell(since: start, identity.path) { .writeBegan(waitNanoseconds: $0) }
    return try begin(writer, durability)
  }

  /// The same without a waiting thread: calls `then` once, on a thread of the store, when the transaction
  /// has begun or could not.
  ///
  /// Those who wait in either form are served in one order. Closing the database ends the wait with
  /// ``StoreError/closed(path:)``. `then` may keep the transaction, or hand it on; other calls of the
  /// store wait until it returns.
  public func beginWrite(
    expecting durability: Durability = .full,
    then: @escaping @Sendable (sending Result<Transaction, StoreError>) -> Void
  ) {
    let start = DatabaseEvents.now
    store.beginWrite { [self] result in
      do throws(StoreError) {
        let writer = try result.get()
        DatabaseEvents.tell(since: start, identity.path) { .writeBegan(waitNanoseconds: $0) }
        do throws(StoreError) {
          try checkActiveVersions(limit: options.maximumNumberOfActiveVersions)
        } catch {
          writer.abort()
          throw error
        }
        then(.success(try begin(writer, durability)))
      } catch {
        then(.failure(error))
      }
    }
  }

  /// Begins a transaction if nobody writes and nobody waits, and it need not wait for the medium; nil
  /// otherwise.
  public func beginWriteIfFree(
    expecting durability: Durability = .full
  ) throws(StoreError) -> Transaction? {
    try checkActiveVersions(limit: options.maximumNumberOfActiveVersions)
    return try store.beginWriteIfFree().map { writer throws(StoreError) in
      try begin(writer, durability)
    }
  }

  private func begin(
    _ writer: any PageWriter, _ durability: Durability, of pin: Pin? = nil
  ) throws(StoreError) -> Transaction {
    writer.expect(durability)
    do throws(StoreError) {
      let known = pin ?? latest.cachedPin(of: writer.base)
      let pin = if let known { known } else { try store.pin() }
      return Transaction(database: self, writer: writer, source: makeSource(pin))
    } catch {
      writer.abort()
      throw error
    }
  }

  /// Makes the version at which `writer` began, that of `pin`, once more with all its pages stored.
  private func storePages(
    _ writer: any PageWriter, of pin: Pin? = nil
  ) throws(StoreError) {
    let transaction = try begin(writer, .relaxed, of: pin)
    transaction.storesPages = true
    _ = try transaction.publish(.relaxed, [])
  }

  /// The version of `snapshot` with all its pages stored: those that lie in memory have stored forms that it alone has.
  ///
  /// For who copies pages. The store is not asked for anything but stored pages, and nobody waits.
  package func storedForm(
    of snapshot: Snapshot
  ) throws(StoreError) -> (database: Database, snapshot: Snapshot) {
    let collector = PageCollector(base: snapshot.pin)
    let database = Database(storingPagesOf: store, codec, options)
    try database.storePages(collector, of: snapshot.pin)
    let stored = Database(
      storingPagesOf: StoredForm(store, snapshot.pin, collector), codec, options)
    return (stored, try stored.snapshot())
  }

  /// Throws ``StoreError/tooManyVersions(count:limit:)`` when more than `limit` versions are pinned.
  package func checkActiveVersions(limit: Int?) throws(StoreError) {
    guard let limit else { return }
    // What is cached is nobody's.
    latest.letGo()
    let count = try store.pinnedVersionCount()
    if count > limit { throw .tooManyVersions(count: count, limit: limit) }
  }

  /// Makes everything committed so far durable.
  ///
  /// Waits for the running transaction where relaxed commits have left pages in memory: who has one ends it first.
  public func sync() throws(StoreError) { try store.sync() }

  /// Makes `version`, which was committed, durable, with all versions before it; who waits at the same time
  /// shares one sync.
  ///
  /// Returns at once when it is durable. Waits for the running transaction where `version` was relaxed and has left
  /// pages in memory for which the log of the file has no room. When it throws, the version stands for readers and may
  /// be lost with the power; after a failed sync the store refuses writes until it is opened anew.
  public func makeDurable(_ version: Version) throws(StoreError) { try store.makeDurable(version) }

  /// Waits until the newest version is above `version`, at most `timeoutNanoseconds`; returns it.
  public func waitForCommit(after version: Version, timeoutNanoseconds: Int64) -> Version {
    store.waitForCommit(after: version, timeoutNanoseconds: timeoutNanoseconds)
  }

  /// Sizes and pins, for people and tools.
  public func statistics() throws(StoreError) -> StoreStatistics {
    latest.letGo()
    return try store.statistics()
  }

  /// Syncs and releases the store.
  ///
  /// Snapshots that are still held stay readable; until they are gone, the store may refuse to be
  /// opened again.
  public func close() throws(StoreError) {
    latest.letGo(closes: true)
    try store.close()
  }

  /// A source over `pin`, sharing what this database knows of its pages.
  func makeSource(_ pin: Pin) -> PageSource {
    idleMemory.noteUse()
    return PageSource(pin: pin, store: store, codec: codec, trust: trust, cache: cache)
  }

  /// Makes a snapshot of `pin`, of a commit of this database, and remembers it while it is alive.
  func adopt(_ pin: Pin) -> Snapshot {
    let snapshot = Snapshot(pin: pin, source: makeSource(pin), cache: tables)
    latest.note(published: snapshot)
    return snapshot
  }

  /// Lets go of what it keeps of versions before `version`, which it has just published.
  func supersede(by version: Version) { latest.supersede(by: version) }
}
