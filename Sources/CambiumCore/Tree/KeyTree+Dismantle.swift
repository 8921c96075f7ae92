extension KeyTree {
  /// Gives back what hangs from the top page of a stored tree, but not the page itself.
  ///
  /// Returns the subtrees of a branch, whose pages are still to be freed; of a leaf, the pages of its
  /// large values are freed.
  func dismantle(_ context: WriteContext) throws(StoreError) -> [TreeRoot] {
    let isLeaf = root.height == 1
    let page = try source.page(root.reference, isLeaf ? .keyLeaf : .keyBranch)
    let node = KeyNode(page)
    defer { withExtendedLifetime(page) {} }
    if isLeaf {
      var values: [OverflowValue] = []
      for index in 0..<node.count where node.storedValue(index).isOverflow {
        values.append(try node.storedValue(index).overflow())
      }
      try OverflowValue.free(values, in: context)
      return []
    }
    return (0..<node.count).map { index in
      TreeRoot(
        reference: node.child(index), height: root.height - 1, kind: root.kind,
        rowCount: UInt64(node.childRowCount(index)))
    }
  }
}
