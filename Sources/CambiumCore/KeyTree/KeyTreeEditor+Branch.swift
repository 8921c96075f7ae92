extension KeyTreeEditor {
  /// One side of a divided node.
  struct Half {
    var reference: PageReference
    var page: KeyPage
    var rowCount = 0
  }

  /// Puts `left` and `right` in the place of the node on level `level` of the path, which one of
  /// them is; splits branches as far up as it takes.
  func insert(
    _ separator: [UInt8], _ left: Half, _ right: Half, above level: Int
  ) throws(StoreError) {
    unsafe isWarm = false
    guard level > 0 else { return try growRoot(separator, left, right) }
    let parent = unsafe path[level - 1].page.unsafelyUnwrapped
    let index = unsafe path[level - 1].index
    parent.setChild(index, left.reference)
    parent.setRowCount(index, left.rowCount)
    let isInserted = unsafe separator.withUnsafeBytes { separator -> Bool in
      let node = parent.node
      guard unsafe node.prefixOrder(separator) == 0 else { return false }
      let suffix = unsafe UnsafeRawBufferPointer(rebasing: separator[node.prefixLength...])
      let cellByteCount = KeyNode.branchCellHeader + max(0, suffix.count - 4)
      guard parent.reserve(cellByteCount, limit: limits.branchByteCount) else { return false }
      unsafe parent.insertChild(
        at: index + 1, suffix: suffix, right.reference, rowCount: right.rowCount)
      return true
    }
    if isInserted { return }

    let entries = entries(.keyBranch)
    entries.removeAll()
    let node = parent.node
    unsafe entries.append(node, 0..<index + 1)
    unsafe separator.withUnsafeBytes {
      unsafe entries.appendChild($0, right.reference, rowCount: right.rowCount)
    }
    unsafe entries.append(node, index + 1..<node.count)
    try refill(level - 1, insertedAt: index + 1)
  }

  /// Makes the branch on level `level` hold the collected entries, in two nodes if need be.
  func refill(_ level: Int, insertedAt index: Int?) throws(StoreError) {
    let entries = entries(.keyBranch)
    let page = unsafe path[level].page.unsafelyUnwrapped
    let count = entries.count
    // Each half needs two children.
    if count < 4 || entries.nodeByteCount(0..<count) <= limits.branchByteCount {
      try entries.fill(page, 0..<count)
      return
    }
    // At an end the load is ascending or descending: leave full branches behind.
    var middle = entries.middle(least: 2)
    if index == count - 1 { middle = count - 2 }
    if index == 1 { middle = 2 }
    let (other, reference) = makePage(.keyBranch)
    try entries.fill(other, middle..<count)
    try entries.fill(page, 0..<middle)
    try unsafe insert(
      [UInt8](entries.key(middle)),
      Half(
        reference: path[level].reference, page: page, rowCount: entries.rowCount(0..<middle)),
      Half(reference: reference, page: other, rowCount: entries.rowCount(middle..<count)),
      above: level)
  }

  /// Puts a branch above the two halves of the root.
  private func growRoot(
    _ separator: [UInt8], _ left: Half, _ right: Half
  ) throws(StoreError) {
    let entries = entries(.keyBranch)
    entries.removeAll()
    unsafe entries.appendChild(
      UnsafeRawBufferPointer(start: nil, count: 0), left.reference, rowCount: left.rowCount)
    unsafe separator.withUnsafeBytes {
      unsafe entries.appendChild($0, right.reference, rowCount: right.rowCount)
    }
    let page = KeyPage(kind: .keyBranch, capacity: min(512, limits.branchByteCount))
    try entries.fill(page, 0..<2)
    unsafe root.reference = context.dirty.insert(page)
    unsafe root.height += 1
    try unsafe root.checkHeight()
  }
}
