extension ColumnTreeEditor {
  /// Inserts a row into the leaf under the finger, which has room.
  func insert(
    _ values: UnsafeBufferPointer<ColumnValue>, key: Int64, row: Int, into builder: LeafBuilder
  ) throws(StoreError) {
    let overflow = try unsafe overflowCells(values)
    unsafe add(values, key: key, row: row, overflow: overflow, to: builder)
  }

  /// Adds a row to the builder under the finger and counts it.
  @inline(__always) func add(
    _ values: UnsafeBufferPointer<ColumnValue>, key: Int64, row: Int, overflow: [[UInt8]?]?,
    to builder: LeafBuilder
  ) {
    unsafe builder.insert(at: row, key: key, values: values, overflow: overflow)
    noteRow(in: builder)
  }

  /// Counts a row that was added to the builder under the finger.
  @inline(__always) func noteRow(in builder: LeafBuilder) {
    noteShape()
    unsafe finger.pendingRows &+= 1
    unsafe finger.changeCount &+= 1
    unsafe root.rowCount &+= 1
    if unsafe builder.rowCount >= builder.checkAt { checkSize(builder) }
  }

  /// Forgets where rows of the leaf under the finger are.
  @inline(__always) func noteShape() {
    unsafe finger.row = -1
    rowsMoved()
  }

  /// A packed leaf takes so many appended rows before it is worth unpacking.
  private static let spliceCount = 4

  /// Inserts a row into the leaf under the finger, splitting it when it is full.
  func insert(
    _ values: UnsafeBufferPointer<ColumnValue>, key: Int64, row: Int
  ) throws(StoreError) {
    if let spliced = unsafe spliced(values, key: key, row: row) {
      if let leaf = unsafe leaf {
        leaf.adopt(spliced)
      } else {
        try makeDirty(as: DirtyLeaf(spliced, scratch: scratch))
      }
      noteShape()
      unsafe finger.pendingRows &+= 1
      unsafe finger.changeCount &+= 1
      unsafe root.rowCount &+= 1
      return
    }
    let leaf = try ownLeaf()
    let builder = try builder(of: leaf)
    if unsafe builder.isFull, isReallyFull(leaf, builder, at: row) {
      return try unsafe insertSplitting(values, key: key, row: row, leaf: leaf, builder)
    }
    try unsafe insert(values, key: key, row: row, into: builder)
  }

  /// The packed leaf under the finger with one row more, if that comes last and the encodings allow it.
  private func spliced(
    _ values: UnsafeBufferPointer<ColumnValue>, key: Int64, row: Int
  ) -> LeafSplice.Bytes? {
    guard unsafe leaf?.builder == nil, let packed = unsafe leaf?.packed ?? cleanLeaf,
      row == packed.rowCount, row < options.maximumRowCount,
      unsafe finger.changeCount < Self.spliceCount, unsafe !needsOverflow(values)
    else { return nil }
    return unsafe LeafSplice.append(
      key: key, values: values, to: packed, layout: layout, limit: options.leafByteCount)
  }

  /// Puts the first row into an empty tree.
  func insertFirst(
    _ values: UnsafeBufferPointer<ColumnValue>, key: Int64
  ) throws(StoreError) {
    let first = DirtyLeaf(builder: makeBuilder(), scratch: scratch)
    unsafe root = unsafe TreeRoot(
      reference: context.dirty.insert(first), height: 1, kind: root.kind, rowCount: 0)
    dropFinger()
    unsafe leaf = first
    unsafe finger.isSet = true
    try unsafe insert(values, key: key, row: 0, into: try builder(of: first))
  }

  /// Replaces a cell of the leaf under the finger.
  func update(row: Int, column id: UInt16, value: ColumnValue) throws(StoreError) {
    guard let index = layout.index(of: id) else {
      preconditionFailure("Column \(id) is not in the layout; add it first.")
    }
    let spec = layout.columns[index]
    check(value, spec)
    let leaf = try ownLeaf()
    var overflow: [UInt8]?
    if spec.type == .bytes {
      overflow = try self.overflow(value)
      try releaseOverflow(row: row, column: id, index: index, of: leaf, replacedBy: value)
    }
    if unsafe leaf.builder == nil,
      LeafPatch(leaf).set(row: row, spec: spec, value: value, overflow: overflow)
    {
      return
    }
    let builder = try builder(of: leaf)
    if !isPositional { unsafe hot = unsafe Unmanaged.passUnretained(builder) }
    // Who has read the packed bytes must not take them for the new ones.
    if unsafe builder.isPacked { rowsMoved() }
    builder.update(row: row, column: index, value: value, overflow: overflow)
    unsafe finger.changeCount &+= 1
    if spec.type == .bytes { checkSize(builder) }
  }

  private func check(_ value: ColumnValue, _ spec: ColumnSpec) {
    let isRight: Bool
    switch value {
    case .null: isRight = spec.isNullable
    case .int: isRight = spec.type == .int
    case .bool: isRight = spec.type == .bool
    case .float: isRight = spec.type == .float
    case .double: isRight = spec.type == .double
    case .wide: isRight = spec.type == .wide
    case .bytes, .tree: isRight = spec.type == .bytes
    }
    precondition(
      isRight,
      "Column \(spec.id) holds \(spec.type); give it values of that type, or make it nullable."
    )
  }

