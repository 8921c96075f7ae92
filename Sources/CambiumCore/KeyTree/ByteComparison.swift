/// Comparisons of raw bytes, inline: keys are short, and a call costs more than the work.
///
/// Pointers: the bytes belong to the caller and stay for the length of the call. He vouches for `count`
/// of them at both places; nothing behind those is read.
@usableFromInline
enum ByteComparison {
  /// How many leading bytes of `a` and `b` are equal, at most `count`.
  @inlinable @inline(__always)
  static func commonPrefix(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, _ count: Int) -> Int {
    var position = 0
    while position &+ 8 <= count {
      let difference =
        unsafe a.loadUnaligned(fromByteOffset: position, as: UInt64.self)
        ^ b.loadUnaligned(fromByteOffset: position, as: UInt64.self)
      if difference != 0 {
        return position &+ UInt64(littleEndian: difference).trailingZeroBitCount / 8
      }
      position &+= 8
    }
    while position < count {
      if unsafe a.load(fromByteOffset: position, as: UInt8.self)
        != b.load(fromByteOffset: position, as: UInt8.self)
      {
        return position
      }
      position &+= 1
    }
    return count
  }

  /// Below, at or above zero as the `count` bytes at `a` sort before, with or after those at `b`.
  @inlinable @inline(__always)
  static func order(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, _ count: Int) -> Int {
    let position = unsafe commonPrefix(a, b, count)
    if position == count { return 0 }
    return unsafe Int(a.load(fromByteOffset: position, as: UInt8.self))
      - Int(b.load(fromByteOffset: position, as: UInt8.self))
  }

  /// Below, at or above zero as `a` sorts before, with or after `b`; a prefix sorts first.
  @inlinable
  static func order(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
    let count = min(a.count, b.count)
    if count > 0, let left = a.baseAddress, let right = b.baseAddress {
      let order = unsafe order(left, right, count)
      if order != 0 { return order }
    }
    return a.count - b.count
  }
}
