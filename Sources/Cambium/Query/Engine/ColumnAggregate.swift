import CambiumCore

/// Computes a number from a whole column, leaf by leaf.
///
/// Pointers: a selection lies on the stack, with a word for every 64 rows of the leaf; the rows to
/// choose from are a bitmap of the whole table.
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
  func run(
    _ tree: ColumnTree, _ rows: RowBitmap?, _ interruption: Interruption?
  ) throws(StoreError) -> ColumnValue {
    var fold = NumberFold(aggregate, column.property)
    var cursor = tree.leafCursor()
    var isValid = try cursor.first()
    while isValid {
      try interruption?.check()
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
    switch cells.type {
    case .int, .float, .double:
      guard let rows else { return unsafe add(cells, selection: nil, to: &fold) }
      unsafe withUnsafeTemporaryAllocation(of: UInt64.self, capacity: cells.bitmapWordCount) {
        bits in
        guard let base = bits.baseAddress else { return }
        unsafe rows.copy(first..<first + cells.rowCount, into: base)
        unsafe add(cells, selection: base, to: &fold)
      }
    case .wide:
      forEach(leaf.rowCount, first, rows) { row in
        if cells.isNull(row) { return }
        let words = cells.wide(row)
        fold.add(.wide(low: words.low, high: words.high))
      }
    case .bool, .bytes: break
    }
  }

  /// Adds the numbers of a leaf with its kernels.
  private func add(
    _ cells: LeafColumn, selection: UnsafePointer<UInt64>?, to fold: inout NumberFold
  ) {
    let isInteger = cells.type == .int
    switch aggregate {
    case .minimum, .maximum:
      if isInteger, let range = unsafe cells.extremeInts(selection: selection) {
        fold.add(.int(aggregate == .minimum ? range.lowerBound : range.upperBound))
      } else if !isInteger, let range = unsafe cells.extremeDoubles(selection: selection) {
        let number = aggregate == .minimum ? range.lowerBound : range.upperBound
        fold.add(cells.type == .float ? .float(Float(number)) : .double(number))
      }
    case .sum, .average, .count:
      let count = unsafe cells.countRows(selection: selection)
      if isInteger {
        unsafe fold.add(sum: cells.sumInts(selection: selection), of: count)
      } else {
        let sum = unsafe cells.sumDoubles(selection: selection)
        if sum.isNaN {
          unsafe addEach(cells, selection, to: &fold)
        } else {
          fold.add(sum: sum, of: count)
        }
      }
    }
  }

  /// Adds the floating-point numbers of a leaf one by one: some are none.
  private func addEach(
    _ cells: LeafColumn, _ selection: UnsafePointer<UInt64>?, to fold: inout NumberFold
  ) {
    for row in 0..<cells.rowCount {
      if let selection = unsafe selection,
        unsafe selection[row / 64] >> UInt64(row % 64) & 1 == 0
      {
        continue
      }
      if let value = cells.fixedValue(row) { fold.add(value) }
    }
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