  /// Reads a cell of the leaf under the finger; bytes last until the next value is read.
  func value(row: Int, column id: UInt16) throws(StoreError) -> ColumnValue {
    if let builder = unsafe leaf?.builder {
      guard let index = builder.layout.index(of: id) else { return .null }
      if let cell = builder.overflowCell(row: row, column: index) { return try value(of: cell) }
      let value = builder.value(row: row, column: index)
      if case .bytes(let bytes) = value { return unsafe borrowed(bytes) }
      return value
    }
    let spec = layout.index(of: id).map { layout.columns[$0] }
    guard let packed = unsafe leaf?.packed ?? cleanLeaf else { return .null }
    guard let column = packed.column(id), spec == nil || column.type == spec?.type else {
      return spec?.defaultValue ?? .null
    }
    if let value = column.fixedValue(row) { return value }
    if column.isNull(row) { return .null }
    let cell = column.bytes(row)
    if cell.form == .inline, let bytes = unsafe cell.contiguous { return unsafe borrowed(bytes) }
    if cell.form == .inline { return unsafe cell.array.withUnsafeBytes { unsafe borrowed($0) } }
    guard let overflow = unsafe OverflowCell(cell.body) else { return .null }
    return try value(of: overflow)
  }

  private func value(of cell: OverflowCell) throws(StoreError) -> ColumnValue {
    if let root = cell.root { return .tree(root) }
    guard let value = cell.overflow else {
      throw .damaged(Damage(.encoding, "a value outside of its leaf cannot be found"))
    }
    return unsafe try value.read(from: context.source).withUnsafeBytes { unsafe borrowed($0) }
  }

  /// Removes a row of the leaf under the finger, and with it the leaf if it was the last one.
  func remove(row: Int) throws(StoreError) {
    let leaf = try ownLeaf()
    try releaseOverflow(row: row, of: leaf)
    noteShape()
    unsafe root.rowCount &-= 1
    unsafe finger.pendingRows &-= 1
    unsafe finger.changeCount &+= 1
    let builder = try builder(of: leaf)
    builder.remove(row: row)
    if unsafe builder.rowCount == 0 { return dropLeaf() }
  }

  // MARK: Values outside of the leaf

  /// Whether any value is too long for a leaf, or a tree.
  @inline(__always) func needsOverflow(_ values: UnsafeBufferPointer<ColumnValue>) -> Bool {
    var iterator = unsafe values.makeIterator()
    while let value = unsafe iterator.next() {
      switch value {
      case .bytes(let bytes): if bytes.count > options.inlineByteCount { return true }
      case .tree: return true
      default: continue
      }
    }
    return false
  }

  /// For each value what stands in the leaf in its place, if anything does; nil when none does.
  @inline(__always) func overflowCells(
    _ values: UnsafeBufferPointer<ColumnValue>
  ) throws(StoreError) -> [[UInt8]?]? {
    unsafe needsOverflow(values) ? try makeOverflowCells(values) : nil
  }

  private func makeOverflowCells(
    _ values: UnsafeBufferPointer<ColumnValue>
  ) throws(StoreError) -> [[UInt8]?] {
    var cells: [[UInt8]?] = []
    var iterator = unsafe values.enumerated().makeIterator()
    while let (index, value) = unsafe iterator.next() {
      check(value, layout.columns[index])
      cells.append(try overflow(value))
    }
    return cells
  }

  /// What stands in the leaf in place of `value`; nil when the value itself does.
  private func overflow(_ value: ColumnValue) throws(StoreError) -> [UInt8]? {
    switch value {
    case .bytes(let bytes):
      guard bytes.count > options.inlineByteCount else { return nil }
      return unsafe OverflowCell.bytes(for: try OverflowValue.write(bytes, to: context))
    case .tree(let root): return OverflowCell.bytes(for: root)
    default: return nil
    }
  }

  /// Gives back what the cells of `row` keep outside of the leaf.
  private func releaseOverflow(row: Int, of leaf: DirtyLeaf) throws(StoreError) {
    if let builder = unsafe leaf.builder {
      for index in 0..<builder.columnCount {
        if let cell = builder.overflowCell(row: row, column: index) { try release(cell) }
      }
      return
    }
    let packed = leaf.packed
    for spec in layout.columns where spec.type == .bytes {
      if let cell = Self.overflowCell(packed, row: row, column: spec.id) { try release(cell) }
    }
  }

  private func releaseOverflow(
    row: Int, column id: UInt16, index: Int, of leaf: DirtyLeaf, replacedBy value: ColumnValue
  ) throws(StoreError) {
    let cell =
      unsafe leaf.builder.map { $0.overflowCell(row: row, column: index) }
      ?? Self.overflowCell(leaf.packed, row: row, column: id)
    guard let cell else { return }
    // A tree that takes the place of a tree is what became of it: its editor freed what it replaced.
    if case .tree = value, cell.root != nil { return }
    try release(cell)
  }

  static func overflowCell(_ leaf: ColumnLeaf, row: Int, column id: UInt16) -> OverflowCell? {
    guard let column = leaf.column(id), unsafe column.overflow != nil,
      let parts = column.bytesColumn,
      parts.isOverflow(row)
    else { return nil }
    return unsafe OverflowCell(parts.entry(row))
  }

  func release(_ cell: OverflowCell) throws(StoreError) {
    if let value = cell.overflow {
      try value.free(in: context)
    } else if let root = cell.root {
      context.abandon(root: root)
    }
  }
}
