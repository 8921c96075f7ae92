import CambiumCore

/// The elements of a collection as they are stored: in the cell of its owner's row, or in a tree of
/// their own, which the running transaction may be changing.
///
/// Pointers: the bytes of the cell are borrowed from who has opened it, and keys are lent for the length of a
/// call. A position is below `count`.
enum StoredElements {
  case small(StoredList)
  case tree(ColumnTree, ColumnType)
  case open(CollectionTreeEditor)
  case nested(NestedElements)

  /// The elements of the collection that `cell` holds; nil when it breaks the format.
  @inline(__always) init?(_ cell: ColumnValue, _ type: ColumnType, _ source: PageSource) {
    switch cell {
    case .bytes(let bytes):
      guard let list = unsafe StoredList(bytes, type) else { return nil }
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
    case .open(let editor): editor.count
    case .nested(let nested): nested.cells.count
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
    case .open(let editor):
      try StoredElements.tree(editor.tree, editor.type).forEach(body)
    case .nested(let nested):
      for (position, cell) in nested.cells.enumerated() {
        guard try body(cell, position) else { return }
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
    case .open(let editor):
      return body(position < editor.count ? try editor.cell(at: position, isKey: false) : .null)
    case .nested(let nested):
      return body(position < nested.cells.count ? nested.cells[position] : .null)
    }
  }
}

// Keys, which maps have.
extension StoredElements {
  /// Calls `body` with the key at `position`, which is below the count.
  @inline(__always) func withKey<Result>(
    at position: Int, _ body: (UnsafeRawBufferPointer) -> Result
  ) throws(StoreError) -> Result {
    switch self {
    case .small(let list): return unsafe body(list.hasKeys ? list.key(position) : .none)
    case .tree(let tree, _):
      guard let place = try tree.select(position) else { return unsafe body(.none) }
      return try unsafe withKey(place.row, place.leaf, tree, body)
    case .open(let editor):
      guard position < editor.count,
        case .bytes(let key) = try editor.cell(at: position, isKey: true)
      else { return unsafe body(.none) }
      return unsafe body(key)
    case .nested(let nested):
      return unsafe body(position < nested.keys.count ? nested.keys[position] : .none)
    }
  }

  /// Calls `body` with each key and its position, in order, until it returns false.
  func forEachKey(_ body: (UnsafeRawBufferPointer, Int) -> Bool) throws(StoreError) {
    switch self {
    case .small(let list):
      for position in 0..<list.count {
        guard unsafe body(list.hasKeys ? list.key(position) : .none, position) else { return }
      }
    case .tree(let tree, _):
      var cursor = tree.leafCursor()
      var isValid = try cursor.first()
      while isValid {
        let (leaf, first) = (cursor.leaf, cursor.firstIndex)
        for row in 0..<leaf.rowCount {
          guard try unsafe withKey(row, leaf, tree, { unsafe body($0, first + row) }) else {
            return
          }
        }
        isValid = try cursor.next()
      }
    case .open(let editor):
      try unsafe StoredElements.tree(editor.tree, editor.type).forEachKey(body)
    case .nested(let nested):
      var iterator = unsafe nested.keys.enumerated().makeIterator()
      while let (position, key) = unsafe iterator.next() {
        guard unsafe body(key, position) else { return }
      }
    }
  }

  private func withKey<Result>(
    _ row: Int, _ leaf: ColumnLeaf, _ tree: ColumnTree,
    _ body: (UnsafeRawBufferPointer) -> Result
  ) throws(StoreError) -> Result {
    try leaf.withCell(StoredList.keyColumn, .bytes, row, tree, isNullable: false) { cell in
      if case .bytes(let bytes) = cell { unsafe body(bytes) } else { unsafe body(.none) }
    }
  }

  /// Where the element is, or belongs, of which `compare` says 0: below 0 is said of those before it,
  /// above 0 of those behind it, of elements or, with `byKey`, of keys.
  func search(
    byKey: Bool, _ compare: (ColumnValue) -> Int
  ) throws(StoreError) -> (position: Int, isFound: Bool) {
    switch self {
    case .small(let list):
      return try binarySearch(0..<list.count) { position in
        unsafe compare(byKey ? .bytes(list.hasKeys ? list.key(position) : .none) : list[position])
      }
    case .tree(let tree, let type):
      return try StoredTreeRows(tree: tree, type: type, isKey: byKey).search(compare)
    case .open(let editor):
      return try OpenTreeRows(editor: editor, isKey: byKey).search(compare)
    case .nested(let nested):
      return try binarySearch(0..<nested.cells.count) { position in
        unsafe compare(byKey ? .bytes(nested.keys[position]) : nested.cells[position])
      }
    }
  }

  /// Where the entry with that key is, or belongs.
  func search(key: UnsafeRawBufferPointer) throws(StoreError) -> (position: Int, isFound: Bool) {
    try search(byKey: true) { cell in
      if case .bytes(let bytes) = cell { unsafe BytesCondition.compare(bytes, key) } else { -1 }
    }
  }
}

// Pointers: there are no bytes that could be read.
extension UnsafeRawBufferPointer {
  /// No bytes.
  static var none: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: nil, count: 0) }
}
