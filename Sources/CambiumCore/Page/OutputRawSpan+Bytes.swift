/// Pointers: memory of the call's own, whose first bytes `write` has initialized.
extension [UInt8] {
  /// What `write` appends, of `limit` bytes at most; takes no more memory than that in the end.
  package init(limit: Int, _ write: (inout OutputRawSpan) -> Void) {
    self = unsafe withUnsafeTemporaryAllocation(byteCount: limit, alignment: 8) { memory in
      var bytes = unsafe OutputRawSpan(buffer: memory, initializedCount: 0)
      write(&bytes)
      let count = unsafe bytes.finalize(for: memory)
      return unsafe [UInt8](UnsafeRawBufferPointer(rebasing: memory[..<count]))
    }
  }
}

/// Pointers: the span's own memory during one call, whose room is checked before.
extension OutputRawSpan {
  /// Appends a number of 32 bits, little-endian.
  package mutating func append(_ number: Int) {
    unsafe append(UInt32(number).littleEndian, as: UInt32.self)
  }

  /// Appends bytes as they are; there must be room for them.
  package mutating func append(copying more: UnsafeRawBufferPointer) {
    guard let start = more.baseAddress else { return }
    precondition(more.count <= freeCapacity, "There is no room for what is appended.")
    unsafe withUnsafeMutableBytes { bytes, count in
      guard let target = bytes.baseAddress else { return }
      unsafe (target + count).copyMemory(from: start, byteCount: more.count)
      count += more.count
    }
  }

  /// Appends bytes as they are; there must be room for them.
  package mutating func append(copying more: [UInt8]) {
    unsafe more.withUnsafeBytes { unsafe append(copying: $0) }
  }

  /// Puts `number`, little-endian, where something else was appended before.
  package mutating func store<Number: FixedWidthInteger & BitwiseCopyable>(
    _ number: Number, at offset: Int
  ) {
    precondition(offset + MemoryLayout<Number>.size <= byteCount, "Nothing was appended there.")
    unsafe withUnsafeMutableBytes { bytes, _ in
      unsafe bytes.storeBytes(of: number.littleEndian, toByteOffset: offset, as: Number.self)
    }
  }
}
