/// Copies what can be read of the trees that rows of a table own.
///
/// Elements that cannot be read are left out one by one, and reported under the row that owns them.
final class SalvageOwnedTrees {
  private let table: String
  private let source: PageSource
  private let context: WriteContext
  /// No honest tree has two owners; those of a forged one could be without end.
  private var taken: Set<PageReference> = []
  /// What is lost so far.
  private(set) var losses: [SalvageReport.Loss] = []

  /// Reads trees of rows of `table` from `source` and writes them in the transaction of `context`.
  init(table: String, source: PageSource, context: WriteContext) {
    self.table = table
    self.source = source
    self.context = context
  }

  /// Writes what can be read of the tree at `root`, which `place` says in words; returns the copy's
  /// root.
  ///
  /// Throws nothing that damage to the tree can cause.
  func copy(_ root: TreeRoot, of place: String, depth: Int = 0) throws(StoreError) -> TreeRoot {
    if root.isEmpty { return .empty(root.kind) }
    guard depth < OwnedTreeCopy.largestDepth else {
      let damage = Damage(.height, at: root.reference, "trees lie too deep within trees")
      lose("all elements", root.count, of: place, damage)
      return .empty(root.kind)
    }
    guard taken.insert(root.reference).inserted else {
      let damage = Damage(.reference, at: root.reference, "two rows own the same tree")
      lose("all elements", root.count, of: place, damage)
      return .empty(root.kind)
    }
    if root.kind == .key {
      let editor = KeyTreeEditor(root: .empty(.key), context: context)
      try KeyTree(root: root, source: source).salvage(into: editor) { keys, count, damage in
        lose(keys == "all" ? "all elements" : "elements \(keys)", count, of: place, damage)
      }
      return try editor.flush()
    }
    let tree = ColumnTree(root: root, source: source)
    let editor = ColumnTreeEditor(
      root: .empty(root.kind), layout: try tree.readableLayout(), context: context)
    try copyRows(of: tree, into: editor, place, depth)
    return try editor.flush()
  }

  private func copyRows(
    of tree: ColumnTree, into editor: ColumnTreeEditor, _ place: String, _ depth: Int
  ) throws(StoreError) {
    /// The position behind the rows so far.
    var position = 0
    try TreeWalk(tree.root, source).salvage(
      { page throws(StoreError) in
        let leaf = ColumnLeaf(page)
        let first = position
        func element(_ row: Int) -> Int64 {
          tree.isPositional ? Int64(first &+ row) : leaf.key(at: row)
        }
        let unreadable = try leaf.unreadableRows(in: source)
        let lostRows = Set(unreadable.map(\.row))
        for (row, damage) in unreadable {
          lose("element \(element(row))", 1, of: place, damage)
        }
        try editor.append(
          rowsOf: leaf, of: tree, where: { !lostRows.contains($0) },
          mapping: { row, column, root throws(StoreError) in
            let inner = "column \(column) in element \(element(row)) of \(place)"
            return try copy(root, of: inner, depth: depth + 1)
          },
          duplicate: { key throws(StoreError) in
            let damage = Damage(.order, "key \(key) occurs twice")
            lose("element \(key)", 1, of: place, damage)
          })
        position &+= leaf.rowCount
      },
      lost: { part, damage in
        lose(Self.describe(part.keys, of: tree), part.count, of: place, damage)
        position &+= part.count
      })
  }

  private static func describe(_ keys: KeySpan, of tree: ColumnTree) -> String {
    if keys == KeySpan(tree.root) { return "all elements" }
    if case .rows(let rows) = keys, rows.lowerBound == rows.upperBound { return "element \(keys)" }
    return "elements \(keys)"
  }

  private func lose(_ elements: String, _ count: Int, of place: String, _ damage: Damage) {
    losses.append(
      SalvageReport.Loss(
        name: table, keys: "\(elements) of \(place)", rowCount: nil, elementCount: count,
        reason: "\(damage)"))
  }
}

extension ColumnTree {
  /// The columns that any readable leaf stores; one is nullable if it is so in any.
  fileprivate func readableLayout() throws(StoreError) -> ColumnLayout {
    var specs: [UInt16: ColumnSpec] = [:]
    try TreeWalk(root, source).salvage(
      { page throws(StoreError) in
        let leaf = ColumnLeaf(page)
        for id in leaf.columnIDs {
          guard let column = leaf.column(id) else { continue }
          let isNullable = column.isNullable || column.hasNulls
          if specs[id] == nil {
            specs[id] = ColumnSpec(id: id, type: column.type, isNullable: isNullable)
          } else if isNullable {
            specs[id]?.isNullable = true
          }
        }
      }, lost: { _, _ in })
    return ColumnLayout(Array(specs.values))
  }
}
