import CambiumCore

extension LeafColumn {
  /// Calls `body` with the cell of a row, whatever its type; values kept elsewhere are fetched through
  /// `tree`.
  func withCell<Result>(
    _ row: Int, _ tree: ColumnTree, _ body: (ColumnValue) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    if isNull(row) { return try body(.null) }
    switch type {
    case .int: return try body(.int(int(row)))
    case .bool: return try body(.bool(bool(row)))
    case .float: return try body(.float(float(row)))
    case .double: return try body(.double(double(row)))
    case .wide:
      let words = wide(row)
      return try body(.wide(low: words.low, high: words.high))
    case .bytes: return try bytes(row).withValue(tree, body)
    }
  }
}

extension BytesCell {
  /// Calls `body` with the cell's bytes in one piece, or with the tree that it is.
  func withValue<Result>(
    _ tree: ColumnTree, _ body: (ColumnValue) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    if let bytes = contiguous { return try body(.bytes(bytes)) }
    switch form {
    case .null: return try body(.null)
    case .tree:
      guard let root = self.tree else {
        throw .damaged(Damage(.encoding, "a list's own tree cannot be found"))
      }
      return try body(.tree(root))
    case .inline: return try withCopy(body)
    case .overflow:
      guard let bytes = try tree.bytes(of: self) else { return try body(.null) }
      return try bytes.withBytes { bytes throws(StoreError) in try body(.bytes(bytes)) }
    }
  }

  /// Puts the pieces of an inline value together on the stack.
  private func withCopy<Result>(
    _ body: (ColumnValue) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let result = withUnsafeTemporaryAllocation(byteCount: max(count, 1), alignment: 8) {
      buffer -> Swift.Result<Result, StoreError> in
      guard let base = buffer.baseAddress else { preconditionFailure("an allocation has a start") }
      copy(to: base)
      do throws(StoreError) {
        return .success(try body(.bytes(UnsafeRawBufferPointer(start: base, count: count))))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
