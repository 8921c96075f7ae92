/// What a page is within its database, as far as it takes to find the pages below it.
enum PageRole: Hashable {
  /// A node of a tree of keys, so many levels above its leaves' values; `isCatalog` when values say
  /// where other trees hang.
  case key(height: Int, isCatalog: Bool)
  /// A node of a tree of rows.
  case column(height: Int)
  /// A piece of a value of so many bytes, or a list of such pieces.
  case overflow(byteCount: Int, isCatalog: Bool)

  /// The top page of a tree.
  init(_ root: TreeRoot, isCatalog: Bool = false) {
    self =
      root.kind == .key
      ? .key(height: Int(root.height), isCatalog: isCatalog) : .column(height: Int(root.height))
  }

  var kind: PageKind {
    switch self {
    case .key(let height, _): height > 1 ? .keyBranch : .keyLeaf
    case .column(let height): height > 1 ? .columnBranch : .columnLeaf
    case .overflow: .overflow
    }
  }

  /// How many levels a node is the top of; 0 for what is no node.
  var height: Int {
    switch self {
    case .key(let height, _), .column(let height): height
    case .overflow: 0
    }
  }

  /// What the children of a branch are.
  fileprivate var child: PageRole {
    switch self {
    case .key(let height, let isCatalog): .key(height: height - 1, isCatalog: isCatalog)
    case .column(let height): .column(height: height - 1)
    case .overflow: self
    }
  }
}

/// A reference in a page, and what it leads to.
struct PageLink {
  enum Target {
    /// A child of a branch, with the rows below it.
    case child(rowCount: UInt64)
    /// A value that is too large for its leaf.
    case value(OverflowValue)
    /// A tree that a row owns or the catalog names.
    case tree(TreeRoot)
    /// A page that a list of a large value names.
    case piece
  }

  /// Which child, entry or row of the page it belongs to.
  var index: Int
  /// Where it begins, in bytes from the beginning of the page.
  var offset: Int
  var reference: PageReference
  /// What the page is that it names.
  var role: PageRole
  var target: Target
}

extension Page {
  /// Calls `visit` with each reference in this page, which was checked, in order.
  ///
  /// All who go through pages find their way here: those who walk a tree to prove, salvage or measure
  /// it, who give its pages back, and who move them. References have one size, so that a page with
  /// other references is the same page otherwise. Throws ``StoreError/damaged(_:)`` when the page is not
  /// what its role says.
  func forEachLink(
    as role: PageRole, _ visit: (PageLink) throws(StoreError) -> Void
  ) throws(StoreError) {
    defer { withExtendedLifetime(self) {} }
    switch role {
    case .key(let height, let isCatalog):
      let node = KeyNode(self)
      for index in 0..<node.count {
        if height > 1 {
          try unsafe visitChild(
            index, at: bytes + node.childCell(index), UInt64(node.childRowCount(index)), role, visit
          )
        } else {
          try visitValue(index, node.storedValue(index), isCatalog: isCatalog, visit)
        }
      }
    case .column(let height):
      if height == 1 { return try visitCells(visit) }
      let branch = ColumnBranch(self)
      for index in 0..<branch.count {
        try unsafe visitChild(
          index, at: branch.references + index * PageReference.byteCount, branch.rowCount(index),
          role, visit)
      }
    case .overflow(let byteCount, let isCatalog):
      try visitPieces(byteCount: byteCount, isCatalog: isCatalog, visit)
    }
  }

  /// All references in this page, in the order in which ``forEachLink(as:_:)`` visits them.
  func references(as role: PageRole) throws(StoreError) -> [PageReference] {
    var references: [PageReference] = []
    try forEachLink(as: role) { references.append($0.reference) }
    return references
  }

  private func visitChild(
    _ index: Int, at pointer: UnsafeRawPointer, _ rowCount: UInt64, _ role: PageRole,
    _ visit: (PageLink) throws(StoreError) -> Void
  ) throws(StoreError) {
    try unsafe visit(
      PageLink(
        index: index, offset: pointer - bytes, reference: PageReference(loadingFrom: pointer),
        role: role.child, target: .child(rowCount: rowCount)))
  }

