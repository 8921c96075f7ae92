import CambiumCore

/// One condition of a query in one run: bound to the tables of a version, with what it has computed
/// kept for the rows that follow.
///
/// Subclasses answer in two ways: for a window of rows at once, and for one object.
class QueryNode {
  let context: QueryContext
  /// The table of the objects that the condition is about.
  let reader: TableReader

  init(_ context: QueryContext, _ reader: TableReader) {
    self.context = context
    self.reader = reader
  }

  /// What testing one row costs, roughly in nanoseconds.
  var cost: Int { 100 }

  /// The rows of `window` that satisfy the condition.
  ///
  /// Rows missing from `candidates` may be answered either way.
  func select(
    _ window: Range<Int>, _ candidates: RowBitmap?
  ) throws(StoreError) -> RowBitmap {
    try selectByRow(window, candidates)
  }

  /// Whether the object with that key, which exists, satisfies the condition.
  func matches(_ key: Int64) throws(StoreError) -> Bool {
    preconditionFailure("every condition overrides this")
  }

  /// Tests row after row.
  final func selectByRow(
    _ window: Range<Int>, _ candidates: RowBitmap?
  ) throws(StoreError) -> RowBitmap {
    let result = RowBitmap(window)
    try forEachRow(window, candidates) { position, key throws(StoreError) in
      if try matches(key) { result.insert(position) }
    }
    return result
  }

  /// Calls `body` with the position and the key of each candidate.
  final func forEachRow(
    _ window: Range<Int>, _ candidates: RowBitmap?,
    _ body: (Int, Int64) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let tree = reader.table?.groups[0] else { return }
    var cursor = tree.leafCursor()
    var position = candidates?.next(from: window.lowerBound) ?? window.lowerBound
    if let candidates, candidates.next(from: position) == nil { return }
    var isValid = try cursor.seek(toIndex: position)
    while isValid {
      try context.interruption?.check()
      let leaf = cursor.leaf
      let end = min(cursor.firstIndex + leaf.rowCount, window.upperBound)
      while position < end {
        if candidates == nil || candidates?.contains(position) == true {
          try body(position, leaf.key(at: position - cursor.firstIndex))
        }
        position += 1
      }
      guard position < window.upperBound else { return }
      guard let candidates else {
        isValid = try cursor.next()
        continue
      }
      guard let next = candidates.next(from: position) else { return }
      // A far candidate is sought from the root, a near one is on the next leaf.
      let isFar = next >= end + leaf.rowCount
      position = next
      isValid = isFar ? try cursor.seek(toIndex: next) : try cursor.next()
    }
  }

  /// The keys of all objects that satisfy the condition, ascending.
  final func selectKeys() throws(StoreError) -> [Int64] {
    try keys(of: try select(reader.everything(), nil))
  }

  /// The keys at the positions of a bitmap.
  final func keys(of rows: RowBitmap) throws(StoreError) -> [Int64] {
    var keys: [Int64] = []
    keys.reserveCapacity(rows.count)
    try forEachRow(rows.window, rows) { _, key in keys.append(key) }
    return keys
  }
}
