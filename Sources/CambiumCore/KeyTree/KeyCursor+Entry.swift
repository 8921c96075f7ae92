/// What a cursor is at. Every member but ``isValid`` needs a cursor at a key.
extension KeyCursor {
  @inlinable @inline(__always)
  func checkValid() {
    precondition(isValid, "The cursor is at no key; seek first and look at the result.")
  }

  /// How long the key is, in bytes.
  @inlinable public var keyByteCount: Int {
    checkValid()
    return node.keyByteCount(index)
  }

  /// The key, in an array of its own.
  @inlinable public var key: [UInt8] {
    checkValid()
    return node.key(index, header: KeyNode.leafCellHeader)
  }

  /// Copies the key to `buffer`, which must have room for ``keyByteCount`` bytes; returns how many
  /// were written.
  @inlinable
  @discardableResult
  package func copyKey(to buffer: UnsafeMutableRawBufferPointer) -> Int {
    checkValid()
    let slot = node.slot(index)
    precondition(buffer.count >= node.keyByteCount(slot), "The buffer is shorter than the key.")
    guard let base = buffer.baseAddress else { return 0 }
    return unsafe node.copyKey(slot, header: KeyNode.leafCellHeader, to: base)
  }

  /// Whether the key begins with `prefix`.
  @inlinable package func hasPrefix(_ prefix: UnsafeRawBufferPointer) -> Bool {
    checkValid()
    return unsafe node.hasPrefix(index, header: KeyNode.leafCellHeader, prefix)
  }

  /// Whether the key begins with `prefix`.
  public func hasPrefix(_ prefix: Span<UInt8>) -> Bool {
    unsafe prefix.withUnsafeBytes { unsafe hasPrefix($0) }
  }

  /// Whether the key begins with `prefix`.
  public func hasPrefix(_ prefix: [UInt8]) -> Bool { hasPrefix(prefix.span) }

  /// The last eight bytes of the key as a number, most significant byte first: how indexes store
  /// the object a key belongs to.
  ///
  /// The key must have eight bytes or more.
  @inlinable public var keyTail: UInt64 {
    checkValid()
    precondition(node.keyByteCount(index) >= 8, "The key is shorter than eight bytes.")
    return node.keyTail(index, header: KeyNode.leafCellHeader)
  }

  /// The value; the bytes are valid until the cursor moves or goes.
  ///
  /// A value in overflow pages is read whole into the cursor. Throws when those are damaged; values
  /// beside their key (up to 1 KiB) never throw.
  public var value: UnsafeRawBufferPointer {
    mutating get throws(StoreError) {
      checkValid()
      let value = node.storedValue(index)
      if !value.isOverflow { return unsafe value.bytes }
      let buffer = ValueBuffer(try value.read(from: tree.source))
      overflow = buffer
      return unsafe buffer.bytes
    }
  }

  /// The value, in an array of its own.
  public func copyValue() throws(StoreError) -> [UInt8] {
    checkValid()
    return try node.storedValue(index).read(from: tree.source)
  }
}

/// A value in memory of its own, at an address that stays.
///
/// Pointers: the memory belongs to this object and goes with it; it has as many bytes as the array had.
@safe final class ValueBuffer {
  let bytes: UnsafeRawBufferPointer

  init(_ array: [UInt8]) {
    let memory = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(1, array.count), alignment: 8)
    unsafe memory.copyBytes(from: array)
    unsafe bytes = unsafe UnsafeRawBufferPointer(rebasing: memory[..<array.count])
  }

  deinit { unsafe bytes.deallocate() }
}
