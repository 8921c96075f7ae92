/// Keys of an index made of names: the name, a zero, and the key of the person.
enum IndexKey {
  @inline(__always)
  static func with<Result>(
    _ name: UnsafeRawBufferPointer, _ key: Int64,
    _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    try withUnsafeTemporaryAllocation(byteCount: name.count + 9, alignment: 8) { bytes in
      bytes.copyMemory(from: name)
      bytes[name.count] = 0
      bytes.storeBytes(of: key.bigEndian, toByteOffset: name.count + 1, as: Int64.self)
      return try body(UnsafeRawBufferPointer(bytes))
    }
  }

  /// What all keys of a name begin with, or, with a one at the end, what comes right after them.
  @inline(__always)
  static func with<Result>(
    _ name: UnsafeRawBufferPointer, end: UInt8,
    _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    try withUnsafeTemporaryAllocation(byteCount: name.count + 1, alignment: 8) { bytes in
      bytes.copyMemory(from: name)
      bytes[name.count] = end
      return try body(UnsafeRawBufferPointer(bytes))
    }
  }
}
