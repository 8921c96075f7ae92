import CambiumCore

/// The elements of a collection as they are stored: in the cell of its owner's row, or in a tree of
/// their own.
///
/// Borrows the cell's bytes.
enum StoredElements {
  case small(StoredList)
  case tree(ColumnTree, ColumnType)

  /// The elements of the collection that `cell` holds; nil when it breaks the format.
  @inline(__always) init?(_ cell: ColumnValue, _ type: ColumnType, _ source: PageSource) {
    switch cell {
    case .bytes(let bytes):
      guard let list = StoredList(bytes, type) else { return nil }
      self = .small(list)
    case .tree(let root): self = .tree(ColumnTree(root: root, source: source), type)
    default: self = .none(type)
    }
  }

  /// No elements.
  static func none(_ type: ColumnType) -> StoredElements { .small(StoredList(emptyOf: type)) }

  /// How many elements there are.
  @inline(__always) var count: Int {
    switch self {
    case .small(let list): list.count
    case .tree(let tree, _): tree.count
    }
  }

  /// Calls `body` with each element and its position, in order, until it returns false.
  @inline(__always) func forEach(
    _ body: (ColumnValue, Int) throws(StoreError) -> Bool
  ) throws(StoreError) {
    switch self {
    case .small(let list):
      for position in 0..<list.count {
        guard try body(list[position], position) else { return }
      }
    case .tree(let tree, let type):
      var failure: StoreError?
      var cursor = tree.leafCursor()
      var isValid = try cursor.first()
      while isValid {
        let leaf = cursor.leaf
        // Rows without a reference to count: the leaf keeps their page.
        defer { withExtendedLifetime(leaf) {} }
        let (first, firstRow) = (cursor.firstIndex, LeafRow(leaf, 0))
        for row in 0..<leaf.rowCount {
          let goesOn = try firstRow.moved(to: row).withCell(
            StoredList.elementColumn, hint: 0, type, tree, isNullable: true
          ) { cell in
            do throws(StoreError) {
              return try body(cell, first + row)
            } catch {
              failure = error
              return false
            }
          }
          guard goesOn else {
            if let failure { throw failure }
            return
          }
        }
        isValid = try cursor.next()
      }
    }
  }

  /// Calls `body` with each element, in order.
  @inline(__always) func forEach(
    _ body: (ColumnValue) throws(StoreError) -> Void
  ) throws(StoreError) {
    try forEach { element, _ throws(StoreError) in
      try body(element)
      return true
    }
  }

  /// Calls `body` with the element at `position`; with null when there is none.
  @inline(__always) func withElement<Result>(
    at position: Int, _ body: (ColumnValue) -> Result
  ) throws(StoreError) -> Result {
    switch self {
    case .small(let list): return body(position < list.count ? list[position] : .null)
    case .tree(let tree, let type):
      guard let place = try tree.select(position) else { return body(.null) }
      return try place.leaf.withCell(StoredList.elementColumn, type, place.row, tree, body)
    }
  }
}

extension StoredElements {
  /// The objects to which the elements link.
  func links() throws(StoreError) -> [Int64] {
    var links: [Int64] = []
    try forEach { if let link = $0.link { links.append(link) } }
    return links
  }

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
}
