import CambiumCore

/// Little-endian fields in bytes that are stored.
///
/// Reads trap outside of the array: callers check lengths first.
///
/// Pointers: fields are checked against the array's length, and bytes that are being made are lent for one call. A
/// checksum ends at an offset of the layout, which callers have checked the length for.
struct StoredBytes {
  var bytes: [UInt8]

  /// `byteCount` bytes that `fill` fills, which are zero before.
  init(byteCount: Int, _ fill: (UnsafeFields) -> Void) {
    bytes = [UInt8](repeating: 0, count: byteCount)
    put(fill)
  }

  /// Has `fill` put fields into what is there.
  mutating func put(_ fill: (UnsafeFields) -> Void) {
    unsafe bytes.withUnsafeMutableBytes { unsafe fill(UnsafeFields(bytes: $0)) }
  }

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  init(_ buffer: PageBuffer) {
    bytes = unsafe Array(UnsafeRawBufferPointer(start: buffer.bytes, count: buffer.byteCount))
  }

  func load<Value: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as: Value.Type) -> Value {
    precondition(offset >= 0 && offset + MemoryLayout<Value>.size <= bytes.count)
    return unsafe bytes.withUnsafeBytes {
      unsafe Value(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Value.self))
    }
  }

  func reference(_ offset: Int) -> PageReference {
    PageReference(
      checksum: load(offset, as: UInt64.self), location: load(offset + 8, as: UInt64.self),
      origin: load(offset + 16, as: UInt64.self))
  }

  /// Text in a field of `byteCount` bytes, padded with zeros.
  func text(_ offset: Int, byteCount: Int) -> String {
    let field = bytes[offset..<(offset + byteCount)]
    return String(decoding: field.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// XXH64 of the bytes before `offset`.
  func checksum(before offset: Int) -> UInt64 {
    unsafe bytes.withUnsafeBytes {
      unsafe Checksum.hash(UnsafeRawBufferPointer(rebasing: $0[..<offset]))
    }
  }
}

/// Little-endian fields of bytes that are being made, for as long as ``StoredBytes/init(byteCount:_:)``
/// lends them.
///
/// What every commit stores goes this way: an array would be asked at each field who else has it. Writes
/// trap outside of the bytes.
///
/// Pointers: the array lends its bytes for one call, zeroed, and each field is checked against their count. A
/// checksum ends at an offset of the layout, for which the bytes were made.
@safe struct UnsafeFields {
  fileprivate let bytes: UnsafeMutableRawBufferPointer

  @inline(__always)
  func store<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value, at offset: Int) {
    unsafe precondition(offset >= 0 && offset + MemoryLayout<Value>.size <= bytes.count)
    unsafe bytes.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
  }

  @inline(__always) func store(_ reference: PageReference, at offset: Int) {
    store(reference.checksum, at: offset)
    store(reference.location, at: offset + 8)
    store(reference.origin, at: offset + 16)
  }

  func store(_ root: TreeRoot, at offset: Int) {
    unsafe precondition(offset >= 0 && offset + TreeRoot.byteCount <= bytes.count)
    if let base = unsafe bytes.baseAddress { unsafe root.store(to: base + offset) }
  }

  func store(_ raw: [UInt8], at offset: Int) {
    unsafe precondition(offset >= 0 && offset + raw.count <= bytes.count)
    unsafe raw.withUnsafeBytes {
      unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[offset...]).copyMemory(from: $0)
    }
  }

  /// XXH64 of the bytes before `offset`.
  func checksum(before offset: Int) -> UInt64 {
    unsafe Checksum.hash(UnsafeRawBufferPointer(rebasing: bytes[..<offset]))
  }
}
