/// What a leaf holds in place of a value that lives elsewhere.
///
///      0      1       8
///     | kind | zero  | the stored form of an ``OverflowValue`` (32) or of a ``TreeRoot`` (40)
///
/// Pointers: the bytes are those of a leaf or builder, and valid for as long as it does not change. Their
/// number is checked to be that of the form.
@safe struct OverflowCell {
  static let overflowKind: UInt8 = 1
  static let treeKind: UInt8 = 2
  static let headerByteCount = 8
  /// The size of the longer form.
  static let maximumByteCount = headerByteCount + TreeRoot.byteCount

  private let bytes: UnsafeRawBufferPointer

  /// Checks the size of the form; nil when it breaks the format.
  @inline(__always) init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= Self.headerByteCount, let start = bytes.baseAddress else { return nil }
    switch unsafe start.byte(0) {
    case Self.overflowKind:
      guard bytes.count == Self.headerByteCount + OverflowValue.storedByteCount else { return nil }
    case Self.treeKind:
      guard bytes.count == Self.headerByteCount + TreeRoot.byteCount else { return nil }
    default: return nil
    }
    unsafe self.bytes = unsafe bytes
  }

  private var start: UnsafeRawPointer { unsafe bytes.baseAddress.unsafelyUnwrapped }

  /// The value in pages of its own, if it is one.
  var overflow: OverflowValue? {
    guard unsafe start.byte(0) == Self.overflowKind else { return nil }
    let value = unsafe OverflowValue(loadingFrom: start + Self.headerByteCount)
    return value.isWellFormed ? value : nil
  }

  /// The tree of its own, if it is one.
  var root: TreeRoot? {
    guard unsafe start.byte(0) == Self.treeKind else { return nil }
    return unsafe TreeRoot(
      loadingFrom: UnsafeRawBufferPointer(rebasing: bytes[Self.headerByteCount...]))
  }

  /// The stored form for `value`.
  static func bytes(for value: OverflowValue) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: headerByteCount + OverflowValue.storedByteCount)
    bytes[0] = overflowKind
    unsafe bytes.withUnsafeMutableBytes { buffer in
      if let start = buffer.baseAddress { unsafe value.store(to: start + headerByteCount) }
    }
    return bytes
  }

  /// The stored form for `root`.
  static func bytes(for root: TreeRoot) -> [UInt8] {
    precondition(!root.reference.isDirty, "A row can only own a written tree; flush it first.")
    return [treeKind, 0, 0, 0, 0, 0, 0, 0] + root.storedBytes
  }
}
