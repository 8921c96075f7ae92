import CambiumCore

extension ColumnLeaf {
  /// Calls `body` with one cell, whatever its type; values kept elsewhere are fetched through `tree`.
  ///
  /// A column that the leaf lacks holds its default: null when `isNullable`, otherwise zero or empty.
  func withCell<Result>(
    _ id: UInt16, _ type: ColumnType, _ row: Int, _ tree: ColumnTree, isNullable: Bool = true,
    _ body: (ColumnValue) -> Result
  ) throws(StoreError) -> Result {
    let owner = page.owner
    defer { withExtendedLifetime(owner) {} }
    return try LeafRow(self, row)
      .withCell(id, hint: 0, type, tree, isNullable: isNullable, body)
  }
}

// Pointers: the caller keeps the leaf; the bytes of a cell are lent to the body for the length of its
// call.
extension LeafRow {
  /// Calls `body` with one cell, whatever its type; values kept elsewhere are fetched through `tree`.
  func withCell<Result>(
    _ id: UInt16, hint: UInt16, _ type: ColumnType, _ tree: ColumnTree, isNullable: Bool,
    _ body: (ColumnValue) -> Result
  ) throws(StoreError) -> Result {
    guard let cell = cell(id, hint: hint) else {
      return body(ColumnSpec(id: id, type: type, isNullable: isNullable).defaultValue)
    }
    if cell.isNull { return body(.null) }
    switch type {
    case .int: return body(.int(cell.int))
    case .bool: return body(.bool(cell.bool))
    case .float: return body(.float(cell.float))
    case .double: return body(.double(cell.double))
    case .wide:
      let words = cell.wide
      return body(.wide(low: words.low, high: words.high))
    case .bytes:
      let cell = cell.bytes
      switch cell.form {
      case .null: return body(.null)
      case .inline: return unsafe cell.withBytes { unsafe body(.bytes($0)) }
      case .tree: return body(cell.tree.map { .tree($0) } ?? .null)
      case .overflow:
        let bytes = try tree.bytes(of: cell) ?? []
        return unsafe bytes.withUnsafeBytes { unsafe body(.bytes($0)) }
      }
    }
  }
}

extension ColumnValue {
  /// Whether both are the same value; NaN differs from everything, as updates that skip equal
  /// values want it.
  ///
  /// Pointers: the caller lends the bytes of both.
  func isEqual(to other: ColumnValue) -> Bool {
    switch (self, other) {
    case (.null, .null): true
    case (.int(let left), .int(let right)): left == right
    case (.bool(let left), .bool(let right)): left == right
    case (.float(let left), .float(let right)): left == right
    case (.double(let left), .double(let right)): left == right
    case (.wide(let low, let high), .wide(let otherLow, let otherHigh)):
      low == otherLow && high == otherHigh
    case (.bytes(let left), .bytes(let right)): unsafe left.elementsEqual(right)
    default: false
    }
  }
}

extension ColumnValue {
  /// The key that a link's cell holds.
  var link: Int64? { if case .int(let key) = self { key } else { nil } }
}
