extension KeyTreeEditor {
  /// Stores every key and value of `other` here: a copy with full pages.
  ///
  /// Meant for compaction into an empty or lower tree; keys that come in any other order are stored
  /// all the same. Written pages are spilled on the way, so that memory stays bounded whatever the
  /// size. `progress` is called now and then with how many keys were copied so far.
  public func append(
    contentsOf other: KeyTree, progress: (Int) -> Void = { _ in }
  ) throws(StoreError) {
    try context.change { () throws(StoreError) in try copy(other, progress) }
  }

  private func copy(_ other: KeyTree, _ progress: (Int) -> Void) throws(StoreError) {
    let key = UnsafeMutableRawBufferPointer.allocate(
      byteCount: KeyNode.maximumKeyByteCount, alignment: 8)
    defer { unsafe key.deallocate() }
    var cursor = other.cursor()
    var isAtKey = try cursor.seekFirst()
    var copied = 0
    if unsafe root.isEmpty, isAtKey {
      let builder = unsafe KeyTreeBuilder(context, limits, kind: root.kind)
      while isAtKey {
        let length = unsafe cursor.copyKey(to: key)
        let bytes = unsafe UnsafeRawBufferPointer(rebasing: key[..<length])
        guard unsafe builder.isAbove(bytes) else { break }
        try unsafe builder.append(bytes, try cursor.value)
        copied += 1
        if copied & 0xfff == 0 { progress(copied) }
        isAtKey = try cursor.next()
      }
      unsafe root = try builder.finish()
    }
    while isAtKey {
      let length = unsafe cursor.copyKey(to: key)
      try unsafe set(UnsafeRawBufferPointer(rebasing: key[..<length]), try cursor.value)
      copied += 1
      if copied & 0xfff == 0 {
        progress(copied)
        if unsafe context.dirty.byteCount > limits.spillByteCount { _ = try flush() }
      }
      isAtKey = try cursor.next()
    }
    progress(copied)
  }
}
