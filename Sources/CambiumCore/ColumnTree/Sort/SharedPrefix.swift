/// What all values of a column of bytes begin with.
///
/// Nothing is told apart by it, so that sorting leaves it out: keys of 96 bits then hold what differs.
///
/// Pointers: `bytes` lies in the page of `leaf`, which keeps it; no more of it is read than that leaf has in common.
@safe struct SharedPrefix {
  private var leaf: ColumnLeaf?
  private var bytes: UnsafeRawBufferPointer?
  private(set) var count = 0

  /// How many bytes all values of `column` in `tree` have in common at their beginning; nulls aside.
  ///
  /// Leaves keep what their own values share at one place. The first of two that share nothing ends it.
  static func count(
    of column: ColumnSpec, in tree: ColumnTree, _ interruption: Interruption? = nil
  ) throws(StoreError) -> Int {
    var cursor = tree.leafCursor()
    guard try cursor.first() else { return 0 }
    var shared = SharedPrefix()
    repeat {
      try interruption?.check()
      guard shared.narrow(to: cursor.leaf, column) else { return 0 }
    } while try cursor.next()
    return shared.count
  }

  /// Takes a leaf into account; false when nothing is shared.
  private mutating func narrow(to leaf: ColumnLeaf, _ spec: ColumnSpec) -> Bool {
    guard let column = leaf.column(spec.id) else { return spec.isNullable }
    // A leaf with values outside of it has an empty prefix: validation asks for that.
    guard let parts = column.bytesColumn else { return false }
    let cell = parts.cell(0)
    // One value alone has nothing to share its beginning with.
    let prefix = unsafe leaf.rowCount == 1 && cell.form == .inline ? cell.contiguous : parts.prefix
    guard let prefix = unsafe prefix else { return false }
    guard let bytes = unsafe bytes else {
      unsafe (self.leaf, bytes, count) = unsafe (leaf, prefix, prefix.count)
      return count > 0
    }
    count = unsafe KeyTreeEditor.commonPrefix(
      UnsafeRawBufferPointer(rebasing: bytes[..<count]), prefix)
    withExtendedLifetime(self.leaf) {}
    return count > 0
  }
}