  private func visitValue(
    _ index: Int, _ value: StoredValue, isCatalog: Bool,
    _ visit: (PageLink) throws(StoreError) -> Void
  ) throws(StoreError) {
    if value.isOverflow {
      let overflow = (try? value.overflow()) ?? OverflowValue(byteCount: 0, reference: .none)
      try unsafe visitOverflow(index, overflow, at: value.bytes, isCatalog: isCatalog, visit)
    } else if isCatalog {
      try unsafe visitRoots(index, value.bytes, visit)
    }
  }

  private func visitOverflow(
    _ index: Int, _ value: OverflowValue, at form: UnsafeRawBufferPointer, isCatalog: Bool = false,
    _ visit: (PageLink) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let start = form.baseAddress else { return }
    // What storage that rots has made of it leads nowhere; who reads the value finds that out.
    let isWhole = value.isWellFormed
    try unsafe visit(
      PageLink(
        index: index, offset: start + OverflowValue.referenceOffset - bytes,
        reference: isWhole ? value.reference : .none,
        role: .overflow(byteCount: isWhole ? Int(value.byteCount) : 0, isCatalog: isCatalog),
        target: .value(value)))
  }

  /// The trees that an entry of the catalog names; those that are being given up are not among them.
  private func visitRoots(
    _ index: Int, _ entry: UnsafeRawBufferPointer,
    _ visit: (PageLink) throws(StoreError) -> Void
  ) throws(StoreError) {
    for offset in unsafe CatalogEntry.rootOffsets(entry) {
      try unsafe visitTree(index, at: UnsafeRawBufferPointer(rebasing: entry[offset...]), visit)
    }
  }

  private func visitTree(
    _ index: Int, at form: UnsafeRawBufferPointer,
    _ visit: (PageLink) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let root = unsafe TreeRoot(loadingFrom: form), let start = form.baseAddress else {
      return
    }
    try unsafe visit(
      PageLink(
        index: index, offset: start - bytes, reference: root.reference, role: PageRole(root),
        target: .tree(root)))
  }

  /// What the rows of a leaf keep outside of it.
  private func visitCells(_ visit: (PageLink) throws(StoreError) -> Void) throws(StoreError) {
    let leaf = ColumnLeaf(self)
    for index in 0..<leaf.columnCount {
      let entry = unsafe bytes + LeafHeader.byteCount + index * LeafEntry.byteCount
      guard let column = unsafe LeafColumn(entry: entry, leaf: leaf), unsafe column.overflow != nil,
        let parts = column.bytesColumn
      else { continue }
      for row in 0..<leaf.rowCount where parts.isOverflow(row) {
        let bytes = unsafe parts.entry(row)
        guard let cell = unsafe OverflowCell(bytes) else { continue }
        let form = unsafe UnsafeRawBufferPointer(rebasing: bytes[OverflowCell.headerByteCount...])
        if let value = cell.overflow {
          try unsafe visitOverflow(row, value, at: form, visit)
        } else {
          try unsafe visitTree(row, at: form, visit)
        }
      }
    }
  }

  /// What a page of a large value leads to.
  private func visitPieces(
    byteCount: Int, isCatalog: Bool, _ visit: (PageLink) throws(StoreError) -> Void
  ) throws(StoreError) {
    let height = OverflowValue.height(byteCount)
    if height == 0 {
      if isCatalog {
        try unsafe visitRoots(
          0, UnsafeRawBufferPointer(start: bytes, count: min(byteCount, self.byteCount)), visit)
      }
      return
    }
    let step = OverflowValue.coverage(height - 1)
    for index in 0..<(byteCount + step - 1) / step {
      let offset = index * PageReference.byteCount
      guard offset + PageReference.byteCount <= self.byteCount else {
        throw .damaged(Damage(.bounds, "an overflow page is shorter than its list"))
      }
      try unsafe visit(
        PageLink(
          index: index, offset: offset, reference: PageReference(loadingFrom: bytes + offset),
          role: .overflow(byteCount: min(step, byteCount - index * step), isCatalog: false),
          target: .piece))
    }
  }
}
