import CambiumCore

/// The elements of one collection in a write transaction, be it a property of a class or a column of
/// which the class knows nothing.
///
/// They stay in their owner's row while they fit there, and move to a tree of their own otherwise.
struct CollectionEditor {
  let session: WriteSession
  /// The owner's table.
  let table: TableEditor
  /// The owner's key.
  let key: Int64
  let column: UInt16
  /// What the elements are stored as.
  let type: ColumnType

  private var treeKey: WriteSession.TreeKey {
    WriteSession.TreeKey(table: table.record.id, column: column, key: key)
  }

  /// Puts elements in the place of those of `range`.
  func replace(_ range: Range<Int>, with elements: [ColumnValue]) throws(StoreError) {
    guard let tree = try openTree() else {
      return try rewrite { $0.replaceSubrange(range, with: elements) }
    }
    guard range == 0..<tree.count else { return try tree.replace(range, with: elements) }
    // The tree goes with the cell.
    try close()
    try store([])
    if !elements.isEmpty { try store(elements) }
  }

  /// The objects to which the elements link.
  func links() throws(StoreError) -> [Int64] { try elements().links() }

  /// Takes out every link to one of `targets`; the positions, ascending, where they were.
  func removeLinks(to targets: Set<Int64>) throws(StoreError) -> [Int] {
    let tree = try openTree()
    var positions: [Int] = []
    try elements().forEach { element, position in
      if let link = element.link, targets.contains(link) { positions.append(position) }
      return true
    }
    if let tree {
      for position in positions.reversed() { try tree.replace(position..<position + 1, with: []) }
    } else {
      try rewrite { $0.removeAll { $0.link.map(targets.contains) ?? false } }
    }
    return positions
  }

  /// Ends the editing of a tree of its own, so that the owner's row names it as it is now.
  func close() throws(StoreError) {
    guard let tree = session.tree(ifOpen: treeKey) else { return }
    if tree.isChanged { try session.write(tree, treeKey) }
    session.closeTree(treeKey)
  }

  // MARK: Parts

  /// The elements, borrowed until the table's next call; none where they break the format.
  private func elements() throws(StoreError) -> StoredElements {
    if let tree = session.tree(ifOpen: treeKey) { return .tree(tree.tree, type) }
    let cell = try table.editor(of: column).value(key: key, column: column) ?? .null
    return StoredElements(cell, type, session.transaction.source) ?? .none(type)
  }

  /// The collection's own tree, open for changes; nil when the elements are in the row.
  private func openTree() throws(StoreError) -> CollectionTreeEditor? {
    if let tree = session.tree(ifOpen: treeKey) { return tree }
    guard case .tree(let tree, _) = try elements() else { return nil }
    return session.openTree(treeKey, root: tree.root, type: type)
  }

  /// Stores what `change` makes of elements that are in the row.
  private func rewrite(_ change: (inout [ColumnValue]) -> Void) throws(StoreError) {
    var changed: [ColumnValue] = []
    try elements().forEach { changed.append($0) }
    change(&changed)
    try store(changed)
  }

  /// Puts elements into the row or, when they are too many for it, into a new tree.
  ///
  /// The row is not read while a tree is made, so that elements may lie in it.
  private func store(_ elements: [ColumnValue]) throws(StoreError) {
    if let form = StoredList.form(elements, type) {
      try form.withBytes { bytes throws(StoreError) in
        _ = try table.update(key: key, column: column, value: .bytes(bytes))
      }
    } else {
      let tree = session.openTree(treeKey, root: .empty(.position), type: type)
      try tree.replace(0..<0, with: elements)
    }
  }
}
