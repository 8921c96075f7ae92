import CambiumCore

extension StoredElements {
  /// The objects to which the elements link.
  func links() throws(StoreError) -> [Int64] {
    var links: [Int64] = []
    try forEach { if let link = $0.link { links.append(link) } }
    return links
  }

  /// The positions, ascending, of the `count` elements that link to one of `targets`; `isSet` says that they lie in the
  /// order of what they link to.
  func positions(
    ofLinksTo targets: Set<Int64>, count: Int, isSet: Bool
  ) throws(StoreError) -> [Int] {
    var positions: [Int] = []
    if isSet, targets.count <= Self.fewTargets {
      for target in targets.sorted() {
        let (position, isFound) = try search(byKey: false) { element in
          guard let link = element.link else { return -1 }
          return link < target ? -1 : link > target ? 1 : 0
        }
        if isFound { positions.append(position) }
      }
      return positions
    }
    switch self {
    case .open(let editor):
      return try StoredElements.tree(editor.tree, editor.type)
        .positions(ofLinksTo: targets, count: count, isSet: isSet)
    case .tree(let tree, .int):
      let finder = LinkFinder(targets)
      var cursor = tree.leafCursor()
      var isValid = try cursor.first()
      while isValid, positions.count < count {
        finder.find(in: cursor.leaf, first: cursor.firstIndex, &positions)
        isValid = try cursor.next()
      }
    default:
      try forEach { element, position in
        if let link = element.link, targets.contains(link) { positions.append(position) }
        return positions.count < count
      }
    }
    return positions
  }

  /// So many at most are looked for one by one.
  fileprivate static let fewTargets = 8

  /// The objects to which a property's cell links, be it one link or a collection; nil where an element
  /// is null.
  ///
  /// A cell that breaks the format links to nothing.
  static func links(
    in cell: ColumnValue, _ source: PageSource
  ) throws(StoreError) -> [Int64?] {
    if let link = cell.link { return [link] }
    if case .null = cell { return [] }
    var links: [Int64?] = []
    try StoredElements(cell, .int, source)?.forEach { links.append($0.link) }
    return links
  }

  /// The objects that a property's cell of any type, or a collection of such values, holds.
  static func anyLinks(
    in cell: ColumnValue, _ property: Property, _ source: PageSource
  ) throws(StoreError) -> [StoredAnyLink] {
    guard property.isCollection else { return StoredAny.links(in: cell) }
    var links: [StoredAnyLink] = []
    try StoredElements(cell, .bytes, source)?.forEach { links += StoredAny.links(in: $0) }
    return links
  }
}

/// Finds links to some objects in the leaves of a collection's tree.
///
/// Pointers: the bitmap has room for the rows of the leaf at hand, which is kept by the caller.
private final class LinkFinder {
  private let targets: Set<Int64>
  /// The targets, where they are few.
  private let few: [Int64]?
  private var bitmaps = RowScratch<UInt64>()

  init(_ targets: Set<Int64>) {
    self.targets = targets
    few = targets.count <= StoredElements.fewTargets ? targets.sorted() : nil
  }

  /// Adds the positions of those in `leaf`, whose first row is at position `first`.
  func find(in leaf: ColumnLeaf, first: Int, _ positions: inout [Int]) {
    defer { withExtendedLifetime(leaf) {} }
    guard let column = leaf.column(StoredList.elementColumn), column.type == .int else { return }
    guard let few else {
      for row in 0..<leaf.rowCount where !column.isNull(row) && targets.contains(column.int(row)) {
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
