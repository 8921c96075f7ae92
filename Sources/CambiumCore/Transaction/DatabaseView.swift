/// One version of a database as somebody sees it: a snapshot, or a transaction with its own changes.
public protocol DatabaseView: AnyObject {
  /// The version that is seen; for a transaction the one it is making.
  var version: Version { get }
  /// Reads this version's pages.
  var source: PageSource { get }
  /// Rises with each transaction that makes or drops tables or changes what describes them: their
  /// columns, and what layers above remember of tables and columns.
  ///
  /// Two versions of the same number describe their tables alike, whoever has committed between them;
  /// looking it up costs a descent in the catalog and allocates nothing. In a transaction it counts
  /// the transaction's own changes from the moment when they are flushed.
  func layoutGeneration() throws(StoreError) -> UInt64
  /// The table under `name`; nil when there is none.
  func table(_ name: String) throws(StoreError) -> Table?
  /// The key tree under `name`; nil when there is none.
  func keyTree(_ name: String) throws(StoreError) -> KeyTree?
  /// The bytes kept under `name`; nil when there are none.
  func value(_ name: String) throws(StoreError) -> [UInt8]?
  /// All names that begin with `prefix`, in byte order.
  func names(withPrefix prefix: String) throws(StoreError) -> [String]
}
