import CambiumCore

/// Little-endian fields in bytes that are stored.
///
/// Reads trap outside of the array: callers check lengths first.
struct StoredBytes {
  var bytes: [UInt8]

  /// `byteCount` zero bytes.
  init(byteCount: Int) { bytes = [UInt8](repeating: 0, count: byteCount) }

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
