/// Where pages live: the whole contract of a backend.
///
/// A store keeps immutable pages and one newest ``Head``. It knows nothing of trees. The engine
/// reads pages through a ``Pin``, which holds one version, and writes through a ``PageWriter``, of
/// which there is at most one at a time among all threads and processes.
///
/// What a store promises:
/// - **Heads move forward.** A published head is newer than every head before it, and from the
///   moment ``PageWriter/publish(root:durability:metadata:)`` returns every later ``pin()`` sees it.
/// - **A pinned version stays.** No page that was reachable from a held version is overwritten.
///   Held are every pinned version, the newest one, and those a store needs for its own recovery.
/// - **All or nothing.** After a crash the store opens at a published head with all its pages, at
///   least the newest one that was durable.
/// - **Bytes come back as they went.** The engine checks them; a store need not.
///
/// Every member may be called from any thread. Errors leave the store as it was, unless they say
/// otherwise. `Tests/StoreContract` proves a store.
public protocol PageStore: AnyObject, Sendable {
  /// What this store is; constant while it is open.
  var identity: StoreIdentity { get }

  /// The codec that pages go through, bound to this store, if the store was opened with one.
  ///
  /// A store binds it at opening: it shows the codec what was kept for it when the store was made.
  var boundCodec: (any PageCodec)? { get }

  /// What the store keeps for its codec, as ``PageCodec/makeParameters(for:)`` gave it.
  ///
  /// Whoever keeps stored pages elsewhere, as a backup does, needs it to open them.
  var codecParameters: [UInt8] { get }

  /// The newest head, without pinning it.
  func newestHead() throws(StoreError) -> Head

  /// Pins the newest version. The pin ends when the last reference to it goes.
  func pin() throws(StoreError) -> Pin

  /// Whether what `pin`, one of this store's, holds is still the newest version; false as well when
  /// the store is closed or cannot tell.
  ///
  /// Asked at the beginning of every read: a store answers without a lock if it can.
  func isNewest(_ pin: Pin) -> Bool

  /// The stored bytes of the page at `reference`, as they went in; at least
  /// `reference.byteCount` of them.
  ///
  /// Called when the pin's base address does not reach the page. The caller guarantees that the
  /// page belongs to the version that `pin`, one of this store's, holds, or to the write that began
  /// at that version. Throws ``StoreError/damaged(_:)`` when the reference leads outside of the store.
  func read(_ reference: PageReference, at pin: Pin) throws(StoreError) -> Page

  /// How many pages the store likes to know before they are read: 0, unless it says otherwise, when it
  /// makes no use of that; constant while it is open. Of long pages fewer are announced: 16 MiB at once.
  var readAheadCount: Int { get }

  /// Says that the pages at `references` will likely be read soon through `pin`, about in this order;
  /// ``readAheadCount`` of them at most.
  ///
  /// Returns without waiting for any of them, so that a store whose pages are far away asks for all at the
  /// same time, and the reads that follow wait together instead of one after the other. A page that is
  /// announced may never be read, be read by another thread, or be announced more than once. What goes
  /// wrong is told by the read.
  func prefetch(_ references: [PageReference], at pin: Pin)

  /// Waits for the writer lock and begins a write at the newest version.
  ///
  /// Waiting writers are served about in the order of their calls, and none is passed over for long.
  /// Throws at once when the store is read only, poisoned or closed.
  func beginWrite() throws(StoreError) -> any PageWriter

  /// The same without a waiting thread: calls `then` once, in the background, when the write has begun
  /// or could not.
  ///
  /// Those who wait in either form are served in one order. Who is called may take its time, but other
  /// calls of this store may wait for it.
  func beginWrite(then: @escaping @Sendable (sending Result<any PageWriter, StoreError>) -> Void)

  /// Begins a write if nobody writes and nobody waits; nil otherwise, and where the store cannot tell or the
  /// write would have to wait for the medium first.
  func beginWriteIfFree() throws(StoreError) -> (any PageWriter)?

  /// Makes everything published so far durable; returns at once when it is.
  func sync() throws(StoreError)

