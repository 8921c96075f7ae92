extension KeyTreeEditor {
  /// Writes all dirty pages, children before parents, and returns the clean root.
  ///
  /// Used to commit, and to spill when the transaction holds too much; the editor goes on from the
  /// clean tree. Flushing a clean tree writes nothing.
  public func flush() throws(StoreError) -> TreeRoot {
    _ = settle()
    if unsafe root.reference.isDirty {
      unsafe root.reference = try context.change { () throws(StoreError) in
        try unsafe write(root.reference, height: Int(root.height))
      }
    }
    return unsafe root
  }

  /// Lets go of all pages; returns the root, which may be dirty.
  func settle() -> TreeRoot {
    unsafe path.removeAll(keepingCapacity: true)
    unsafe isWarm = false
    return unsafe root
  }

  private func write(
    _ reference: PageReference, height: Int
  ) throws(StoreError) -> PageReference {
    let page = page(reference)
    if height > 1 {
      for index in 0..<page.count {
        let child = page.node.child(index)
        if child.isDirty { page.setChild(index, try write(child, height: height - 1)) }
      }
    }
    try lengthenPrefix(page)
    let byteCount = page.tighten()
    let stored = try unsafe context.write(
      UnsafeRawBufferPointer(start: page.bytes, count: byteCount), kind: page.kind)
    context.free(reference)
    return stored
  }

  /// Lays a node out anew if its keys share much more than its prefix.
  private func lengthenPrefix(_ page: KeyPage) throws(StoreError) {
    let node = page.node
    let first = page.kind == .keyLeaf ? 0 : 1
    guard node.count - first >= 2 else { return }
    let leastByteCount = 64 / (node.count - 1)
    let (lowest, highest) = (node.slot(first), node.slot(node.count - 1))
    guard lowest.suffixLength >= leastByteCount, highest.suffixLength >= leastByteCount else {
      return
    }
    // Mostly their first bytes tell.
    let sharedHead = (lowest.head ^ highest.head).leadingZeroBitCount / 8
    guard sharedHead == 4 || sharedHead >= leastByteCount else { return }
    let low = node.key(first, header: page.cellHeader)
    let high = node.key(node.count - 1, header: page.cellHeader)
    let shared = unsafe low.withUnsafeBytes { low in
      unsafe high.withUnsafeBytes { high in unsafe Self.commonPrefix(low, high) }
    }
    guard (shared - node.prefixLength) * (node.count - 1) >= 64 else { return }
    let entries = entries(page.kind)
    entries.removeAll()
    unsafe entries.append(node, 0..<node.count)
    try entries.fill(page, 0..<node.count)
  }
}
