import CambiumCore

/// What happened between two versions, as far as somebody asks.
///
/// Answers come from what the transactions in between have noted; where one of them is not known, the
/// trees of both versions are compared. Used by one thread at a time.
final class VersionComparison {
  /// The versions, as frozen Realms with the same classes.
  let old: RealmInstance
  let new: RealmInstance
  /// What the transactions in between have touched; nil when that is not known of all of them.
  private let touches: [TransactionTouches]?
  private var known: [UInt32: TouchedRows] = [:]

  init(_ old: RealmInstance, _ new: RealmInstance) {
    self.old = old
    self.new = new
    touches = new.coordinator.notifier.history.touches(after: old.version, through: new.version)
  }

  /// What was touched of a class.
  func rows(of storedClass: StoredClass) -> TouchedRows {
    let table = storedClass.tableID
    if let rows = known[table] { return rows }
    let rows = noted(table) ?? compared(storedClass)
    known[table] = rows
    return rows
  }

  /// What the transactions have noted of a table; nil when that is not all.
  private func noted(_ table: UInt32) -> TouchedRows? {
    guard let touches else { return nil }
    var rows = TouchedRows()
    for touches in touches {
      if let later = touches.tables[table] { rows.append(later) }
    }
    return rows.isMany ? nil : rows
  }

  private func compared(_ storedClass: StoredClass) -> TouchedRows {
    new.reading { () throws(StoreError) in
      try TouchedRows(
        comparing: old.readTable(storedClass.tableName),
        with: new.readTable(storedClass.tableName), created: storedClass.createdColumn)
    }
  }

  /// The edits of a collection in their order; nil when they are not known one by one.
  func edits(
    of storedClass: StoredClass, _ collection: TouchedRows.CollectionKey
  ) -> PositionalEdits? {
    guard touches != nil, noted(storedClass.tableID) != nil else { return nil }
    return rows(of: storedClass).edits[collection] ?? PositionalEdits()
  }
}
