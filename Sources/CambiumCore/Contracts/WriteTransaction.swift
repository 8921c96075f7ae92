/// A change of a database: reads its own writes, ends with a commit or leaves no trace.
///
/// ``Database/beginWrite(expecting:)`` begins one, a ``Transaction``. Belongs to one caller at a time,
/// on any thread, with everything it gives out. After an error from a changing call it can only be
/// rolled back: committing throws that error again and rolls back.
public protocol WriteTransaction: ReadTransaction {
  /// The version it began from.
  var baseVersion: Version { get }
  /// Whether neither commit nor rollback has ended it.
  var isActive: Bool { get }

  /// Makes an empty table under a name that is not in use; columns get their numbers in order.
  ///
  /// Throws ``StoreError/exhausted(what:limit:)`` for more than
  /// ``TableRecord/maximumGroupCount`` × ``TableRecord/maximumGroupWidth`` columns.
  func createTable(
    _ name: String, columns: [ColumnDescriptor], attributes: [UInt8]
  ) throws(StoreError) -> TableEditor

  /// The table under `name`, to change it; nil when there is none. Always the same editor.
  func editTable(_ name: String) throws(StoreError) -> TableEditor?

  /// The key tree under `name`, to change it; made empty when there is none. Always the same editor.
  func editKeyTree(_ name: String) throws(StoreError) -> KeyTreeEditor

  /// Keeps `bytes` under `name`, or forgets what was kept there.
  func setValue(_ name: String, _ bytes: [UInt8]?) throws(StoreError)

  /// Drops the table, key tree or value under `name`; false when there is none.
  @discardableResult
  func drop(_ name: String) throws(StoreError) -> Bool

  /// Writes changed pages ahead of the commit when they outgrow the transaction's budget.
  ///
  /// Callers that change much call it now and then; pages obtained before are no longer valid.
  func spillIfNeeded() throws(StoreError)

  /// Makes the changes the newest version and returns it.
  ///
  /// When it throws the transaction is rolled back and the old version is intact.
  func commit(durability: Durability, metadata: [UInt8]) throws(StoreError) -> Snapshot

  /// Drops all changes.
  func rollback()
}

extension WriteTransaction {
  /// Makes an empty table, of which no layer above has anything to remember.
  public func createTable(
    _ name: String, columns: [ColumnDescriptor]
  ) throws(StoreError) -> TableEditor {
    try createTable(name, columns: columns, attributes: [])
  }

  /// Makes the changes the newest version, durable as far as `durability` says, and returns it.
  public func commit(durability: Durability = .full) throws(StoreError) -> Snapshot {
    try commit(durability: durability, metadata: [])
  }
}
