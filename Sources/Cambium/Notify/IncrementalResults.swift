import CambiumCore

/// Follows what a query gives from one version to a later one by looking only at the objects that were
/// touched: each has its place found by binary search, before and after.
///
/// For queries of all objects of a class whose condition and order read columns of that class and
/// nothing behind links; others are evaluated anew.
struct IncrementalResults {
  private let plan: QueryPlan
  /// The columns that the condition and the order read.
  private let columns: Set<UInt16>
  private let order: RowOrder
  /// Of more touched objects than one in so many, the whole query costs less.
  private static let largestShare = 64

  /// Nil for queries that have to be evaluated anew.
  init?(_ identity: ResultsCore.Identity) {
    guard case .all = identity.source, let plan = identity.plan, let order = RowOrder(plan) else {
      return nil
    }
    var dependencies = QueryDependencies()
    plan.insertDependencies(into: &dependencies)
    guard !dependencies.followsLinks else { return nil }
    self.plan = plan
    columns = dependencies.columns[plan.start.name] ?? []
    self.order = order
  }

  /// How `keys`, the elements in `old`, changed until `new`; nil where evaluating anew costs less.
  ///
  /// `rows` is what was touched of the class, and `modified` which elements count as modified.
  func changes(
    of keys: KeySequence, _ rows: TouchedRows, _ modified: Set<Int64>,
    from old: some ReadTransaction, to new: some ReadTransaction
  ) throws(StoreError) -> (ChangeSet, KeySequence)? {
    var touched = rows.inserted.union(rows.deleted)
    for column in columns { touched.formUnion(rows.assigned(column)) }
    guard touched.count <= keys.count / Self.largestShare + 16 else { return nil }

    let before = try RowOrder.Search(order, in: old)
    let after = try RowOrder.Search(order, in: new)
    // Those that were elements, by their old positions.
    var left: [(position: Int, key: Int64)] = []
    for key in touched {
      if let position = try before.position(of: key, in: keys) { left.append((position, key)) }
    }
    left.sort { $0.position < $1.position }
    var remaining = keys
    remaining.remove(at: left.map(\.position))
    // Those that are elements, each with the number of untouched elements before it.
    var came: [(position: Int, key: Int64)] = []
    for key in try plan.keys(among: touched.sorted(), in: new) {
      came.append((try after.gap(for: key, in: remaining), key))
    }
    let stayed = Self.stayed(left, came, rows)
    var changes = ChangeSet()
    for (place, element) in left.enumerated() where !stayed.old.contains(place) {
      changes.deletions.append(element.position)
    }
    for (place, element) in came.enumerated() where !stayed.new.contains(place) {
      changes.insertions.append(element.position + place)
    }
    changes.modifications = try modifications(modified, keys, before, gone: changes.deletions)
    remaining.insert(came)
    return (changes, remaining)
  }

  /// Which of the touched elements kept their places among the others, by their places in both lists.
  private static func stayed(
    _ left: [(position: Int, key: Int64)], _ came: [(position: Int, key: Int64)],
    _ rows: TouchedRows
  ) -> (old: Set<Int>, new: Set<Int>) {
    let places = Dictionary(uniqueKeysWithValues: came.enumerated().map { ($1.key, $0) })
    var stayed: (old: Set<Int>, new: Set<Int>) = ([], [])
    var last = -1
    for (place, element) in left.enumerated() {
      // Untouched elements kept their order: so did who has the same number of them before it.
      guard !rows.isReplaced(element.key), let found = places[element.key], found > last,
        came[found].position == element.position - place
      else { continue }
      stayed.old.insert(place)
      stayed.new.insert(found)
      last = found
    }
    return stayed
  }

  /// The old positions of modified elements that stayed, ascending.
  private func modifications(
    _ modified: Set<Int64>, _ keys: KeySequence, _ before: RowOrder.Search, gone: [Int]
  ) throws(StoreError) -> [Int] {
    var positions: [Int] = []
    if modified.count > keys.count / Self.largestShare + 16 {
      let array = keys.array
      for position in array.indices where modified.contains(array[position]) {
        positions.append(position)
      }
    } else {
      for key in modified {
        if let position = try before.position(of: key, in: keys) { positions.append(position) }
      }
      positions.sort()
    }
    if gone.isEmpty { return positions }
    let gone = Set(gone)
    return positions.filter { !gone.contains($0) }
  }
}
