import CambiumCore

/// Computes a number from a whole column, leaf by leaf.
struct ColumnAggregate {
  private let aggregate: QueryPath.Aggregate
  private let column: BoundColumn

  init(_ aggregate: QueryPath.Aggregate, _ column: BoundColumn) {
    self.aggregate = aggregate
    self.column = column
  }

  /// The number over the rows at these positions, or over all.
  ///
  /// The order in which floating-point numbers are added up is unspecified.
  func run(_ tree: ColumnTree, _ rows: RowBitmap?) throws(StoreError) -> ColumnValue {
    var fold = NumberFold(aggregate, column.property)
    var cursor = tree.leafCursor()
    var isValid = try cursor.first()
    while isValid {
      let leaf = cursor.leaf
      let first = cursor.firstIndex
      if rows?.intersects(first..<first + leaf.rowCount) ?? true {
        add(leaf, first, rows, to: &fold)
      }
      isValid = try cursor.next()
    }
    return fold.result
  }

  private func add(
    _ leaf: ColumnLeaf, _ first: Int, _ rows: RowBitmap?, to fold: inout NumberFold
  ) {
    guard let cells = leaf.column(column.id) else {
      let missing = column.defaultValue
      forEach(leaf.rowCount, first, rows) { _ in fold.add(missing) }
      return
    }
    if cells.type == .double, aggregate == .sum || aggregate == .average {
      addDoubles(cells, first, rows, to: &fold)
      return
    }
    forEach(leaf.rowCount, first, rows) { row in
      if cells.isNull(row) { return }
      switch cells.type {
      case .int: fold.add(.int(cells.int(row)))
      case .float: fold.add(.float(cells.float(row)))
      case .double: fold.add(.double(cells.double(row)))
      case .wide:
        let words = cells.wide(row)
        fold.add(.wide(low: words.low, high: words.high))
      case .bool, .bytes: break
      }
    }
  }

  /// Four sums side by side, so that one addition need not wait for the one before.
  private func addDoubles(
    _ cells: LeafColumn, _ first: Int, _ rows: RowBitmap?, to fold: inout NumberFold
  ) {
    var sums = SIMD4<Double>.zero
    var count = 0
    forEach(cells.rowCount, first, rows) { row in
      if cells.isNull(row) { return }
      sums[count & 3] += cells.double(row)
      count += 1
    }
    if count > 0 { fold.add(sum: sums.sum(), of: count) }
  }

  @inline(__always)
  private func forEach(
    _ rowCount: Int, _ first: Int, _ rows: RowBitmap?, _ body: (Int) -> Void
  ) {
    guard let rows else {
      for row in 0..<rowCount { body(row) }
      return
    }
    var next = rows.next(from: first)
    while let position = next, position < first + rowCount {
      body(position - first)
      next = rows.next(from: position + 1)
    }
  }
}