  /// Makes `version`, which is published, durable, with all versions before it.
  ///
  /// Callers that wait at the same time may share one sync. Returns at once when it is durable. When
  /// it throws, the version stands for readers and may be lost with the power; after a failed sync
  /// the store is poisoned.
  func makeDurable(_ version: Version) throws(StoreError)

  /// The same without waiting: calls `then` once, with the error if there is one, in the background, or
  /// before this returns where there is nothing to wait for.
  func makeDurable(_ version: Version, then: @escaping @Sendable (StoreError?) -> Void)

  /// Waits until the newest version is above `version` or the store is closed, at most
  /// `timeoutNanoseconds`, and returns the newest version then. Commits of other processes count.
  func waitForCommit(after version: Version, timeoutNanoseconds: Int64) -> Version

  /// Looks for versions that others have committed, without waiting: calls `then` once it knows of all that
  /// were there at this call, or could not find out.
  ///
  /// In the background, or before this returns where there is nothing to ask: most stores always know.
  func lookForCommits(then: @escaping @Sendable () -> Void)

  /// What the commits were given to keep that made the versions from `first` to the one that `pin` holds,
  /// in their order.
  ///
  /// Nil when the store does not know it of all of them: it keeps what the latest commits were given,
  /// ``CommitMetadata/keptCount`` of them if it keeps any, also when it is closed and opened again, if
  /// its pages outlive it.
  func metadata(from first: Version, through pin: Pin) throws(StoreError) -> [CommitMetadata]?

  /// Whether whoever opens the store where it was opened still gets this one.
  ///
  /// False once its file was deleted, moved away or replaced; true where a store cannot tell. May ask the system. A store that is not in place refuses to begin writes with ``StoreError/moved(path:)``.
  var isInPlace: Bool { get }

  /// Sizes and pins, for people and tools.
  func statistics() throws(StoreError) -> StoreStatistics

  /// How many versions are pinned, by all users of the store; the newest one counts if it is.
  func pinnedVersionCount() throws(StoreError) -> Int

  /// Pins the newest version together with the store's own bookkeeping of it, so that the two can be
  /// compared.
  ///
  /// Keeps nobody from writing for longer than it takes to remember the books. What they say may be
  /// damaged: that is a finding, and nothing is thrown.
  func audit() throws(StoreError) -> StoreAudit

  /// Ends the store: syncs what is published, releases locks. Pages of pins that are still alive
  /// stay readable; everything else throws ``StoreError/closed(path:)`` from now on. Closing twice
  /// is allowed.
  func close() throws(StoreError)
}

extension PageStore {
  /// None: the store keeps nothing for codecs.
  public var boundCodec: (any PageCodec)? { nil }

  /// None.
  public var codecParameters: [UInt8] { [] }

  /// True: the store cannot tell.
  public var isInPlace: Bool { true }

  /// 0: the store makes no use of it.
  public var readAheadCount: Int { 0 }

  /// Does nothing.
  public func prefetch(_ references: [PageReference], at pin: Pin) {}

  /// Compares ``newestHead()`` with what is pinned.
  public func isNewest(_ pin: Pin) -> Bool {
    guard let newest = try? newestHead() else { return false }
    return newest.version == pin.head.version && newest.epoch == pin.head.epoch
  }

  /// Waits on a thread that the store's callers share.
  public func beginWrite(
    then: @escaping @Sendable (sending Result<any PageWriter, StoreError>) -> Void
  ) {
    StoreCalls.of(self).beginnings.add { [self] in
      do throws(StoreError) { then(.success(try beginWrite())) } catch { then(.failure(error)) }
    }
  }

  /// Nil: the store cannot tell.
  public func beginWriteIfFree() throws(StoreError) -> (any PageWriter)? { nil }

  /// Syncs everything.
  public func makeDurable(_ version: Version) throws(StoreError) { try sync() }

  /// Waits on a thread that the store's callers share.
  public func makeDurable(_ version: Version, then: @escaping @Sendable (StoreError?) -> Void) {
    StoreCalls.of(self).durable.add { [self] in
      do throws(StoreError) {
        try makeDurable(version)
        then(nil)
      } catch {
        then(error)
      }
    }
  }

