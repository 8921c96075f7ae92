import CambiumCore

extension StoredElements {
  /// The positions, ascending, of the first `count` elements that are one of `integers`, which are numbers or links.
  ///
  /// Of some more where these lie close by. `isSet` says that all elements are in their order.
  func positions(
    of integers: Set<Int64>, count: Int, isSet: Bool = false
  ) throws(StoreError) -> [Int] {
    var positions: [Int] = []
    if isSet, integers.count <= Self.fewIntegers {
      for integer in integers.sorted() {
        let (position, isFound) = try search(byKey: false) { element in
          guard case .int(let found) = element else { return -1 }
          return found < integer ? -1 : found > integer ? 1 : 0
        }
        if isFound { positions.append(position) }
      }
      return positions
    }
    switch self {
    case .open(let editor):
      return try StoredElements.tree(editor.tree, editor.type)
        .positions(of: integers, count: count, isSet: isSet)
    case .tree(let tree, .int):
      let finder = IntegerFinder(integers)
      var cursor = tree.leafCursor()
      var isValid = try cursor.first()
      while isValid, positions.count < count {
        finder.find(in: cursor.leaf, first: cursor.firstIndex, &positions)
        isValid = try cursor.next()
      }
    default:
      try forEach { element, position in
        if case .int(let found) = element, integers.contains(found) { positions.append(position) }
        return positions.count < count
      }
    }
    return positions
  }

  /// So many at most are looked for one by one.
  fileprivate static let fewIntegers = 8
}

/// Finds some integers in the leaves of a collection's tree.
///
/// Pointers: the bitmap has room for the rows of the leaf at hand, which is kept by the caller.
private final class IntegerFinder {
  private let integers: Set<Int64>
  /// The same, where they are few.
  private let few: [Int64]?
  private var bitmaps = RowScratch<UInt64>()

  init(_ integers: Set<Int64>) {
    self.integers = integers
    few = integers.count <= StoredElements.fewIntegers ? integers.sorted() : nil
  }

  /// Adds the positions of those in `leaf`, whose first row is at position `first`.
  func find(in leaf: ColumnLeaf, first: Int, _ positions: inout [Int]) {
    defer { withExtendedLifetime(leaf) {} }
    guard let column = leaf.column(StoredList.elementColumn), column.type == .int else { return }
    guard let few else {
      for row in 0..<leaf.rowCount where !column.isNull(row) && integers.contains(column.int(row)) {
        positions.append(first + row)
      }
      return
    }
    let bitmap = unsafe bitmaps.room(column.bitmapWordCount)
    unsafe column.selectInts(anyOf: few, into: bitmap)
    for word in 0..<column.bitmapWordCount {
      var rows = unsafe bitmap[word]
      while rows != 0 {
        positions.append(first + word * 64 + rows.trailingZeroBitCount)
        rows &= rows - 1
      }
    }
  }
}
