extension KeyTreeEditor {
  /// Removes the keys in `keys` and their values; those that are not in the tree are passed over.
  ///
  /// ``KeySorter/sort()`` must have been called. Each leaf is changed once.
  public func remove(_ keys: KeySorter) throws(StoreError) {
    var leaf: OpenLeaf?
    try context.change { () throws(StoreError) in
      try unsafe keys.forEach { key, _ throws(StoreError) in
        if unsafe leaf?.mark(key) ?? false { return }
        if let leaf { try remove(leaf.marked) }
        leaf = nil
        if unsafe root.isEmpty { return }
        let place = try unsafe descend(key)
        let reference = unsafe path[path.count - 1].reference
        var found = OpenLeaf(page: try context.source.page(reference, .keyLeaf))
        if place.isFound { found.marked.append(place.index) }
        leaf = found
      }
      if let leaf { try remove(leaf.marked) }
    }
  }

  /// The leaf of the path, while keys to be removed are looked for in it.
  private struct OpenLeaf {
    let page: Page
    /// The entries of keys that were found, ascending.
    var marked: [Int] = []

    /// Notes the entry of a key above all others before; false when it may be in a later leaf.
    mutating func mark(_ key: UnsafeRawBufferPointer) -> Bool {
      let node = KeyNode(page)
      let last = node.count - 1
      guard last >= 0, unsafe node.order(last, header: KeyNode.leafCellHeader, key) >= 0 else {
        return false
      }
      let next = marked.last.map { $0 + 1 } ?? 0
      // The next entry is the one in most cases.
      if next <= last, unsafe node.order(next, header: KeyNode.leafCellHeader, key) == 0 {
        marked.append(next)
        return true
      }
      let (index, isFound) = unsafe node.search(key, from: next, header: KeyNode.leafCellHeader)
      if isFound { marked.append(index) }
      return true
    }
  }

  /// Removes entries of the path's leaf, which it has in ascending order.
  private func remove(_ indices: [Int]) throws(StoreError) {
    if indices.isEmpty { return }
    let level = unsafe path.count - 1
    for index in indices { try freeOverflow(index) }
    try makePathDirty()
    changeRowCount(by: -indices.count)
    let leaf = unsafe path[level].page.unsafelyUnwrapped
    if indices.count == leaf.count { return try removeEmptyLeaf() }
    if indices.count < 4 {
      for index in indices.reversed() { leaf.remove(at: index) }
    } else {
      let entries = entries(.keyLeaf)
      entries.removeAll()
      var next = 0
      for index in indices {
        if next < index { unsafe entries.append(leaf.node, next..<index) }
        next = index + 1
      }
      if next < leaf.count { unsafe entries.append(leaf.node, next..<leaf.count) }
      try entries.fill(leaf, 0..<entries.count)
    }
    try mergeIfSmall(level)
  }
}
