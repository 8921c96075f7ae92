import CambiumCore

/// Elements, or keys of a map, in a tree by position, which are looked for by their order: leaf by leaf,
/// because what is in one leaf costs little once it was reached.
protocol TreeRows {
  var count: Int { get }
  /// Goes to the leaf with `position`; the positions of its rows.
  mutating func reach(_ position: Int) throws(StoreError) -> Range<Int>
  /// What `compare` says of a row of the leaf that was reached.
  func compared(_ position: Int, _ compare: (ColumnValue) -> Int) throws(StoreError) -> Int
}

extension TreeRows {
  /// Where the row is, or belongs, of which `compare` says 0: below 0 is said of those before it, above 0
  /// of those behind it.
  consuming func search(
    _ compare: (ColumnValue) -> Int
  ) throws(StoreError) -> (position: Int, isFound: Bool) {
    var range = 0..<count
    // Many collections are filled in their order.
    var probe = range.upperBound - 1
    while !range.isEmpty {
      let rows = try reach(probe)
      if try compared(rows.upperBound - 1, compare) < 0 {
        range = max(rows.upperBound, range.lowerBound)..<range.upperBound
      } else if rows.lowerBound > 0, try compared(rows.lowerBound, compare) > 0 {
        range = range.lowerBound..<min(rows.lowerBound, range.upperBound)
      } else {
        return try binarySearch(rows) { position throws(StoreError) in
          try compared(position, compare)
        }
      }
      probe = (range.lowerBound + range.upperBound) / 2
    }
    return (range.lowerBound, false)
  }
}

/// Rows of a tree that nobody changes.
struct StoredTreeRows: TreeRows {
  let tree: ColumnTree
  let type: ColumnType
  let isKey: Bool
  private var place: RowPosition?

  init(tree: ColumnTree, type: ColumnType, isKey: Bool) {
    self.tree = tree
    self.type = type
    self.isKey = isKey
  }

  var count: Int { tree.count }

  mutating func reach(_ position: Int) throws(StoreError) -> Range<Int> {
    guard let found = try tree.select(position) else { return position..<position + 1 }
    place = found
    let first = position - found.row
    return first..<first + found.leaf.rowCount
  }

  func compared(_ position: Int, _ compare: (ColumnValue) -> Int) throws(StoreError) -> Int {
    guard let place else { return 0 }
    let row = place.row + position - place.index
    guard isKey else {
      return try place.leaf.withCell(StoredList.elementColumn, type, row, tree, compare)
    }
    return try place.leaf.withCell(
      StoredList.keyColumn, .bytes, row, tree, isNullable: false, compare)
  }
}

/// Rows of a tree that the running transaction changes, read where they are being rebuilt.
struct OpenTreeRows: TreeRows {
  let editor: CollectionTreeEditor
  let isKey: Bool

  var count: Int { editor.count }

  func reach(_ position: Int) throws(StoreError) -> Range<Int> {
    try editor.leafRows(at: position)
  }

  func compared(_ position: Int, _ compare: (ColumnValue) -> Int) throws(StoreError) -> Int {
    compare(try editor.cell(at: position, isKey: isKey))
  }
}

/// Where in `range` the place is, or would be, of which `compare` says 0.
func binarySearch(
  _ range: Range<Int>, _ compare: (Int) throws(StoreError) -> Int
) throws(StoreError) -> (position: Int, isFound: Bool) {
  var (low, high) = (range.lowerBound, range.upperBound)
  while low < high {
    let middle = (low + high) / 2
    let comparison = try compare(middle)
    if comparison == 0 { return (middle, true) }
    if comparison < 0 { low = middle + 1 } else { high = middle }
  }
  return (low, false)
}
