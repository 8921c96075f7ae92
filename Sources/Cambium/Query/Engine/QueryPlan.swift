import CambiumCore

/// What a live collection asks of its class's objects: a condition, and how the objects that satisfy
/// it are arranged.
///
/// A plan belongs to no version and may be run on any thread, on any version of a Realm with the
/// schema it was bound to. The arrangement applies after the whole condition, in the order in which
/// its steps were added.
package struct QueryPlan: Sendable, Hashable {
  /// One step of the arrangement.
  package enum Step: Sendable, Hashable {
    /// Sorts, keeping the order of what compares equal.
    case sort([SortKey])
    /// Keeps the first object of each combination of values.
    case distinct([SortKey])
  }

  /// The class of the objects.
  package let start: StoredClass
  /// The condition.
  package private(set) var predicate: BoundPredicate
  /// The arrangement.
  package private(set) var steps: [Step] = []

  /// All objects of a class, in the order of their keys.
  package init(_ start: StoredClass) {
    self.start = start
    predicate = .always(true)
  }

  /// Adds a condition to those there are.
  package func filtered(_ condition: BoundPredicate) -> QueryPlan {
    var plan = self
    switch predicate {
    case .always(true): plan.predicate = condition.joined
    case .and(let parts): plan.predicate = BoundPredicate.and(parts + [condition]).joined
    default: plan.predicate = BoundPredicate.and([predicate, condition]).joined
    }
    return plan
  }

  /// Adds a step to the arrangement.
  package func arranged(_ step: Step) -> QueryPlan {
    var plan = self
    switch step {
    case .sort(let keys), .distinct(let keys):
      if !keys.isEmpty { plan.steps.append(step) }
    }
    return plan
  }

  /// Whether the plan has no condition: every object is in.
  package var hasNoCondition: Bool {
    if case .always(true) = predicate { true } else { false }
  }

  /// Whether the plan is all objects in the order of their keys, so that the table itself can be
  /// read in its place.
  package var isWholeTable: Bool { hasNoCondition && steps.isEmpty }

  private var hasDistinct: Bool {
    steps.contains { if case .distinct = $0 { true } else { false } }
  }

  // MARK: Running
  //
  // Each throws `StoreError.interrupted` when its interruption asks for it.

  /// The keys of the objects, arranged.
  package func keys(
    in view: some ReadTransaction, _ interruption: Interruption? = nil
  ) throws(StoreError) -> [Int64] {
    try QueryRun(self, view, interruption).keys(limit: nil)
  }

  /// The keys of the first objects, at most `limit` of them; sorts and reads no more than they need.
  package func first(
    _ limit: Int, in view: some ReadTransaction, _ interruption: Interruption? = nil
  ) throws(StoreError) -> [Int64] {
    try QueryRun(self, view, interruption).keys(limit: limit)
  }

  /// The number of objects.
  package func count(
    in view: some ReadTransaction, _ interruption: Interruption? = nil
  ) throws(StoreError) -> Int {
    let run = try QueryRun(self, view, interruption)
    guard !hasDistinct else {
      return try run.keys(limit: nil).count
    }
    return try run.count()
  }

  /// How the objects are found and arranged.
  func explanation(
    in view: some ReadTransaction, _ schema: StoredSchema
  ) throws(StoreError) -> QueryExplanation {
    try QueryRun(self, view).explanation(schema)
  }

  /// The keys of `base` that satisfy the condition, arranged; without steps the order and the
  /// duplicates of `base` stay.
  package func keys(
    among base: [Int64], in view: some ReadTransaction, _ interruption: Interruption? = nil
  ) throws(StoreError) -> [Int64] {
    let run = try QueryRun(self, view, interruption)
    return try run.arrange(try run.filter(base))
  }

  /// Which of `keys` exist and satisfy the condition, one answer for each.
  package func matches(
    _ keys: [Int64], in view: some ReadTransaction, _ interruption: Interruption? = nil
  ) throws(StoreError) -> [Bool] {
    try QueryRun(self, view, interruption).matches(keys)
  }

  /// Computes a number from a property of the objects with these keys; null where nothing can be
  /// computed.
  ///
  /// For text and identifiers only `count` is meaningful.
  package func aggregate(
    _ aggregate: QueryPath.Aggregate, of property: Int, in view: some ReadTransaction,
    _ interruption: Interruption? = nil
  ) throws(StoreError) -> ColumnValue {
    let run = try QueryRun(self, view, interruption)
    let column = start.boundColumn(property)
    guard !hasDistinct else {
      let keys = try run.keys(limit: nil)
      return try run.aggregate(aggregate, of: column, keys)
    }
    return try run.aggregate(aggregate, of: column)
  }

  /// Computes a number from a property of the objects with these keys.
  package func aggregate(
    _ aggregate: QueryPath.Aggregate, of property: Int, among base: [Int64],
    in view: some ReadTransaction, _ interruption: Interruption? = nil
  ) throws(StoreError) -> ColumnValue {
    let run = try QueryRun(self, view, interruption)
    let keys = try run.arrange(try run.filter(base))
    return try run.aggregate(aggregate, of: start.boundColumn(property), keys)
  }
}
