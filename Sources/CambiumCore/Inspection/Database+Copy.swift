extension Database {
  /// Writes the newest version of this database into `destination`, which must be empty.
  ///
  /// Trees are rebuilt row by row with full pages, so that the copy is as small as it can be; all
  /// names, keys, column numbers and values are the same. Dead roots and old versions stay behind.
  /// `progress` is called now and then with the number of rows copied so far.
  public func copy(
    to destination: Database, progress: (Int) -> Void = { _ in }
  ) throws(StoreError) {
    try destination.fill(with: try snapshot(), progress: progress)
  }

  /// Writes what `view` sees, a version of another database or a transaction with its changes, into
  /// this one, which must be empty; the same as ``copy(to:progress:)`` otherwise.
  ///
  /// Nobody may change a transaction meanwhile.
  public func fill(
    with view: some ReadTransaction, progress: (Int) -> Void = { _ in }
  ) throws(StoreError) {
    let transaction = try beginWrite()
    transaction.storesPages = true
    do throws(StoreError) {
      try transaction.copyContents(of: view, progress: progress)
    } catch {
      transaction.rollback()
      throw error
    }
    _ = try transaction.commit(durability: .full)
  }
}

extension ReadTransaction {
  /// How many rows and keys there are under all names, which is what a copy of them counts.
  ///
  /// Pointers: none is followed to count the keys of a tree; their number stands in its root.
  package func rowCount() throws(StoreError) -> Int {
    var count = 0
    for name in try names(withPrefix: "") {
      if let table = try table(name) {
        count += table.count
      } else if let tree = try keyTree(name) {
        unsafe count += tree.count
      }
    }
    return count
  }
}

extension Transaction {
  fileprivate func copyContents(
    of view: some ReadTransaction, progress: (Int) -> Void
  ) throws(StoreError) {
    var rowCount = 0
    for name in try view.names(withPrefix: "") {
      if let table = try view.table(name) {
        try adoptTable(name, table) { progress(rowCount + $0) }
        rowCount += table.count
      } else if let tree = try view.keyTree(name) {
        try editKeyTree(name).append(contentsOf: tree) { progress(rowCount + $0) }
        unsafe rowCount += tree.count
      } else if let bytes = try view.value(name) {
        try setValue(name, bytes)
      }
      progress(rowCount)
      try spillIfNeeded()
    }
    let next = try view.catalog.nextTableNumber()
    if next > 1 { try adoptNextTableNumber(next) }
  }
}

/// Copies trees that rows own, of which the catalog knows nothing.
struct OwnedTreeCopy {
  /// Where the trees are read.
  let source: PageSource
  /// Where they are written.
  let context: WriteContext

  /// No honest row owns trees within trees that deep.
  static let largestDepth = 256

  /// Writes the tree at `root` anew and returns the copy's root.
  func copy(_ root: TreeRoot, depth: Int = 0) throws(StoreError) -> TreeRoot {
    if root.isEmpty { return root }
    guard depth < Self.largestDepth else {
      throw .damaged(Damage(.height, at: root.reference, "trees lie too deep within trees"))
    }
    if root.kind == .key {
      let editor = KeyTreeEditor(root: .empty(.key), context: context)
      try editor.append(contentsOf: KeyTree(root: root, source: source))
      return try editor.flush()
    }
    let tree = ColumnTree(root: root, source: source)
    let editor = ColumnTreeEditor(
      root: .empty(root.kind), layout: try tree.storedLayout(), context: context)
    try editor.append(
      contentsOf: tree, mapping: { root throws(StoreError) in try copy(root, depth: depth + 1) })
    return try editor.flush()
  }
}

extension ColumnTree {
  /// The columns that any leaf stores.
  ///
  /// A column whose every cell is its default is not among them.
  func storedLayout() throws(StoreError) -> ColumnLayout {
    var specs: [UInt16: ColumnSpec] = [:]
    var cursor = leafCursor()
    var isValid = try cursor.first()
    while isValid {
      for id in cursor.leaf.columnIDs where specs[id] == nil {
        guard let column = cursor.leaf.column(id) else { continue }
        specs[id] = ColumnSpec(id: id, type: column.type, isNullable: column.isNullable)
      }
      isValid = try cursor.next()
    }
    return ColumnLayout(Array(specs.values))
  }
}
