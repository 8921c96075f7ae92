/// One version of a database as somebody sees it: a snapshot, or a transaction with its own changes.
public protocol DatabaseView: AnyObject {
  /// The version that is seen; for a transaction the one it is making.
  var version: Version { get }
  /// Reads this version's pages.
  var source: PageSource { get }
  /// The table under `name`; nil when there is none.
  func table(_ name: String) throws(StoreError) -> Table?
  /// The key tree under `name`; nil when there is none.
  func keyTree(_ name: String) throws(StoreError) -> KeyTree?
  /// The bytes kept under `name`; nil when there are none.
  func value(_ name: String) throws(StoreError) -> [UInt8]?
  /// All names that begin with `prefix`, in byte order.
  func names(withPrefix prefix: String) throws(StoreError) -> [String]
}
