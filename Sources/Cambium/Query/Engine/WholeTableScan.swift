import CambiumCore

/// Counts and adds up by one column of all objects of a class: the engine walks the leaves with hints at
/// those to come, and notes no rows.
///
/// Pointers: the constant's array lends its bytes for the length of the scan.
enum WholeTableScan {
  /// How many objects satisfy a condition; nil when this is not the way to count them.
  static func count(
    _ predicate: BoundPredicate, _ reader: TableReader, _ interruption: Interruption?
  ) throws(StoreError) -> Int? {
    guard case .value(let column, let condition) = predicate, !condition.matchesNull,
      !column.isKey, !column.isEntry, let tree = reader.tree(of: column.id)
    else { return nil }
    let spec = ColumnSpec(id: column.id, type: column.type, isNullable: column.isNullable)
    switch condition.kind {
    case .integer(.range(let range)) where column.type == .int:
      return try tree.countInts(of: spec, in: range, interruption: interruption)
    case .bytes(let condition) where condition.folding == nil && column.type == .bytes:
      guard case .equal(let bytes) = condition.kind else { return nil }
      return unsafe try bytes.withBytes { bytes throws(StoreError) in
        try unsafe tree.countBytes(of: spec, equalTo: bytes, interruption: interruption)
      }
    default: return nil
    }
  }

  /// What is computed from all objects; nil when this is not the way to do it.
  static func aggregate(
    _ aggregate: QueryPath.Aggregate, _ column: BoundColumn, _ tree: ColumnTree,
    _ interruption: Interruption?
  ) throws(StoreError) -> ColumnValue? {
    guard aggregate == .sum, !column.isEntry, column.type == .double || column.type == .float
    else { return nil }
    let spec = ColumnSpec(id: column.id, type: column.type, isNullable: column.isNullable)
    let sum = try tree.sumDoubles(of: spec, interruption: interruption)
    // Some may be no numbers, and count for nothing.
    if sum.isNaN { return nil }
    var fold = NumberFold(aggregate, column.property)
    fold.add(sum: sum, of: tree.count)
    return fold.result
  }
}
