import Synchronization

/// One committed version, readable from any thread until the last reference to it goes.
///
/// Holding a snapshot keeps the pages it can reach, and only those, from being used again. Each thread
/// takes its own tables and trees from it, which costs next to nothing.
public final class Snapshot: ReadTransaction, Sendable {
  /// The version that is seen.
  public let version: Version
  /// Rises with the first write after the store was opened; (epoch, version) never names two contents.
  public let epoch: UInt64
  /// Reads this version's pages.
  public var source: PageSource { unsafe pages }
  /// Unchecked: a snapshot's source never changes.
  private nonisolated(unsafe) let pages: PageSource
  let pin: Pin
  /// When it was pinned, where somebody listens.
  private let start = DatabaseEvents.now
  private let tables = Mutex<[ExactText: KnownTable]>([:])
  /// What the database knows of the newest version's tables; nil where nobody looks twice.
  private let cache: TableCache?

  /// Unchecked: its trees read through the snapshot's source.
  private struct KnownTable: @unchecked Sendable {
    let table: Table
  }

  init(pin: Pin, source: PageSource, cache: TableCache? = nil) {
    self.cache = cache
    self.pin = pin
    version = pin.head.version
    epoch = pin.head.epoch
    unsafe pages = source
  }

  deinit {
    DatabaseEvents.tell(since: start, source.store.identity.path) {
      .versionReleased(version: version, ageNanoseconds: $0)
    }
  }

  /// The names of this version.
  public var catalog: Catalog { Catalog(tree: KeyTree(root: pin.head.root, source: source)) }

  /// The table under `name`; nil when there is none.
  ///
  /// Descriptions are read once.
  public func table(_ name: String) throws(StoreError) -> Table? {
    if let known = cache?.entry(name, in: pin.head) { return known.table(source) }
    if let known = tables.withLock({ $0[ExactText(name)] }) { return known.table }
    guard let table = try catalog.table(name) else { return nil }
    let known = KnownTable(table: table)
    tables.withLock { $0[ExactText(name)] = known }
    cache?.note(TableCache.Entry(table), name, in: pin.head)
    return table
  }
}
