extension Span<UInt8> {
  /// Reads a little-endian integer `offset` bytes in, at any alignment; traps out of bounds.
  ///
  /// Pointers: the load checks its bounds, bytes have no padding, and every bit pattern is a value of
  /// `Word`.
  @inline(__always)
  func littleEndian<Word: FixedWidthInteger & BitwiseCopyable>(
    _: Word.Type, at offset: Int
  ) -> Word {
    Word(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Word.self))
  }
}
