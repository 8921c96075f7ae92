import CPlatform

/// A cell of a column of bytes, read in place.
///
/// An inline value lies in up to three parts, because a leaf factors common prefixes and suffixes
/// out.
///
/// Pointers: the parts lie on the page of the leaf that the cell came from and are valid for as long as that
/// leaf is; the cell does not keep it. Who made the cell has found them to be within the page.
@safe @frozen public struct BytesCell {
  /// How the cell is kept.
  @frozen public enum Form: UInt8, Sendable {
    /// No value.
    case null
    /// In the leaf.
    case inline
    /// In pages of its own; ``ColumnTree/bytes(of:)`` fetches it.
    case overflow
    /// As a tree that the row owns.
    case tree
  }

  /// How the cell is kept.
  public let form: Form
  /// The first part of an inline value.
  public let head: UnsafeRawBufferPointer
  /// The middle part of an inline value, or the descriptor of an overflow value or tree.
  public let body: UnsafeRawBufferPointer
  /// The last part of an inline value.
  public let tail: UnsafeRawBufferPointer

  @inlinable init(
    form: Form, head: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer,
    tail: UnsafeRawBufferPointer
  ) {
    self.form = form
    unsafe self.head = unsafe head
    unsafe self.body = unsafe body
    unsafe self.tail = unsafe tail
  }

  @inlinable init(form: Form, body: UnsafeRawBufferPointer) {
    let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    unsafe self.init(form: form, head: none, body: body, tail: none)
  }

  /// Whether there is no value.
  @inlinable public var isNull: Bool { form == .null }

  /// How many bytes the value has; 0 for null and trees.
  @inlinable public var count: Int {
    switch form {
    case .inline: unsafe head.count &+ body.count &+ tail.count
    case .overflow: overflowByteCount
    case .null, .tree: 0
    }
  }

  @usableFromInline var overflowByteCount: Int { Int(clamping: overflow?.byteCount ?? 0) }

  /// Where an overflow value lies, if the cell is one.
  public var overflow: OverflowValue? {
    unsafe form == .overflow ? OverflowCell(body)?.overflow : nil
  }

  /// The root of the tree that the cell is, if it is one.
  public var tree: TreeRoot? { unsafe form == .tree ? OverflowCell(body)?.root : nil }

  /// The bytes of an inline value in one piece, if they lie so.
  @inlinable @inline(__always) public var contiguous: UnsafeRawBufferPointer? {
    guard form == .inline else { return nil }
    if unsafe head.isEmpty && tail.isEmpty { return unsafe body }
    if unsafe body.isEmpty && tail.isEmpty { return unsafe head }
    if unsafe body.isEmpty && head.isEmpty { return unsafe tail }
    return nil
  }

  /// Writes an inline value to `target`, which has room for ``count`` bytes.
  @inlinable @inline(__always) public func copy(to target: UnsafeMutableRawPointer) {
    guard form == .inline else { return }
    if let start = unsafe head.baseAddress {
      unsafe target.copyMemory(from: start, byteCount: head.count)
    }
    if let start = unsafe body.baseAddress {
      unsafe (target + head.count).copyMemory(from: start, byteCount: body.count)
    }
    if let start = unsafe tail.baseAddress {
      unsafe (target + head.count + body.count).copyMemory(from: start, byteCount: tail.count)
    }
  }

  /// Calls `body` with the bytes of an inline value in one piece; empty for every other form.
  @inlinable @inline(__always) public func withBytes<Result>(
    _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    if let contiguous = unsafe contiguous { return unsafe body(contiguous) }
    guard form == .inline else { return unsafe body(UnsafeRawBufferPointer(start: nil, count: 0)) }
    return unsafe withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) { buffer in
      if let base = buffer.baseAddress { unsafe copy(to: base) }
      return unsafe body(UnsafeRawBufferPointer(buffer))
    }
  }

  /// An inline value as an array; empty for every other form.
  @inlinable public var array: [UInt8] {
    guard form == .inline else { return [] }
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
      if let base = buffer.baseAddress { unsafe copy(to: UnsafeMutableRawPointer(base)) }
      written = count
    }
  }

  /// An inline value as text, broken UTF-8 repaired; empty for every other form.
  @inlinable public var string: String {
    unsafe withBytes { unsafe String(decoding: $0, as: UTF8.self) }
  }

  /// Whether an inline value is `bytes`; false for every other form.
  public func equals(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard form == .inline, bytes.count == count else { return false }
    return unsafe equalBytes(head.baseAddress, bytes.baseAddress, count: head.count)
      && equalBytes(body.baseAddress, bytes.baseAddress, at: head.count, count: body.count)
      && equalBytes(
        tail.baseAddress, bytes.baseAddress, at: head.count + body.count, count: tail.count)
  }
}

/// Whether `count` bytes at `left` equal those `offset` bytes behind `right`.
///
/// Pointers: the caller has so many bytes on both sides for the time of the call; no address is used when
/// `count` is 0.
@inline(__always)
func equalBytes(
  _ left: UnsafeRawPointer?, _ right: UnsafeRawPointer?, at offset: Int = 0, count: Int
) -> Bool {
  if count == 0 { return true }
  guard let left = unsafe left, let right = unsafe right else { return false }
  return unsafe cambium_equal(left, right + offset, count)
}
