import CambiumCore

/// What happened to the rows of one table between two versions: which came, which went, and which were
/// assigned, column by column.
///
/// An assignment of an equal value counts. A key that came and went is in both sets, whatever it was
/// before and is now.
struct TouchedRows: Sendable {
  private(set) var inserted: Set<Int64> = []
  private(set) var deleted: Set<Int64> = []
  /// The rows of which a value was assigned, by the numbers of the columns.
  private(set) var assigned: [UInt16: Set<Int64>] = [:]
  /// The edits of collections, by their columns and the keys of their owners.
  private(set) var edits: [CollectionKey: PositionalEdits] = [:]
  /// The keys that were assigned in maps, by their columns and the keys of their owners.
  private(set) var entries: [CollectionKey: Set<String>] = [:]
  /// Whether more rows were touched than are told apart; the sets say nothing then.
  private(set) var isMany = false
  /// How many keys the sets hold.
  private(set) var count = 0
  /// No more keys are told apart.
  private let limit: Int
  /// No more keys of a map are told apart; what differs is found by comparing then.
  private static let largestEntryCount = 4096
  /// How many keys are told apart of what a transaction touches in one table.
  static let largestCount = 1 << 16

  init(limit: Int = TouchedRows.largestCount) { self.limit = limit }

  /// Which collection of a table's row.
  struct CollectionKey: Hashable, Sendable {
    var column: UInt16
    var owner: Int64
  }

  var isEmpty: Bool { count == 0 && !isMany }

  mutating func insert(_ key: Int64) {
    if isMany { return }
    note(inserted.insert(key).inserted)
  }

  mutating func delete(_ key: Int64) {
    if isMany { return }
    note(deleted.insert(key).inserted)
  }

  mutating func assign(_ column: UInt16, _ key: Int64) {
    if isMany { return }
    note(assigned[column, default: []].insert(key).inserted)
  }

  mutating func edit(_ collection: CollectionKey, _ change: (inout PositionalEdits) -> Void) {
    assign(collection.column, collection.owner)
    if isMany { return }
    change(&edits[collection, default: PositionalEdits()])
  }

  /// Notes a key of a map that was assigned, or whose entry was taken out.
  mutating func assign(_ key: String, of map: CollectionKey) {
    assign(map.column, map.owner)
    if isMany { return }
    entries[map, default: []].insert(key)
    limitEntries(of: map)
  }

  /// Notes keys of a map that were assigned, or whose entries were taken out.
  mutating func assign(_ keys: some Collection<String>, of map: CollectionKey) {
    assign(map.column, map.owner)
    if isMany { return }
    guard keys.count <= Self.largestEntryCount else {
      entries[map] = nil
      return
    }
    entries[map, default: []].formUnion(keys)
    limitEntries(of: map)
  }

  private mutating func limitEntries(of map: CollectionKey) {
    if entries[map]?.count ?? 0 > Self.largestEntryCount { entries[map] = nil }
  }

  /// Forgets which rows were touched: they were too many.
  mutating func becomeMany() {
    (inserted, deleted, assigned, edits, entries, count, isMany) = (
      [], [], [:], [:], [:], 0, true
    )
  }

  /// Adds what happened after this.
  mutating func append(_ later: TouchedRows) {
    if isMany { return }
    if later.isMany { return becomeMany() }
    inserted.formUnion(later.inserted)
    deleted.formUnion(later.deleted)
    assigned.merge(later.assigned) { $0.union($1) }
    edits.merge(later.edits) { earlier, later in
      var edits = earlier
      edits.append(later)
      return edits
    }
    for (map, keys) in later.entries {
      entries[map, default: []].formUnion(keys)
      limitEntries(of: map)
    }
    count = inserted.count + deleted.count + assigned.values.reduce(0) { $0 + $1.count }
    if count > limit { becomeMany() }
  }

  /// Whether a row was deleted, and another object may have its key now.
  func isReplaced(_ key: Int64) -> Bool { deleted.contains(key) && inserted.contains(key) }

  private mutating func note(_ isNew: Bool) {
    if isNew { count += 1 }
    if count > limit { becomeMany() }
  }
}

extension TouchedRows {
  /// What differs between two versions of a table, however much; equal assignments do not show, nor do
  /// single edits of collections.
  init(comparing old: Table?, with new: Table?, created: UInt16) throws(StoreError) {
    self.init(limit: .max)
    let count = max(old?.groups.count ?? 0, new?.groups.count ?? 0)
    for group in 0..<count {
      try compare(old?.group(group), new?.group(group), isFirst: group == 0, created)
    }
  }

  private mutating func compare(
    _ old: ColumnTree?, _ new: ColumnTree?, isFirst: Bool, _ created: UInt16
  ) throws(StoreError) {
    guard let some = old ?? new else { return }
    let none = ColumnTree(root: .empty(some.root.kind), source: some.source)
    var rows = self
    try ColumnTree.diff(old: old ?? none, new: new ?? none) { difference throws(StoreError) in
      switch difference {
      // Rows are in all groups: the first one tells which there are.
      case .inserted(let row): if isFirst { rows.insert(row.key) }
      case .removed(let row): if isFirst { rows.delete(row.key) }
      case .modified(let before, let row):
        let columns = row.changedColumns(from: before)
        if columns.contains(created) {
          rows.delete(row.key)
          rows.insert(row.key)
        } else {
          for column in columns { rows.assign(column, row.key) }
        }
      }
    }
    self = rows
  }
}

extension Table {
  fileprivate func group(_ index: Int) -> ColumnTree? {
    index < groups.count ? groups[index] : nil
  }
}
