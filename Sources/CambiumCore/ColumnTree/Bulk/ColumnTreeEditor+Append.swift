extension ColumnTreeEditor {
  /// Changed pages are written when so many bytes of them have piled up while all rows are touched.
  static let spillByteCount = 32 << 20

  /// Appends all rows of `other`, streaming, so that leaves come out full: what compaction does.
  ///
  /// In trees with keys the keys of `other` must be above all present ones. Columns are taken by
  /// id; those the layout lacks are left out. Values in overflow pages are written anew. `mapping`
  /// gives for each tree that a row owns the root of its copy. `progress` is called with the rows
  /// done so far, after each leaf.
  public func append(
    contentsOf other: ColumnTree,
    mapping: (TreeRoot) throws(StoreError) -> TreeRoot,
    progress: (Int) -> Void = { _ in }
  ) throws(StoreError) {
    precondition(other.isPositional == isPositional, "Both trees have keys, or neither.")
    try context.change { () throws(StoreError) in
      var cursor = other.leafCursor()
      guard try cursor.first() else { return }
      repeat {
        let leaf = cursor.leaf
        try append(
          rowsOf: leaf, of: other, mapping: { _, _, root throws(StoreError) in try mapping(root) },
          duplicate: { key throws(StoreError) in
            throw .damaged(Damage(.order, "key \(key) occurs twice"))
          })
        progress(cursor.firstIndex + leaf.rowCount)
      } while try cursor.next()
    }
  }

  /// Appends the rows of one leaf of `other` that are kept, as ``append(contentsOf:mapping:progress:)``
  /// does.
  ///
  /// `isKept` is asked with the row's place in the leaf, `mapping` with that and the column whose cell
  /// the tree is; `duplicate` is called with each key that is there already.
  func append(
    rowsOf leaf: ColumnLeaf, of other: ColumnTree, where isKept: (Int) -> Bool = { _ in true },
    mapping: (Int, UInt16, TreeRoot) throws(StoreError) -> TreeRoot,
    duplicate: (Int64) throws(StoreError) -> Void
  ) throws(StoreError) {
    var row = RowBuffer(columnCount: layout.columns.count)
    let columns = layout.columns.map { spec -> LeafColumn? in
      leaf.column(spec).flatMap { spec.isNullable || !$0.hasNulls ? $0 : nil }
    }
    let parts = columns.map { $0?.bytesColumn }
    for index in 0..<leaf.rowCount {
      if !isKept(index) { continue }
      row.reset()
      for (place, spec) in layout.columns.enumerated() {
        guard let column = columns[place] else {
          row.set(place, spec.defaultValue)
          continue
        }
        if let parts = parts[place] {
          try row.set(place, parts.cell(index), other) { root throws(StoreError) in
            try mapping(index, spec.id, root)
          }
        } else {
          row.set(place, column.fixedValue(index) ?? .null)
        }
      }
      let values = unsafe UnsafeBufferPointer(row.values)
      if isPositional {
        try unsafe insert(at: count, values: values)
      } else {
        let key = leaf.key(at: index)
        if try unsafe !insert(key: key, values: values) { try duplicate(key) }
      }
    }
    if unsafe context.dirty.byteCount > Self.spillByteCount { _ = try flush() }
  }
}

/// A row on its way from one tree to another.
///
/// Pointers: its memory is freed in the deinit, pieces also when the next row begins. `values` has a place
/// for each column of the layout. Values that lie in one piece stay in the leaf that is copied, whose cursor
/// outlives the row.
@safe private struct RowBuffer: ~Copyable {
  let values: UnsafeMutableBufferPointer<ColumnValue>
  /// Values that do not lie in one piece in their page.
  private var pieces: [UnsafeMutableRawBufferPointer] = unsafe []

  init(columnCount: Int) {
    unsafe values = .allocate(capacity: columnCount)
    unsafe values.initialize(repeating: .null)
  }

  deinit {
    unsafe pieces.forEach { unsafe $0.deallocate() }
    unsafe values.deallocate()
  }

  /// Forgets the row.
  mutating func reset() {
    if unsafe pieces.isEmpty { return }
    unsafe pieces.forEach { unsafe $0.deallocate() }
    unsafe pieces.removeAll(keepingCapacity: true)
  }

  @inline(__always) func set(_ place: Int, _ value: ColumnValue) { unsafe values[place] = value }

  mutating func set(
    _ place: Int, _ cell: BytesCell, _ tree: ColumnTree,
    _ mapping: (TreeRoot) throws(StoreError) -> TreeRoot
  ) throws(StoreError) {
    switch cell.form {
    case .null: unsafe values[place] = .null
    case .inline:
      if let bytes = unsafe cell.contiguous {
        unsafe values[place] = unsafe .bytes(bytes)
      } else {
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: cell.count, alignment: 1)
        if let start = piece.baseAddress { unsafe cell.copy(to: start) }
        unsafe pieces.append(piece)
        unsafe values[place] = unsafe .bytes(UnsafeRawBufferPointer(piece))
      }
    case .overflow:
      let bytes = try tree.bytes(of: cell) ?? []
      let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
      unsafe piece.copyBytes(from: bytes)
      unsafe pieces.append(piece)
      unsafe values[place] = unsafe .bytes(UnsafeRawBufferPointer(piece))
    case .tree:
      guard let root = cell.tree else {
        throw .damaged(Damage(.encoding, "a row's own tree cannot be found"))
      }
      unsafe values[place] = .tree(try mapping(root))
    }
  }
}
