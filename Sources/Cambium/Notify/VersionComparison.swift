import CambiumCore

/// What happened between two versions, as far as somebody asks.
///
/// Answers come from what the transactions in between have noted, in this process or with their commits;
/// where one of them is not known, the trees of both versions are compared. Used by one thread at a time.
final class VersionComparison {
  /// The versions, as frozen Realms with the same classes.
  let old: RealmInstance
  let new: RealmInstance
  /// What the transactions in between have touched; nil when that is not known of all of them.
  private let touches: [TransactionTouches]?
  /// Whether some of it was read from the store, which may hold anything.
  private let isRecorded: Bool
  private var known: [UInt32: TouchedRows] = [:]

  init(_ old: RealmInstance, _ new: RealmInstance) {
    self.old = old
    self.new = new
    (touches, isRecorded) = Self.touches(from: old.version, to: new)
  }

  private static func touches(
    from old: Version, to new: RealmInstance
  ) -> ([TransactionTouches]?, isRecorded: Bool) {
    let known = new.coordinator.notifier.history.touches(after: old, through: new.version)
    let versions = old + 1..<new.version + 1
    if known.count == versions.count { return (versions.compactMap { known[$0] }, false) }
    guard let first = versions.first(where: { known[$0] == nil }),
      let recorded = try? new.coordinator.database.metadata(
        from: first, through: new.currentSnapshot)
    else { return (nil, false) }
    var touches = versions.prefix { $0 < first }.compactMap { known[$0] }
    for commit in recorded {
      guard let some = known[commit.version] ?? TouchRecord(commit.bytes)?.touches else {
        return (nil, false)
      }
      touches.append(some)
    }
    return (touches, true)
  }

  /// What was touched of a class.
  func rows(of storedClass: StoredClass) -> TouchedRows {
    let table = storedClass.tableID
    if let rows = known[table] { return rows }
    var rows = noted(storedClass) ?? compared(storedClass)
    rows.keepSets()
    known[table] = rows
    return rows
  }

  /// What the transactions have noted of a table; nil when that is not all.
  private func noted(_ storedClass: StoredClass) -> TouchedRows? {
    guard let touches else { return nil }
    var rows = TouchedRows()
    for touches in touches {
      if let later = touches.tables[storedClass.tableID] { rows.append(later) }
    }
    return rows.isMany || isRecorded && !isPossible(rows, storedClass) ? nil : rows
  }

  /// Whether as many objects came and went as both versions say.
  private func isPossible(_ rows: TouchedRows, _ storedClass: StoredClass) -> Bool {
    let (before, after) = (
      old.anyAccess(named: storedClass.name), new.anyAccess(named: storedClass.name)
    )
    var difference = (after?.currentTable()?.count ?? 0) - (before?.currentTable()?.count ?? 0)
    for key in rows.inserted.union(rows.deleted) {
      if before?.creation(of: key) != nil { difference += 1 }
      if after?.creation(of: key) != nil { difference -= 1 }
    }
    return difference == 0
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
    guard touches != nil, noted(storedClass) != nil else { return nil }
    return rows(of: storedClass).edits[collection] ?? PositionalEdits()
  }
}
