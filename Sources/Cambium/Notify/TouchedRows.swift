import CambiumCore

/// What happened to the rows of one table between two versions: which came, which went, and which were
/// assigned, column by column.
///
/// An assignment of an equal value counts. A key that came and went is in both sets, whatever it was
/// before and is now.
struct TouchedRows: Sendable {
  private(set) var insertedKeys = TouchedKeys()
  private(set) var deletedKeys = TouchedKeys()
  /// The rows of which a value was assigned, by the numbers of the columns.
  private(set) var assignedKeys: [UInt16: TouchedKeys] = [:]
  /// The edits of collections, by their columns and the keys of their owners.
  private(set) var edits: [CollectionKey: PositionalEdits] = [:]
  /// The keys that were assigned in maps, by their columns and the keys of their owners.
  private(set) var entries: [CollectionKey: Set<ExactText>] = [:]
  /// Whether more rows were touched than are told apart; the sets say nothing then.
  private(set) var isMany = false
  /// How many keys were noted, some perhaps more than once.
  private var notedCount = 0
  /// When it has to be looked whether they are too many.
  private var checkedCount: Int
  /// No more keys are told apart.
  private let limit: Int
  /// No more keys of a map are told apart; what differs is found by comparing then.
  private static let largestEntryCount = 4096
  /// How many keys are told apart of what a transaction touches in one table.
  static let largestCount = 1 << 16

  init(limit: Int = TouchedRows.largestCount) {
    self.limit = limit
    checkedCount = limit
  }

  /// Which collection of a table's row.
  struct CollectionKey: Hashable, Sendable {
    var column: UInt16
    var owner: Int64
  }

  var isEmpty: Bool { notedCount == 0 && !isMany }

  /// The rows that came.
  var inserted: Set<Int64> { insertedKeys.set }
  /// The rows that went.
  var deleted: Set<Int64> { deletedKeys.set }

  /// The rows of which a value in `column` was assigned.
  func assigned(_ column: UInt16) -> Set<Int64> { assignedKeys[column]?.set ?? [] }

  /// The rows of which any value was assigned.
  var assigned: Set<Int64> { assignedKeys.values.reduce(into: []) { $0.formUnion($1.set) } }

  /// How many keys are told apart.
  var count: Int {
    assignedKeys.values.reduce(insertedKeys.sorted.count + deletedKeys.sorted.count) {
      $0 + $1.sorted.count
    }
  }

  mutating func insert(_ key: Int64) {
    if isMany { return }
    insertedKeys.append(key)
    note()
  }

  mutating func delete(_ key: Int64) {
    if isMany { return }
    deletedKeys.append(key)
    note()
  }

  mutating func assign(_ column: UInt16, _ key: Int64) {
    if isMany { return }
    assignedKeys[column, default: TouchedKeys()].append(key)
    note()
  }

  /// Makes the sets, for many who will ask for them.
  mutating func keepSets() {
    insertedKeys.keepSet()
    deletedKeys.keepSet()
    for column in assignedKeys.keys { assignedKeys[column]?.keepSet() }
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
    entries[map, default: []].insert(ExactText(key))
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
    entries[map, default: []].formUnion(keys.lazy.map(ExactText.init))
    limitEntries(of: map)
  }

  private mutating func limitEntries(of map: CollectionKey) {
    if entries[map]?.count ?? 0 > Self.largestEntryCount { entries[map] = nil }
  }

  /// Forgets which rows were touched: they were too many.
  mutating func becomeMany() {
    (insertedKeys, deletedKeys, assignedKeys) = (TouchedKeys(), TouchedKeys(), [:])
    (edits, entries, isMany) = ([:], [:], true)
  }

  /// Adds what happened after this.
  mutating func append(_ later: TouchedRows) {
    if isMany { return }
    if later.isMany { return becomeMany() }
    insertedKeys.append(contentsOf: later.insertedKeys)
    deletedKeys.append(contentsOf: later.deletedKeys)
    for (column, keys) in later.assignedKeys {
      assignedKeys[column, default: TouchedKeys()].append(contentsOf: keys)
    }
    edits.merge(later.edits) { earlier, later in
      var edits = earlier
      edits.append(later)
      return edits
    }
    for (map, keys) in later.entries {
      entries[map, default: []].formUnion(keys)
      limitEntries(of: map)
    }
    notedCount += later.notedCount
    if notedCount > checkedCount { checkCount() }
  }

  /// Whether a row was deleted, and another object may have its key now.
  func isReplaced(_ key: Int64) -> Bool { deleted.contains(key) && inserted.contains(key) }

  @inline(__always) private mutating func note() {
    notedCount += 1
    if notedCount > checkedCount { checkCount() }
  }

  /// Looks whether too many rows were touched, or the same ones again and again.
  private mutating func checkCount() {
    insertedKeys.compact()
    deletedKeys.compact()
    for column in assignedKeys.keys { assignedKeys[column]?.compact() }
    notedCount = count
    if notedCount > limit { return becomeMany() }
    // So that each look is paid for by as many notes.
    checkedCount = max(limit, 2 * notedCount)
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
