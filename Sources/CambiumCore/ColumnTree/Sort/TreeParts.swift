/// A tree cut into parts of about as many rows, each of whole leaves, that are read at the same time.
struct TreeParts {
  let tree: ColumnTree
  /// Is asked at each leaf.
  let interruption: Interruption?
  /// The first row of each part, and the row behind the last one.
  private let bounds: [Int]

  /// Cuts `tree` into `count` parts; some are empty when it has fewer leaves.
  init(of tree: ColumnTree, _ count: Int, _ interruption: Interruption?) throws(StoreError) {
    self.tree = tree
    self.interruption = interruption
    var bounds = [0]
    var cursor = tree.leafCursor()
    for part in 1..<max(1, count) {
      let isValid = try cursor.seek(toIndex: tree.count / count * part)
      guard !isValid || cursor.firstIndex <= tree.count else {
        throw ColumnTree.wrongCount(tree.root.reference)
      }
      bounds.append(max(bounds[part - 1], isValid ? cursor.firstIndex : 0))
    }
    self.bounds = bounds + [tree.count]
  }

  /// How many there are.
  var count: Int { bounds.count - 1 }

  /// The places of the rows of a part.
  func rows(of part: Int) -> Range<Int> { bounds[part]..<bounds[part + 1] }

  /// Calls `body` with each leaf of a part and the place of its first row; together they have as many
  /// rows as the part.
  func forEachLeaf(
    of part: Int, reading columns: [UInt16],
    _ body: (ColumnLeaf, Int) throws(StoreError) -> Void
  ) throws(StoreError) {
    var place = bounds[part]
    let end = bounds[part + 1]
    if place == end { return }
    var cursor = tree.leafCursor(reading: columns)
    var isValid = try cursor.seek(toIndex: place)
    guard cursor.firstIndex == place else { throw ColumnTree.wrongCount(tree.root.reference) }
    while isValid, place < end {
      let leaf = cursor.leaf
      guard place + leaf.rowCount <= end else {
        throw ColumnTree.wrongCount(tree.root.reference)
      }
      try interruption?.check()
      try body(leaf, place)
      place += leaf.rowCount
      isValid = try cursor.next()
    }
    guard place == end else { throw ColumnTree.wrongCount(tree.root.reference) }
  }
}
