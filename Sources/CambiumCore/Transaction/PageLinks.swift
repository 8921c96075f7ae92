/// What a page is within its database, as far as it takes to find the pages below it.
enum PageRole {
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
}

/// The references in a page: where in its bytes they stand, and what they lead to.
///
/// References have one size, so that a page with other references is the same page otherwise.
struct PageLinks {
  struct Link {
    /// Where the reference begins, in bytes from the beginning of the page.
    var offset: Int
    var reference: PageReference
    var role: PageRole
  }

  private(set) var links: [Link] = []
  private let page: Page

  /// The links of `page`, which was checked; throws ``StoreError/damaged(_:)`` when it is not what its
  /// role says.
  init(_ page: Page, _ role: PageRole) throws(StoreError) {
    self.page = page
    defer { withExtendedLifetime(page) {} }
    switch role {
    case .key(let height, let isCatalog):
      let node = KeyNode(page)
      if height > 1 {
        for index in 0..<node.count {
          append(
            page.bytes + node.childCell(index), .key(height: height - 1, isCatalog: isCatalog))
        }
      } else {
        for index in 0..<node.count {
          try append(node.storedValue(index), isCatalog: isCatalog)
        }
      }
    case .column(let height):
      if height > 1 {
        let branch = ColumnBranch(page)
        for index in 0..<branch.count {
          append(
            branch.references + index * PageReference.byteCount, .column(height: height - 1))
        }
      } else {
        appendCells(ColumnLeaf(page))
      }
    case .overflow(let byteCount, let isCatalog):
      try appendPieces(byteCount: byteCount, isCatalog: isCatalog)
    }
  }

  /// Adds the reference at `pointer`, which lies in the page, unless it names nothing.
  private mutating func append(_ pointer: UnsafeRawPointer, _ role: PageRole) {
    let offset = pointer - page.bytes
    guard offset >= 0, offset + PageReference.byteCount <= page.byteCount else { return }
    let reference = PageReference(loadingFrom: pointer)
    guard !reference.isNone, !reference.isDirty else { return }
    links.append(Link(offset: offset, reference: reference, role: role))
  }

  private mutating func append(
    _ value: StoredValue, isCatalog: Bool
  ) throws(StoreError) {
    if value.isOverflow {
      append(try value.overflow(), at: value.bytes, isCatalog: isCatalog)
    } else if isCatalog {
      appendRoots(value.bytes)
    }
  }

  /// Adds the first page of a value whose stored form begins at `bytes`.
  private mutating func append(
    _ value: OverflowValue, at bytes: UnsafeRawBufferPointer, isCatalog: Bool
  ) {
    guard value.isWellFormed, let start = bytes.baseAddress else { return }
    append(
      start + OverflowValue.referenceOffset,
      .overflow(byteCount: Int(value.byteCount), isCatalog: isCatalog))
  }

  /// Adds the trees that an entry of the catalog names; those that are being given up stay where they
  /// are.
  private mutating func appendRoots(_ entry: UnsafeRawBufferPointer) {
    for offset in CatalogEntry.rootOffsets(entry) {
      append(treeAt: UnsafeRawBufferPointer(rebasing: entry[offset...]))
    }
  }

  private mutating func append(treeAt bytes: UnsafeRawBufferPointer) {
    guard let root = TreeRoot(loadingFrom: bytes), let start = bytes.baseAddress else { return }
    append(start, PageRole(root))
  }

  /// Adds what the rows of a leaf keep outside of it.
  private mutating func appendCells(_ leaf: ColumnLeaf) {
    leaf.forEachOutboardEntry { _, bytes, cell in
      let form = UnsafeRawBufferPointer(rebasing: bytes[OutboardCell.headerByteCount...])
      if let value = cell.overflow {
        append(value, at: form, isCatalog: false)
      } else {
        append(treeAt: form)
      }
    }
  }

  /// Adds what a page of a large value leads to.
  private mutating func appendPieces(byteCount: Int, isCatalog: Bool) throws(StoreError) {
    let height = OverflowValue.height(byteCount)
    if height == 0 {
      if isCatalog {
        appendRoots(
          UnsafeRawBufferPointer(start: page.bytes, count: min(byteCount, page.byteCount)))
      }
      return
    }
    let step = OverflowValue.coverage(height - 1)
    for index in 0..<(byteCount + step - 1) / step {
      let offset = index * PageReference.byteCount
      guard offset + PageReference.byteCount <= page.byteCount else {
        throw .damaged(Damage(.bounds, "an overflow page is shorter than its list"))
      }
      append(
        page.bytes + offset,
        .overflow(byteCount: min(step, byteCount - index * step), isCatalog: false))
    }
  }
}
