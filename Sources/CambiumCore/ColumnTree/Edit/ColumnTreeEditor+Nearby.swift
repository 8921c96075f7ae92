/// Cells of rows in the leaf under the finger, once that is private: a program that changes and reads objects
/// one after another meets them there, and nothing else has to be asked.
extension ColumnTreeEditor {
  /// Names a column, and its place among the layout's columns.
  public struct PlacedColumn: Sendable {
    let id: UInt16
    let place: Int

    /// Column `id`, which is at `place` in the layout.
    public init(id: UInt16, place: Int) {
      self.id = id
      self.place = place
    }
  }

  /// Names a row, and what tells it from others that had its key before.
  public struct NearbyRow {
    let key: Int64
    let column: PlacedColumn
    let value: Int64

    /// The row of `key` whose integer in `column` is `value`.
    public init(key: Int64, _ column: PlacedColumn, is value: Int64) {
      self.key = key
      self.column = column
      self.value = value
    }
  }

  /// Replaces a cell; false, and nothing changed, unless the row is near and the new cell, a number, a truth
  /// value or null, fits in the place of the old one.
  public func updateNearby(
    _ row: NearbyRow, _ column: PlacedColumn, value: ColumnValue
  ) -> Bool {
    if let hot = unsafe hot {
      return unsafe hot._withUnsafeGuaranteedRef { builder in
        guard unsafe !builder.isPacked, let index = find(row, in: builder),
          builder.set(row: index, column, value)
        else { return false }
        unsafe finger.changeCount &+= 1
        return true
      }
    }
    guard let nearLeaf = unsafe nearLeaf else { return false }
    return unsafe nearLeaf._withUnsafeGuaranteedRef { leaf in
      guard unsafe leaf.builder == nil, let index = find(row, in: leaf.packed) else { return false }
      return LeafPatch(leaf).set(row: index, column: column.id, to: value)
    }
  }

  /// The cell in `column`; nil unless the row is near and the cell in its leaf, and no text where the leaf is
  /// packed.
  ///
  /// Bytes in it are borrowed until the editor's next call.
  public func valueNearby(_ row: NearbyRow, _ column: PlacedColumn) -> ColumnValue? {
    if let hot = unsafe hot {
      return unsafe hot._withUnsafeGuaranteedRef { builder in
        guard let index = find(row, in: builder), column.place < builder.columnCount,
          unsafe builder.columns[column.place].id == column.id,
          unsafe !builder.columns[column.place].isOverflow(index)
        else { return nil }
        return builder.value(row: index, column: column.place)
      }
    }
    guard let nearLeaf = unsafe nearLeaf else { return nil }
    return unsafe nearLeaf._withUnsafeGuaranteedRef { leaf in
      guard unsafe leaf.builder == nil, let index = find(row, in: leaf.packed) else { return nil }
      return leaf.packed.column(column.id)?.fixedValue(index)
    }
  }

  /// Where a row is in the builder under the finger.
  @inline(__always) private func find(_ row: NearbyRow, in builder: LeafBuilder) -> Int? {
    guard let keys = unsafe builder.keys, row.column.place < builder.columnCount else { return nil }
    let found = unsafe nearIndex(of: row.key, builder.rowCount, { unsafe keys[$0] }) {
      builder.lowerBound(row.key)
    }
    guard let found else { return nil }
    let column = unsafe builder.columns + row.column.place
    guard unsafe column.pointee.id == row.column.id, unsafe column.pointee.type == .int,
      unsafe column.pointee.ints[found] == row.value
    else { return nil }
    return found
  }

  /// Where a row is in the packed leaf under the finger.
  @inline(__always) private func find(_ row: NearbyRow, in leaf: ColumnLeaf) -> Int? {
    if leaf.isPositional { return nil }
    let found = nearIndex(of: row.key, leaf.rowCount, { leaf.key(at: $0) }) {
      leaf.lowerBound(row.key)
    }
    guard let found else { return nil }
    let hint = UInt16(truncatingIfNeeded: row.column.place)
    let value = LeafRow(leaf, found).cell(row.column.id, hint: hint)?.int ?? 0
    return value == row.value ? found : nil
  }

  /// Where `key` is among the keys of the leaf: where the last one was, behind it, or elsewhere.
  @inline(__always) private func nearIndex(
    of key: Int64, _ count: Int, _ keyAt: (Int) -> Int64, _ search: () -> Int
  ) -> Int? {
    var index = unsafe finger.row
    if index >= 0, unsafe finger.key == key { return index }
    index &+= 1
    if index >= count || keyAt(index) != key {
      index = search()
      guard index < count, keyAt(index) == key else { return nil }
    }
    unsafe (finger.row, finger.key) = (index, key)
    return index
  }
}

extension LeafBuilder {
  /// Replaces a cell of a fixed size; false, and nothing changed, when it or the value is none.
  fileprivate func set(
    row: Int, _ column: ColumnTreeEditor.PlacedColumn, _ value: ColumnValue
  ) -> Bool {
    let place = column.place
    guard place < columnCount, unsafe columns[place].id == column.id else { return false }
    switch unsafe (columns[place].type, value) {
    case (.int, .int), (.bool, .bool), (.float, .float), (.double, .double), (.wide, .wide): break
    case (.bytes, _): return false
    case (_, .null): if unsafe !columns[place].isNullable { return false }
    default: return false
    }
    update(row: row, column: place, value: value, overflow: nil)
    return true
  }
}

extension LeafPatch {
  /// Sets a cell of a fixed size; false, and nothing changed, when it or the value is none, or does not fit.
  fileprivate func set(row: Int, column id: UInt16, to value: ColumnValue) -> Bool {
    guard let column = leaf.column(id) else { return false }
    switch (column.type, value) {
    case (.int, .int), (.bool, .bool), (.float, .float), (.double, .double), (.wide, .wide): break
    case (.bytes, _): return false
    // Without nulls in the leaf there is no room to note one.
    case (_, .null): if !column.hasNulls { return false }
    default: return false
    }
    return set(column, row: row, value)
  }
}
