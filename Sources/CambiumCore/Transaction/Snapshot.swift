import Synchronization

/// One committed version, readable from any thread until the last reference to it goes.
///
/// Holding a snapshot keeps the pages it can reach, and only those, from being used again.
public final class Snapshot: DatabaseView, Sendable {
  /// The version that is seen.
  public let version: Version
  /// Rises when the store recovers; (epoch, version) never repeats.
  public let epoch: UInt64
  /// Reads this version's pages.
  public let source: PageSource
  let pin: Pin
  let catalog: Catalog
  private let tables = Mutex<[ExactName: Table]>([:])

  init(pin: Pin, source: PageSource) {
    self.pin = pin
    version = pin.head.version
    epoch = pin.head.epoch
    self.source = source
    catalog = Catalog(tree: KeyTree(root: pin.head.root, source: source))
  }

  /// Rises with each transaction that makes or drops tables or changes what describes them.
  public func layoutGeneration() throws(StoreError) -> UInt64 { try catalog.layoutGeneration() }

  /// The table under `name`; nil when there is none.
  ///
  /// Descriptions are read once.
  public func table(_ name: String) throws(StoreError) -> Table? {
    if let known = tables.withLock({ $0[ExactName(name)] }) { return known }
    guard let table = try catalog.table(name) else { return nil }
    tables.withLock { $0[ExactName(name)] = table }
    return table
  }

  /// The key tree under `name`; nil when there is none.
  public func keyTree(_ name: String) throws(StoreError) -> KeyTree? { try catalog.keyTree(name) }

  /// The bytes kept under `name`; nil when there are none.
  public func value(_ name: String) throws(StoreError) -> [UInt8]? { try catalog.value(name) }

  /// All names that begin with `prefix`, in byte order.
  public func names(withPrefix prefix: String) throws(StoreError) -> [String] {
    try catalog.names(withPrefix: prefix)
  }
}
