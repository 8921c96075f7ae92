import CPlatform

/// The bytes of a key, in memory that is wiped when its last owner goes, is kept out of core dumps
/// and, where the system allows it, out of swap space.
///
/// Nothing shows its bytes but ``withBytes(_:)``: neither its description nor a dump of it.
///
/// Unchecked: the memory is written only while it is being made and when it is freed.
@safe public final class CodecKey: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
  private let bytes: UnsafeMutableRawPointer
  /// How long the key is, in bytes.
  public let byteCount: Int

  /// A copy of `source`, whose own memory the caller wipes.
  public init(copying source: Span<UInt8>) {
    byteCount = source.count
    guard let memory = unsafe cambium_secret_allocate(max(1, source.count)) else {
      fatalError("There is no memory left for a key of \(source.count) bytes.")
    }
    unsafe bytes = unsafe memory
    let target = unsafe UnsafeMutableRawBufferPointer(start: memory, count: source.count)
    unsafe source.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
  }

  deinit { unsafe cambium_secret_free(bytes, max(1, byteCount)) }

  /// Lends the key's bytes for the time of the call.
  public func withBytes<Result, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { withExtendedLifetime(self) {} }
    return try unsafe body(
      Span(_unsafeBytes: UnsafeRawBufferPointer(start: bytes, count: byteCount)))
  }

  /// Says how long it is, and no more.
  public var description: String { "a key of \(byteCount) bytes" }
  /// Shows nothing.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
