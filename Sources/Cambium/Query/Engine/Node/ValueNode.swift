import CambiumCore

/// A condition on a column.
final class ValueNode: QueryNode {
  // Unchecked: a range's upper bound is made no less than its lower one.
  private let column: BoundColumn
  private let condition: ValueCondition

  init(
    _ context: QueryContext, _ reader: TableReader, _ column: BoundColumn,
    _ condition: ValueCondition
  ) {
    self.column = column
    self.condition = condition
    super.init(context, reader)
  }

  override var cost: Int {
    switch condition.kind {
    case .none, .all, .bool: 1
    case .integer, .floating: 2
    case .wide: 4
    case .decimal: 20
    case .any: 200
    case .bytes(let condition): condition.folding == nil ? 8 : 60
    }
  }

  override func select(
    _ window: Range<Int>, _ candidates: RowBitmap?
  ) throws(StoreError) -> RowBitmap {
    if column.isKey { return try selectKeys(window, candidates) }
    guard let tree = reader.tree(of: column.id) else { return try selectDefault(window) }
    let scan = ColumnScan(
      condition, defaultMatches: condition.matches(column.defaultValue), tree,
      context.interruption)
    return try scan.run(column.id, window, candidates)
  }

  override func matches(_ key: Int64) throws(StoreError) -> Bool {
    try reader.withValue(column, key) { value in condition.matches(value) }
  }

  /// A column that no row of this version has yet.
  private func selectDefault(_ window: Range<Int>) throws(StoreError) -> RowBitmap {
    RowBitmap(window, filled: condition.matches(column.defaultValue))
  }

  /// The column is the object's key, and rows lie in the order of keys.
  private func selectKeys(
    _ window: Range<Int>, _ candidates: RowBitmap?
  ) throws(StoreError) -> RowBitmap {
    guard case .integer(let condition) = condition.kind, let tree = reader.table?.groups[0] else {
      if case .all = condition.kind { return RowBitmap(window, filled: true) }
      return RowBitmap(window)
    }
    switch condition {
    case .range(let range), .outside(let range):
      let lower = try tree.rank(of: range.lowerBound)
      let upper =
        range.upperBound == .max ? tree.count : try tree.rank(of: range.upperBound + 1)
      let result = RowBitmap(window)
      for position in unsafe Range(uncheckedBounds: (lower, max(lower, upper))).clamped(to: window)
      {
        result.insert(position)
      }
      if case .outside = condition { result.invert() }
      return result
    case .set: return try selectByRow(window, candidates)
    }
  }
}

/// The object is one of a set.
final class KeysNode: QueryNode {
  private let keys: IntegerSet

  init(_ context: QueryContext, _ reader: TableReader, _ keys: IntegerSet) {
    self.keys = keys
    super.init(context, reader)
  }

  override var cost: Int { 1 }

  override func select(
    _ window: Range<Int>, _ candidates: RowBitmap?
  ) throws(StoreError) -> RowBitmap {
    guard keys.count < window.count / 64, let tree = reader.table?.groups[0] else {
      return try selectByRow(window, candidates)
    }
    let result = RowBitmap(window)
    for key in keys.sorted where try reader.contains(key) {
      result.insert(try tree.rank(of: key))
    }
    return result
  }

  override func matches(_ key: Int64) throws(StoreError) -> Bool { keys.contains(key) }
}
