extension ColumnTree {
  /// Frees pages of an abandoned tree, at most about `pageLimit` of them, and returns the roots of
  /// what is left.
  ///
  /// Call again with each of the returned roots, in this or a later transaction. `pageLimit` is
  /// lowered by the pages freed; when it is 0 nothing more is freed. Trees that rows owned are
  /// abandoned in turn. The tree must be a stored one that no version being made reaches.
  public static func free(
    _ root: TreeRoot, in context: WriteContext, pageLimit: inout Int
  ) throws(StoreError) -> [TreeRoot] {
    if root.isEmpty { return [] }
    precondition(!root.reference.isDirty, "Only a stored tree can be freed.")
    if pageLimit <= 0 { return [root] }
    pageLimit -= 1
    var rest: [TreeRoot] = []
    if root.height <= 1 {
      let leaf = ColumnLeaf(try context.source.page(root.reference, .columnLeaf))
      var freed = 0
      try leaf.forEachOutboardCell { cell throws(StoreError) in
        if let inner = cell.root {
          context.abandon(root: inner)
        } else if let value = cell.overflow {
          try value.free(in: context)
          freed += 1 + Int(clamping: value.byteCount) / OverflowValue.chunkByteCount
        }
      }
      pageLimit -= freed
    } else {
      let branch = ColumnBranch(try context.source.page(root.reference, .columnBranch))
      guard branch.level == Int(root.height) - 1 else { throw wrongHeight(root.reference) }
      for index in 0..<branch.count {
        let child = TreeRoot(
          reference: branch.reference(index), height: root.height - 1, kind: root.kind,
          rowCount: branch.rowCount(index))
        rest += try free(child, in: context, pageLimit: &pageLimit)
      }
    }
    context.free(root.reference)
    return rest
  }
}
