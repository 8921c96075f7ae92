import CambiumCore

extension ColumnLeaf {
  /// Calls `body` with one cell, whatever its type; values kept elsewhere are fetched through `tree`.
  ///
  /// A column that the leaf lacks holds its default: null when `isNullable`, otherwise zero or empty.
  func withCell<Result>(
    _ id: UInt16, _ type: ColumnType, _ row: Int, _ tree: ColumnTree, isNullable: Bool = true,
    _ body: (ColumnValue) -> Result
  ) throws(StoreError) -> Result {
    guard let column = column(id) else {
      return body(isNullable ? .null : .zero(type))
    }
    if column.isNull(row) { return body(.null) }
    switch type {
    case .int: return body(.int(column.int(row)))
    case .bool: return body(.bool(column.bool(row)))
    case .float: return body(.float(column.float(row)))
    case .double: return body(.double(column.double(row)))
    case .wide:
      let words = column.wide(row)
      return body(.wide(low: words.low, high: words.high))
    case .bytes:
      let cell = column.bytes(row)
      switch cell.form {
      case .null: return body(.null)
      case .inline: return cell.withBytes { body(.bytes($0)) }
      case .tree: return body(cell.tree.map { .tree($0) } ?? .null)
      case .overflow:
        let bytes = try tree.bytes(of: cell) ?? []
        return bytes.withUnsafeBytes { body(.bytes($0)) }
      }
    }
  }
}

extension ColumnValue {
  /// What a column of `type` that cannot be null holds by default.
  static func zero(_ type: ColumnType) -> ColumnValue {
    switch type {
    case .int: .int(0)
    case .bool: .bool(false)
    case .float: .float(0)
    case .double: .double(0)
    case .wide: .wide(low: 0, high: 0)
    case .bytes: .bytes(UnsafeRawBufferPointer(start: nil, count: 0))
    }
  }

  /// Whether both are the same value; NaN differs from everything, as updates that skip equal
  /// values want it.
  func isEqual(to other: ColumnValue) -> Bool {
    switch (self, other) {
    case (.null, .null): true
    case (.int(let left), .int(let right)): left == right
    case (.bool(let left), .bool(let right)): left == right
    case (.float(let left), .float(let right)): left == right
    case (.double(let left), .double(let right)): left == right
    case (.wide(let low, let high), .wide(let otherLow, let otherHigh)):
      low == otherLow && high == otherHigh
    case (.bytes(let left), .bytes(let right)): left.elementsEqual(right)
    default: false
    }
  }
}
