import CambiumCore

/// The order in which a plan gives the objects of its class, for two of them at a time.
///
/// ``SortColumns`` sorts many objects into the same order.
struct RowOrder: Sendable {
  private let start: StoredClass
  /// What decides comes first; where all are equal, the objects' keys decide.
  private let keys: [(column: BoundColumn, order: CellOrder, isAscending: Bool)]

  /// Nil for plans that leave objects out by comparing them, or that sort by what lies behind links or in maps.
  init?(_ plan: QueryPlan) {
    start = plan.start
    var sortKeys: [SortKey] = []
    // A later sort decides before an earlier one.
    for step in plan.steps.reversed() {
      guard case .sort(let keys) = step else { return nil }
      sortKeys += keys
    }
    guard sortKeys.allSatisfy({ $0.links.isEmpty && !$0.column.isEntry }) else { return nil }
    keys = sortKeys.map { ($0.column, CellOrder($0.column.property), $0.isAscending) }
  }

  /// Finds the places of objects in one version.
  ///
  /// Used by one thread at a time.
  struct Search {
    private let order: RowOrder
    /// The table twice, as each remembers where it was: for the object that is looked for, and for those
    /// it is compared with.
    private let wanted: TableReader
    private let others: TableReader

    init(_ order: RowOrder, in view: some ReadTransaction) throws(StoreError) {
      self.order = order
      wanted = try QueryContext(view).reader(order.start)
      others = try QueryContext(view).reader(order.start)
    }

    /// The place of an element; nil when it is none.
    func position(of key: Int64, in keys: KeySequence) throws(StoreError) -> Int? {
      let isThere = order.keys.isEmpty ? true : try wanted.contains(key)
      guard isThere else { return nil }
      let position = try gap(for: key, in: keys)
      return position < keys.count && keys[position] == key ? position : nil
    }

    /// How many of the elements are before an object.
    func gap(for key: Int64, in keys: KeySequence) throws(StoreError) -> Int {
      try keys.partition { other throws(StoreError) in try isBefore(other, key) }
    }

    private func isBefore(_ other: Int64, _ key: Int64) throws(StoreError) -> Bool {
      for (column, order, isAscending) in order.keys {
        let result = try others.withValue(column, other) { other throws(StoreError) -> Int in
          try wanted.withValue(column, key) { value in order.compare(other, value) }
        }
        if result != 0 { return (result < 0) == isAscending }
      }
      return other < key
    }
  }
}
