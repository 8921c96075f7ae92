import CambiumCore

/// Little-endian fields in bytes that are stored.
///
/// Reads trap outside of the array: callers check lengths first.
struct StoredBytes {
  var bytes: [UInt8]

  /// `byteCount` zero bytes.
  init(byteCount: Int) { bytes = [UInt8](repeating: 0, count: byteCount) }

  /// `byteCount` bytes that `fill` fills, which are zero before.
  init(byteCount: Int, _ fill: (UnsafeFields) -> Void) {
    bytes = [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, filledCount in
      let fields = UnsafeMutableRawBufferPointer(buffer)
      fields.initializeMemory(as: UInt8.self, repeating: 0)
      fill(UnsafeFields(bytes: fields))
      filledCount = byteCount
    }
  }

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  init(_ buffer: PageBuffer) {
    bytes = Array(UnsafeRawBufferPointer(start: buffer.bytes, count: buffer.byteCount))
  }

  func load<Value: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as: Value.Type) -> Value {
    precondition(offset >= 0 && offset + MemoryLayout<Value>.size <= bytes.count)
    return bytes.withUnsafeBytes {
      Value(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: Value.self))
    }
  }

  mutating func store<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value, at offset: Int) {
    precondition(offset >= 0 && offset + MemoryLayout<Value>.size <= bytes.count)
    bytes.withUnsafeMutableBytes {
      $0.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
    }
  }

  func reference(_ offset: Int) -> PageReference {
    PageReference(
      checksum: load(offset, as: UInt64.self), location: load(offset + 8, as: UInt64.self),
      origin: load(offset + 16, as: UInt64.self))
  }

  mutating func store(_ reference: PageReference, at offset: Int) {
    store(reference.checksum, at: offset)
    store(reference.location, at: offset + 8)
    store(reference.origin, at: offset + 16)
  }

  mutating func store(_ root: TreeRoot, at offset: Int) {
    precondition(offset >= 0 && offset + TreeRoot.byteCount <= bytes.count)
    bytes.withUnsafeMutableBytes { target in
      if let base = target.baseAddress { root.store(to: base + offset) }
    }
  }

  mutating func store(_ raw: [UInt8], at offset: Int) {
    precondition(offset >= 0 && offset + raw.count <= bytes.count)
    bytes.withUnsafeMutableBytes { target in
      raw.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(rebasing: target[offset...]).copyMemory(from: $0)
      }
    }
  }

  /// Text in a field of `byteCount` bytes, padded with zeros.
  func text(_ offset: Int, byteCount: Int) -> String {
    let field = bytes[offset..<(offset + byteCount)]
    return String(decoding: field.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// XXH64 of the bytes before `offset`.
  func checksum(before offset: Int) -> UInt64 {
    bytes.withUnsafeBytes { Checksum.hash(UnsafeRawBufferPointer(rebasing: $0[..<offset])) }
  }
}

/// Little-endian fields of bytes that are being made, for as long as ``StoredBytes/init(byteCount:_:)``
/// lends them.
///
/// What every commit stores goes this way: an array would be asked at each field who else has it. Writes
/// trap outside of the bytes.
struct UnsafeFields {
  fileprivate let bytes: UnsafeMutableRawBufferPointer

  @inline(__always)
  func store<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value, at offset: Int) {
    precondition(offset >= 0 && offset + MemoryLayout<Value>.size <= bytes.count)
    bytes.storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
  }

  @inline(__always) func store(_ reference: PageReference, at offset: Int) {
    store(reference.checksum, at: offset)
    store(reference.location, at: offset + 8)
    store(reference.origin, at: offset + 16)
  }

  func store(_ root: TreeRoot, at offset: Int) {
    precondition(offset >= 0 && offset + TreeRoot.byteCount <= bytes.count)
    if let base = bytes.baseAddress { root.store(to: base + offset) }
  }

  func store(_ raw: [UInt8], at offset: Int) {
    precondition(offset >= 0 && offset + raw.count <= bytes.count)
    raw.withUnsafeBytes {
      UnsafeMutableRawBufferPointer(rebasing: bytes[offset...]).copyMemory(from: $0)
    }
  }

  /// XXH64 of the bytes before `offset`.
  func checksum(before offset: Int) -> UInt64 {
    Checksum.hash(UnsafeRawBufferPointer(rebasing: bytes[..<offset]))
  }
}
