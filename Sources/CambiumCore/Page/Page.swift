import CPlatform

/// The bytes of a page, borrowed.
///
/// Pointers: a mapped store lends its own memory and `owner` is nil: the bytes stay as long as the
/// snapshot that read them. Otherwise the owner keeps them alive for as long as this value lives, so that
/// whoever reads them keeps it until then. In a write transaction the bytes of a dirty page stay until the
/// transaction's next change. `byteCount` bytes may be read, whatever the page says of itself. Debug builds
/// stop who uses a page that a snapshot or transaction has lent and that has ended since; see `PageLease`.
@safe @frozen public struct Page {
  #if DEBUG
    @usableFromInline let start: UnsafeRawPointer
    @usableFromInline var lease = PageLease.none
    /// The first byte.
    public var bytes: UnsafeRawPointer {
      lease.check()
      return unsafe start
    }
  #else
    /// The first byte.
    public let bytes: UnsafeRawPointer
  #endif
  /// How many bytes may be read; what the reference says, never what the page says of itself.
  public let byteCount: Int
  /// What keeps the bytes alive, unless the snapshot does.
  public let owner: AnyObject?

  /// A page whose bytes `owner` or, when that is nil, a pin keeps alive.
  @inlinable public init(bytes: UnsafeRawPointer, byteCount: Int, owner: AnyObject?) {
    #if DEBUG
      unsafe start = unsafe bytes
    #else
      unsafe self.bytes = unsafe bytes
    #endif
    self.byteCount = byteCount
    self.owner = owner
  }

  /// Stops in a debug build when the snapshot or transaction that lent the page has ended.
  @inlinable @inline(__always) func checkLease() {
    #if DEBUG
      lease.check()
    #endif
  }

  /// The same page; a debug build notes that it is `source` that keeps its bytes, unless it has an owner.
  @inlinable @inline(__always) func lent(by source: PageSource) -> Page {
    #if DEBUG
      var page = self
      if owner == nil { page.lease = source.lease }
      return page
    #else
      return self
    #endif
  }

  /// Lends the bytes for the time of the call.
  public func withBytes<Result, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { withExtendedLifetime(owner) {} }
    return try unsafe body(Span(_unsafeBytes: buffer))
  }

  /// All its bytes.
  @inlinable public var buffer: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: bytes, count: byteCount)
  }
}

/// A page's bytes in memory of their own, for stores and codecs that cannot lend theirs.
///
/// Unchecked: the bytes are written before the buffer is shared and only read afterwards.
@safe public final class PageBuffer: @unchecked Sendable {
  /// The first byte; 64-byte aligned.
  public let bytes: UnsafeMutableRawPointer
  /// How many bytes belong to the page; 64 more may be read, all zero.
  public let byteCount: Int

  /// Whether its memory is left out of core dumps where the system allows that, and wiped at the end.
  public let isSecret: Bool

  /// Reserves zeroed memory; if the page `isSecret`, apart from all other memory.
  public convenience init(byteCount: Int, isSecret: Bool = false) {
    unsafe self.init(uninitialized: byteCount, isSecret: isSecret)
    // Memory for secrets is zero: new, or wiped when it was given back.
    if !isSecret { unsafe bytes.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount) }
  }

  /// A copy of `bytes`.
  public convenience init(copying source: Span<UInt8>, isSecret: Bool = false) {
    unsafe self.init(uninitialized: source.count, isSecret: isSecret)
    let target = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: byteCount)
    unsafe source.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
  }

  /// Reserves memory whose first `byteCount` bytes hold anything, for who fills it whole, as by a read of a
  /// file; if the page `isSecret`, apart from all other memory.
  ///
  /// Unsafe: each of them is written before anybody reads it.
  @unsafe public init(uninitialized byteCount: Int, isSecret: Bool = false) {
    self.byteCount = byteCount
    self.isSecret = isSecret
    if isSecret {
      unsafe bytes = unsafe cambium_undumped_allocate(byteCount + 64)
    } else {
      unsafe bytes = .allocate(byteCount: byteCount + 64, alignment: 64)
      unsafe (bytes + byteCount).initializeMemory(as: UInt8.self, repeating: 0, count: 64)
    }
  }

  deinit {
    if isSecret {
      unsafe cambium_undumped_free(bytes, byteCount + 64)
    } else {
      unsafe bytes.deallocate()
    }
  }

  /// Lends the bytes to be filled, zero at first unless it was made uninitialized; to be called before anybody
  /// else has the buffer.
  public func withMutableBytes<Result, Failure: Error>(
    _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { withExtendedLifetime(self) {} }
    var span = unsafe MutableSpan<UInt8>(
      _unsafeBytes: UnsafeMutableRawBufferPointer(start: bytes, count: byteCount))
    return try body(&span)
  }

  /// Lends the bytes for the time of the call.
  public func withBytes<Result, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result { try page.withBytes(body) }

  /// A page over these bytes that keeps the buffer alive.
  public var page: Page { unsafe Page(bytes: bytes, byteCount: byteCount, owner: self) }
}

/// Pointers: bytes are lent by a span or the array itself, for one call.
extension Array where Element == UInt8 {
  /// A copy of `bytes`.
  public init(copying bytes: Span<UInt8>) {
    self = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
  }

  /// Lends the bytes to a body that throws errors of one type.
  @inlinable package func withBytes<Value, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try unsafe withUnsafeBufferPointer { bytes throws(Failure) in
      try unsafe body(UnsafeRawBufferPointer(bytes))
    }
  }
}
