import CambiumCore

/// One run of a plan on one version.
final class QueryRun {
  private let plan: QueryPlan
  private let context: QueryContext
  private let reader: TableReader
  private let node: QueryNode

  init(
    _ plan: QueryPlan, _ view: some ReadTransaction, _ interruption: Interruption? = nil
  ) throws(StoreError) {
    try interruption?.check()
    self.plan = plan
    context = QueryContext(view, interruption)
    reader = try context.reader(plan.start)
    node = try QueryCompiler(context).compile(plan.predicate, reader)
  }

  // MARK: Finding

  /// The keys of the objects that satisfy the condition, arranged; no more than `limit`.
  func keys(limit: Int?) throws(StoreError) -> [Int64] {
    if plan.hasNoCondition, case .sort(let sortKeys)? = plan.steps.first,
      let sorted = try WholeTableSort.keys(
        sortKeys, reader, limit: plan.steps.count == 1 ? limit : nil, context.interruption)
    {
      return try arrange(sorted, plan.steps.dropFirst(), limit: limit)
    }
    let keys = try select(limit: plan.steps.isEmpty ? limit : nil)
    return try arrange(keys, plan.steps[...], limit: limit)
  }

  /// The keys that satisfy the condition, ascending; no more than `limit`.
  private func select(limit: Int?) throws(StoreError) -> [Int64] {
    if let keys = try selectByIndex(limit: limit) {
      return limit.map { Array(keys.prefix($0)) } ?? keys
    }
    guard let limit, limit < reader.count else { return try node.selectKeys() }
    return try selectFirst(limit)
  }

  /// The number of objects that satisfy the condition.
  func count() throws(StoreError) -> Int {
    if plan.hasNoCondition { return reader.count }
    if let keys = try selectByIndex(limit: nil) { return keys.count }
    if let count = try WholeTableScan.count(plan.predicate, reader, context.interruption) {
      return count
    }
    return try node.select(reader.everything(), nil).count
  }

  /// Following an index costs as much per object as testing this many rows in passing.
  private static let indexCost = 16

  private func selectByIndex(limit: Int?) throws(StoreError) -> [Int64]? {
    guard let access = try chosenIndex(limit: limit) else { return nil }
    return try filter(try access.keys(context.interruption))
  }

  /// The way to the objects through indexes and links; nil when passing by all rows is cheaper.
  private func chosenIndex(limit: Int?) throws(StoreError) -> IndexAccess? {
    guard !plan.hasNoCondition, let access = try IndexAccess.plan(plan.predicate, context),
      access.estimate <= 4 || access.estimate < reader.count / Self.indexCost
    else { return nil }
    // An index gives all of its objects: the first few of many are sooner met in passing.
    if let limit, limit < access.estimate,
      limit * (reader.count / access.estimate) < access.estimate * Self.indexCost
    {
      return nil
    }
    return access
  }

  /// How the objects are found.
  func explanation(_ schema: StoredSchema) throws(StoreError) -> QueryExplanation {
    var access = QueryExplanation.Access.all
    if let index = try chosenIndex(limit: nil) {
      access = .index(index.properties(in: schema), atMost: index.estimate)
    } else if !plan.hasNoCondition {
      access = .scan
    }
    return QueryExplanation(
      className: plan.start.name, objectCount: reader.count, access: access,
      steps: plan.steps.map { $0.text(from: plan.start) })
  }

  /// Reads windows of growing size until enough is found.
  private func selectFirst(_ limit: Int) throws(StoreError) -> [Int64] {
    var keys: [Int64] = []
    var start = 0
    var width = 4096
    while start < reader.count, keys.count < limit {
      let window = start..<min(start + width, reader.count)
      keys += try node.keys(of: try node.select(window, nil))
      start = window.upperBound
      width *= 4
    }
    return Array(keys.prefix(limit))
  }

  /// The keys of objects that exist and satisfy the condition.
  func filter(_ keys: [Int64]) throws(StoreError) -> [Int64] {
    var result: [Int64] = []
    result.reserveCapacity(keys.count)
    for key in keys {
      guard try reader.contains(key), try node.matches(key) else { continue }
      result.append(key)
    }
    return result
  }

  /// Which keys are those of objects that satisfy the condition.
  func matches(_ keys: [Int64]) throws(StoreError) -> [Bool] {
    var result: [Bool] = []
    result.reserveCapacity(keys.count)
    for key in keys {
      let exists = try reader.contains(key)
      result.append(exists ? try node.matches(key) : false)
    }
    return result
  }

  // MARK: Arranging

  /// Applies the plan's steps.
  func arrange(_ keys: [Int64]) throws(StoreError) -> [Int64] {
    try arrange(keys, plan.steps[...], limit: nil)
  }

  /// Applies steps; the last one may stop at `limit`.
  private func arrange(
    _ keys: [Int64], _ steps: ArraySlice<QueryPlan.Step>, limit: Int?
  ) throws(StoreError) -> [Int64] {
    var keys = keys
    for (index, step) in zip(steps.indices, steps) {
      switch step {
      case .sort(let sortKeys):
        // An earlier sort only breaks the ties of a later one, which sorts stably.
        let sorter = try SortColumns(sortKeys, keys, context, reader)
        let isLast = index == steps.endIndex - 1
        keys = try sorter.sorted(limit: isLast ? limit : nil, context.interruption).map { keys[$0] }
      case .distinct(let sortKeys):
        let columns = try SortColumns(sortKeys, keys, context, reader)
        keys = try columns.distinct(context.interruption).map { keys[$0] }
      }
    }
    if let limit, keys.count > limit { keys.removeSubrange(limit...) }
    return keys
  }

  // MARK: Computing

  /// Computes from a column of all objects that satisfy the condition.
  func aggregate(
    _ aggregate: QueryPath.Aggregate, of column: BoundColumn
  ) throws(StoreError) -> ColumnValue {
    if aggregate == .count { return .int(Int64(try count())) }
    if !column.isKey, let tree = reader.tree(of: column.id) {
      if let keys = try selectByIndex(limit: nil) {
        return try self.aggregate(aggregate, of: column, keys)
      }
      if plan.hasNoCondition,
        let sum = try WholeTableScan.aggregate(aggregate, column, tree, context.interruption)
      {
        return sum
      }
      let rows = plan.hasNoCondition ? nil : try node.select(reader.everything(), nil)
      return try ColumnAggregate(aggregate, column).run(tree, rows, context.interruption)
    }
    return try self.aggregate(aggregate, of: column, try select(limit: nil))
  }

  /// Computes from a column of the objects with these keys.
  func aggregate(
    _ aggregate: QueryPath.Aggregate, of column: BoundColumn, _ keys: [Int64]
  ) throws(StoreError) -> ColumnValue {
    var fold = NumberFold(aggregate, column.property)
    for key in keys {
      try reader.withValue(column, key) { value in fold.add(value) }
    }
    return fold.result
  }
}