  /// Nothing to ask.
  public func lookForCommits(then: @escaping @Sendable () -> Void) { then() }

  /// Nil: the store keeps none.
  public func metadata(
    from first: Version, through pin: Pin
  ) throws(StoreError) -> [CommitMetadata]? { nil }

  /// Counts what ``statistics()`` lists.
  public func pinnedVersionCount() throws(StoreError) -> Int {
    try statistics().pinnedVersions.count
  }
}

/// The newest version's entry: everything else hangs from it.
public struct Head: Hashable, Sendable {
  /// The commit's number; 0 for a store that was never written.
  public var version: Version
  /// Rises before the first version that is published after an opening, and survives power loss before
  /// that version is seen: so the pair (epoch, version) never names two contents, even when versions are
  /// lost with the power and their numbers given again.
  public var epoch: UInt64
  /// The catalog, a tree of keys.
  public var root: TreeRoot
  /// What of the version lies in memory and not in the store; what all of it is follows from the version.
  package var residence: Residence?

  /// Whether both are heads of the same version.
  public static func == (left: Head, right: Head) -> Bool {
    left.version == right.version && left.epoch == right.epoch && left.root == right.root
  }

  /// Takes in what tells versions apart.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(version)
    hasher.combine(epoch)
    hasher.combine(root)
  }

  /// The head of a version that hangs from `root`.
  public init(version: Version, epoch: UInt64, root: TreeRoot) {
    self.version = version
    self.epoch = epoch
    self.root = root
  }
}

/// What a commit was given to keep with the version that it made.
public struct CommitMetadata: Hashable, Sendable {
  /// The version that the commit made.
  public var version: Version
  /// The epoch in which it did.
  public var epoch: UInt64
  /// What it was given; at most 64 KiB.
  public var bytes: [UInt8]

  /// Stores keep what so many of the latest commits were given.
  public static let keptCount = 32

  /// What the commit of `version` was given.
  public init(version: Version, epoch: UInt64, bytes: [UInt8]) {
    self.version = version
    self.epoch = epoch
    self.bytes = bytes
  }
}

/// Keeps one version readable until its last reference goes.
@safe public final class Pin: Sendable {
  /// The pinned head.
  public let head: Head
  /// Where address 0 of the store lies in memory, if the store can lend its memory for as long as
  /// this pin lives.
  ///
  /// Unchecked: the memory is only read, and what `release` holds keeps it for as long as the pin.
  public nonisolated(unsafe) let base: UnsafeRawPointer?
  /// How many bytes from ``base`` may be read.
  public let readableByteCount: Int
  /// The store's own note, such as by what it tells whether ``head`` is the newest.
  public let mark: UInt64
  private let release: @Sendable () -> Void

  /// `release` is called once, from any thread, when the pin ends.
  public init(
    head: Head, base: UnsafeRawPointer? = nil, readableByteCount: Int = 0, mark: UInt64 = 0,
    release: @escaping @Sendable () -> Void
  ) {
    self.head = head
    unsafe self.base = unsafe base
    self.readableByteCount = readableByteCount
    self.mark = mark
    self.release = release
  }

  deinit { release() }
}

/// What a store is.
public struct StoreIdentity: Hashable, Sendable {
  /// The kind's name, as users write it: `file`, `memory`, `rocksdb`.
  public var kind: String
  /// Where it is, as users know it: a path or a name.
  public var path: String
  /// Never the same for two stores.
  public var uuid: (UInt64, UInt64) { (uuidHigh, uuidLow) }
  /// The file format version.
  public var formatVersion: Int
  /// The codec chain its pages go through; empty for none.
  public var codec: String
  /// Whether writes are refused.
  public var isReadOnly: Bool
  private var uuidHigh: UInt64
  private var uuidLow: UInt64

  /// Says what a store is; `uuid` is the identity's high and low half.
  public init(
    kind: String, path: String, uuid: (UInt64, UInt64), formatVersion: Int, codec: String,
    isReadOnly: Bool
  ) {
    self.kind = kind
    self.path = path
    self.formatVersion = formatVersion
    self.codec = codec
    self.isReadOnly = isReadOnly
    (uuidHigh, uuidLow) = uuid
  }
}
