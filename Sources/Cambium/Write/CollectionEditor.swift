import CambiumCore

/// Changes the elements of a collection in a write transaction.
protocol ElementEditor {
  /// Puts elements, of a map with as many keys, in the place of those of `range`.
  func replace(
    _ range: Range<Int>, with elements: [ColumnValue], keys: [ColumnValue]?
  ) throws(StoreError)
  /// Assigns elements, which in a map keep their keys.
  func assign(_ elements: [(position: Int, element: ColumnValue)]) throws(StoreError)
  /// Puts an element in, of a map with its key.
  func insert(_ element: ColumnValue, key: ColumnValue?, at position: Int) throws(StoreError)
}

extension ElementEditor {
  func insert(_ element: ColumnValue, key: ColumnValue?, at position: Int) throws(StoreError) {
    try replace(position..<position, with: [element], keys: key.map { [$0] })
  }

  /// Assigns an element, which in a map keeps its key.
  func assign(_ element: ColumnValue, at position: Int) throws(StoreError) {
    try assign([(position, element)])
  }

  /// Puts elements of no map in the place of those of `range`.
  func replace(_ range: Range<Int>, with elements: [ColumnValue]) throws(StoreError) {
    try replace(range, with: elements, keys: nil)
  }
}

/// The elements of one collection in a write transaction, be it a property of a class or a column of
/// which the class knows nothing.
///
/// They stay in their owner's row while they fit there, and move to a tree of their own otherwise.
///
/// Pointers: elements and keys that lie in the row are borrowed until the table's next call, which is
/// the one that stores them.
struct CollectionEditor: ElementEditor {
  let session: WriteSession
  /// The owner's table.
  let table: TableEditor
  /// The owner's key.
  let key: Int64
  let column: UInt16
  /// What the elements are stored as.
  let type: ColumnType

  /// Whether it is a map.
  let hasKeys: Bool

  private var treeKey: WriteSession.TreeKey {
    WriteSession.TreeKey(table: table.record.id, column: column, key: key)
  }

  /// Puts elements, of a map with as many keys, in the place of those of `range`.
  func replace(
    _ range: Range<Int>, with elements: [ColumnValue], keys: [ColumnValue]?
  ) throws(StoreError) {
    guard let tree = try openTree() else {
      return try rewrite { entries in
        entries.elements.replaceSubrange(range, with: elements)
        if let keys { entries.keys?.replaceSubrange(range, with: keys) }
      }
    }
    guard range == 0..<tree.count else {
      return try tree.replace(range, with: elements, keys: keys)
    }
    // The tree goes with the cell.
    try close()
    try store(Entries(elements: [], keys: nil))
    if !elements.isEmpty { try store(Entries(elements: elements, keys: keys)) }
  }

  /// Puts an element in, of a map with its key.
  func insert(_ element: ColumnValue, key: ColumnValue?, at position: Int) throws(StoreError) {
    if let tree = try openTree() { return try tree.insert(element, key: key, at: position) }
    try replace(position..<position, with: [element], keys: key.map { [$0] })
  }

  /// Assigns elements, which in a map keep their keys.
  func assign(_ elements: [(position: Int, element: ColumnValue)]) throws(StoreError) {
    if let tree = try openTree() {
      for (position, element) in elements { try tree.assign(element, at: position) }
      return
    }
    try rewrite { entries in
      for (position, element) in elements { entries.elements[position] = element }
    }
  }

  /// Calls `body` with each element, in order.
  func forEach(_ body: (ColumnValue) -> Void) throws(StoreError) {
    try elements().forEach { body($0) }
  }

  /// Takes every link to one of `targets` out of values of any type, with null in their places in a map and
  /// in dictionaries; the positions, ascending, of elements that were removed, and of those that changed.
  func removeLinks(
    to targets: Set<StoredAnyLink>
  ) throws(StoreError) -> (removed: [Int], changed: [Int]) {
    var removed: [Int] = []
    var changed: [(position: Int, value: StoredAny)] = []
    try elements().forEach { cell, position in
      if let link = StoredAnyLink(cell) {
        guard targets.contains(link) else { return true }
        if hasKeys { changed.append((position, .none)) } else { removed.append(position) }
      } else if !StoredAny.links(in: cell).isEmpty, var value = StoredAny(cell),
        value.removeLinks(to: targets)
      {
        changed.append((position, value))
      }
      return true
    }
    for (position, value) in changed {
      try value.withStoreCell { cell throws(StoreError) in try assign([(position, cell)]) }
    }
    for position in removed.reversed() { try replace(position..<position + 1, with: []) }
    return (removed, changed.map(\.position))
  }

  /// Takes the `count` links to `targets` out, or makes them null in a map; the positions, ascending, where they were.
  func removeLinks(
    to targets: Set<Int64>, count: Int, isSet: Bool
  ) throws(StoreError) -> [Int] {
    let tree = try openTree()
    let positions = try elements().positions(of: targets, count: count, isSet: isSet)
    if hasKeys {
      try assign(positions.map { ($0, .null) })
    } else if let tree {
      for position in positions.reversed() {
        try tree.replace(position..<position + 1, with: [], keys: nil)
      }
    } else {
      try rewrite { $0.elements.removeAll { $0.link.map(targets.contains) ?? false } }
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

  /// What is stored, in order.
  private struct Entries {
    var elements: [ColumnValue]
    /// Of a map.
    var keys: [ColumnValue]?
  }

  /// The elements, borrowed until the table's next call; none where they break the format.
  private func elements() throws(StoreError) -> StoredElements {
    if let tree = session.tree(ifOpen: treeKey) { return .open(tree) }
    let cell = try table.editor(of: column).value(key: key, column: column) ?? .null
    return StoredElements(cell, type, session.transaction.source) ?? .none(type)
  }

  /// The collection's own tree, open for changes; nil when the elements are in the row.
  private func openTree() throws(StoreError) -> CollectionTreeEditor? {
    if let tree = session.tree(ifOpen: treeKey) { return tree }
    guard case .tree(let tree, _) = try elements() else { return nil }
    return session.openTree(treeKey, root: tree.root, type: type, hasKeys: hasKeys)
  }

  /// Stores what `change` makes of elements that are in the row.
  private func rewrite(_ change: (inout Entries) -> Void) throws(StoreError) {
    var entries = Entries(elements: [], keys: hasKeys ? [] : nil)
    let stored = try elements()
    try stored.forEach { entries.elements.append($0) }
    if hasKeys {
      // Those of a row stay valid until the table's next call.
      try unsafe stored.forEachKey { key, _ in
        unsafe entries.keys?.append(.bytes(key))
        return true
      }
    }
    change(&entries)
    try store(entries)
  }

  /// Puts elements into the row or, when they are too many for it, into a new tree.
  ///
  /// The row is not read while a tree is made, so that elements may lie in it.
  private func store(_ entries: Entries) throws(StoreError) {
    if let form = StoredList.form(entries.elements, keys: entries.keys, type) {
      try unsafe form.withBytes { bytes throws(StoreError) in
        _ = try unsafe table.update(key: key, column: column, value: .bytes(bytes))
      }
    } else {
      let tree = session.openTree(
        treeKey, root: .empty(.position), type: type, hasKeys: hasKeys)
      try tree.replace(0..<0, with: entries.elements, keys: entries.keys)
    }
  }
}
