extension KeyTreeEditor {
  /// Removes `key` and its value; false if there is none.
  @discardableResult
  package func remove(_ key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    try context.change { () throws(StoreError) in try unsafe removeEntry(key) }
  }

  private func removeEntry(_ key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    if unsafe root.isEmpty { return false }
    let place: (index: Int, isFound: Bool)
    if let warm = unsafe warmPosition(key) { place = warm } else { place = try unsafe descend(key) }
    guard place.isFound else { return false }
    let level = unsafe path.count - 1
    try freeOverflow(place.index)
    try makePathDirty()
    changeRowCount(by: -1)
    let leaf = unsafe path[level].page.unsafelyUnwrapped
    leaf.remove(at: place.index)
    if leaf.count == 0 {
      try removeEmptyLeaf()
    } else {
      try mergeIfSmall(level)
    }
    return true
  }

  /// Removes `key` and its value; false if there is none.
  @discardableResult
  public func remove(_ key: [UInt8]) throws(StoreError) -> Bool {
    try unsafe key.withUnsafeBufferPointer { key throws(StoreError) in
      try unsafe remove(UnsafeRawBufferPointer(key))
    }
  }

  /// Removes all keys.
  ///
  /// What is stored is abandoned whole, for the transaction to free later.
  public func removeAll() throws(StoreError) {
    try context.change { () throws(StoreError) in try unsafe context.discard(root) }
    unsafe root = unsafe .empty(root.kind)
    unsafe path.removeAll()
    unsafe isWarm = false
  }

  /// Gives back the overflow pages of entry `index` of the path's leaf, if it has any.
  func freeOverflow(_ index: Int) throws(StoreError) {
    let stored = try unsafe context.source.page(path[path.count - 1].reference, .keyLeaf)
    let value = KeyNode(stored).storedValue(index)
    if value.isOverflow { try value.overflow().free(in: context) }
    withExtendedLifetime(stored) {}
  }

  func removeEmptyLeaf() throws(StoreError) {
    unsafe isWarm = false
    let level = unsafe path.count - 1
    unsafe context.free(path[level].reference)
    if level == 0 {
      unsafe root = unsafe .empty(root.kind)
      return
    }
    unsafe path[level - 1].page.unsafelyUnwrapped.remove(at: path[level - 1].index)
    try mergeIfSmall(level - 1)
  }

  /// Merges the node on level `level` of the path with a neighbour if it is less than a third full
  /// and the two fit into one; goes on upwards.
  func mergeIfSmall(_ level: Int) throws(StoreError) {
    let page = unsafe path[level].page.unsafelyUnwrapped
    let isLone = page.kind == .keyBranch && page.count == 1
    guard level > 0 else {
      if isLone {
        unsafe isWarm = false
        let only = page.node.child(0)
        unsafe context.free(root.reference)
        unsafe root.reference = only
        unsafe root.height -= 1
      }
      return
    }
    guard isLone || page.liveByteCount < limit(page.kind) / 3 else { return }
    let parent = unsafe path[level - 1].page.unsafelyUnwrapped
    let index = unsafe path[level - 1].index
    if context.source.readAheadCount > 0 {
      context.source.willRead(
        [index + 1, index - 1].filter { 0 <= $0 && $0 < parent.count }.map { parent.node.child($0) }
      )
    }
    let isLast = index + 1 == parent.count
    let source = context.source
    if !isLast, try source.soundPage(parent.node.child(index + 1), page.kind) != nil,
      try merge(level, leftIndex: index)
    {
      return
    }
    let followsSound =
      index > 0 ? try source.soundPage(parent.node.child(index - 1), page.kind) != nil : false
    if followsSound, try merge(level, leftIndex: index - 1) { return }
    if isLone { try redistribute(level, leftIndex: followsSound || isLast ? index - 1 : index) }
  }

  /// Collects the entries of two neighbours, of which the path's node on `level` is one.
  private func collect(_ level: Int, leftIndex: Int) throws(StoreError) {
    let parent = unsafe path[level - 1].page.unsafelyUnwrapped.node
    let kind = kind(level)
    let entries = entries(kind)
    entries.removeAll()
    let left = try context.source.page(parent.child(leftIndex), kind)
    unsafe entries.append(KeyNode(left), 0..<KeyNode(left).count)
    let right = try context.source.page(parent.child(leftIndex + 1), kind)
    let separator = parent.key(leftIndex + 1, header: KeyNode.branchCellHeader)
    unsafe separator.withUnsafeBytes {
      unsafe entries.append(
        KeyNode(right), 0..<KeyNode(right).count,
        firstSeparator: kind == .keyBranch ? $0 : nil)
    }
    withExtendedLifetime((left, right)) {}
  }

  /// Makes one node of children `leftIndex` and `leftIndex` + 1 of the parent of the path's node on
  /// `level`; false, with nothing changed, if they do not fit into one.
  private func merge(_ level: Int, leftIndex: Int) throws(StoreError) -> Bool {
    let page = unsafe path[level].page.unsafelyUnwrapped
    let parent = unsafe path[level - 1].page.unsafelyUnwrapped
    let sibling = unsafe parent.node.child(
      path[level - 1].index == leftIndex ? leftIndex + 1 : leftIndex)
    let isLone = page.kind == .keyBranch && page.count == 1
    let siblingByteCount: Int
    let siblingPrefixLength: Int
    if sibling.isDirty {
      let other = self.page(sibling)
      (siblingByteCount, siblingPrefixLength) = (other.liveByteCount, other.node.prefixLength)
    } else {
      let stored = try storedPage(sibling, page.kind)
      let other = KeyNode(stored)
      (siblingByteCount, siblingPrefixLength) = (other.end, other.prefixLength)
      withExtendedLifetime(stored) {}
    }
    // Together they save a prefix and a header at most.
    let saved = max(page.node.prefixLength, siblingPrefixLength) + KeyNode.headerByteCount
    if !isLone, page.liveByteCount + siblingByteCount - saved > limit(page.kind) { return false }
    try collect(level, leftIndex: leftIndex)
    let entries = entries(page.kind)
    let all = 0..<entries.count
    guard
      entries.nodeByteCount(all) <= limit(page.kind)
        || (page.kind == .keyBranch && entries.count < 4)
    else { return false }
    unsafe isWarm = false
    try entries.fill(page, all)
    let rowCount = parent.node.childRowCount(leftIndex) + parent.node.childRowCount(leftIndex + 1)
    unsafe parent.setChild(leftIndex, path[level].reference)
    parent.setRowCount(leftIndex, rowCount)
    parent.remove(at: leftIndex + 1)
    context.free(sibling)
    try mergeIfSmall(level - 1)
    return true
  }

  /// Divides the children of two neighbouring branches evenly, when one has a single child left and
  /// the other is too full to take it.
  private func redistribute(_ level: Int, leftIndex: Int) throws(StoreError) {
    try collect(level, leftIndex: leftIndex)
    let parent = unsafe path[level - 1].page.unsafelyUnwrapped
    let sibling = unsafe parent.node.child(
      path[level - 1].index == leftIndex ? leftIndex + 1 : leftIndex)
    context.free(sibling)
    parent.remove(at: leftIndex + 1)
    unsafe parent.setChild(leftIndex, path[level].reference)
    unsafe path[level - 1].index = leftIndex
    try refill(level, insertedAt: nil)
  }
}
