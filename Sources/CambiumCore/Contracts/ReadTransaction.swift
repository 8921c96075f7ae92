/// One version of a database as its reader sees it: a committed one, which is a ``Snapshot``, or the one
/// that a ``WriteTransaction`` is making, with its changes.
///
/// Whoever only reads takes `some ReadTransaction` and serves both. What it gives out (trees, tables,
/// pages) belongs to its user: of a snapshot to any thread that asks for it, of a write transaction to
/// that transaction's.
public protocol ReadTransaction: AnyObject {
  /// The version that is read; for a write transaction the one it is making.
  var version: Version { get }
  /// Reads this version's pages.
  var source: PageSource { get }
  /// The names of this version, and what hangs under them.
  var catalog: Catalog { get }
  /// The table under `name`; nil when there is none.
  func table(_ name: String) throws(StoreError) -> Table?
  /// The key tree under `name`; nil when there is none.
  func keyTree(_ name: String) throws(StoreError) -> KeyTree?
}

extension ReadTransaction {
  /// The key tree under `name`; nil when there is none.
  public func keyTree(_ name: String) throws(StoreError) -> KeyTree? { try catalog.keyTree(name) }

  /// The bytes kept under `name`; nil when there are none.
  public func value(_ name: String) throws(StoreError) -> [UInt8]? { try catalog.value(name) }

  /// All names that begin with `prefix`, in byte order.
  public func names(withPrefix prefix: String) throws(StoreError) -> [String] {
    try catalog.names(withPrefix: prefix)
  }

  /// Rises with each transaction that makes or drops tables or changes what describes them: their
  /// columns, and what layers above remember of tables and columns.
  ///
  /// Two versions of the same number describe their tables alike, whoever has committed between them;
  /// looking it up costs a descent in the catalog and allocates nothing. In a write transaction it
  /// counts the transaction's own changes from the moment when they are flushed.
  public func layoutGeneration() throws(StoreError) -> UInt64 { try catalog.layoutGeneration() }
}
