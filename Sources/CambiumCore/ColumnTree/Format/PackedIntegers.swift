/// Unsigned integers of 0, 1, 2, 4, 8, 16, 32 or 64 bits, one after another, lowest bits first.
///
/// Pointers: the caller has memory for all values up to the one asked for, as `byteCount(_:_:)` tells, and
/// where many are packed or unpacked, at an address for integers of their width: segments begin at multiples
/// of 8.
@usableFromInline enum PackedIntegers {
  /// Whether the format knows `width`.
  static func isWidth(_ width: UInt8) -> Bool {
    width <= 64 && (width == 0 || width & (width &- 1) == 0)
  }

  /// The bytes of `count` values.
  @inlinable @inline(__always) static func byteCount(_ count: Int, _ width: UInt8) -> Int {
    (count &* Int(width) &+ 7) >> 3
  }

  /// The narrowest width that holds `value`.
  @inlinable static func width(of value: UInt64) -> UInt8 {
    let bits = 64 - value.leadingZeroBitCount
    if bits <= 2 { return UInt8(bits) }
    if bits <= 4 { return 4 }
    if bits <= 8 { return 8 }
    if bits <= 16 { return 16 }
    return bits <= 32 ? 32 : 64
  }

  /// The largest value of `width` bits.
  @inlinable @inline(__always) static func maximum(_ width: UInt8) -> UInt64 {
    width >= 64 ? .max : (1 &<< UInt64(width)) &- 1
  }

  /// The value at `index`.
  @inlinable @inline(__always)
  static func load(_ data: UnsafeRawPointer, _ width: UInt8, _ index: Int) -> UInt64 {
    switch width {
    case 8: return unsafe UInt64(data.load(fromByteOffset: index, as: UInt8.self))
    case 16:
      return unsafe UInt64(
        UInt16(littleEndian: data.loadUnaligned(fromByteOffset: index &* 2, as: UInt16.self)))
    case 32:
      return unsafe UInt64(
        UInt32(littleEndian: data.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self)))
    case 64:
      return unsafe UInt64(
        littleEndian: data.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self))
    case 0: return 0
    default:
      let bit = index &* Int(width)
      let byte = unsafe data.load(fromByteOffset: bit >> 3, as: UInt8.self)
      return UInt64((byte &>> UInt8(truncatingIfNeeded: bit & 7)) & ((1 &<< width) &- 1))
    }
  }

  /// Puts `value` at `index`; it must fit.
  static func store(
    _ value: UInt64, _ data: UnsafeMutableRawPointer, _ width: UInt8, _ index: Int
  ) {
    switch width {
    case 0: return
    case 8: unsafe data.put(byte: UInt8(truncatingIfNeeded: value), index)
    case 16: unsafe data.put(half: UInt16(truncatingIfNeeded: value), index * 2)
    case 32: unsafe data.put(single: UInt32(truncatingIfNeeded: value), index * 4)
    case 64: unsafe data.put(word: value, index * 8)
    default:
      let bit = index * Int(width)
      let shift = UInt8(bit & 7)
      let mask = ((1 as UInt8) << width) - 1
      let byte = unsafe UnsafeRawPointer(data).byte(bit >> 3)
      let cleared = byte & ~(mask << shift)
      unsafe data.put(byte: cleared | (UInt8(truncatingIfNeeded: value) & mask) << shift, bit >> 3)
    }
  }

  /// Packs `count` differences from `base` to `values`; the bytes at `data` are zero.
  static func pack(
    _ values: UnsafePointer<Int64>, count: Int, base: Int64, width: UInt8,
    into data: UnsafeMutableRawPointer
  ) {
    switch width {
    case 0: return
    case 8:
      let out = unsafe data.assumingMemoryBound(to: UInt8.self)
      for index in 0..<count {
        unsafe out[index] = unsafe UInt8(truncatingIfNeeded: values[index] &- base)
      }
    case 16:
      let out = unsafe data.assumingMemoryBound(to: UInt16.self)
      for index in 0..<count {
        unsafe out[index] = unsafe UInt16(truncatingIfNeeded: values[index] &- base).littleEndian
      }
    case 32:
      let out = unsafe data.assumingMemoryBound(to: UInt32.self)
      for index in 0..<count {
        unsafe out[index] = unsafe UInt32(truncatingIfNeeded: values[index] &- base).littleEndian
      }
    case 64:
      let out = unsafe data.assumingMemoryBound(to: UInt64.self)
      for index in 0..<count {
        unsafe out[index] = unsafe UInt64(bitPattern: values[index] &- base).littleEndian
      }
    default:
      let out = unsafe data.assumingMemoryBound(to: UInt8.self)
      let perByte = 8 / Int(width)
      for index in 0..<count {
        let value = unsafe UInt8(truncatingIfNeeded: values[index] &- base)
        unsafe out[index / perByte] |= value << UInt8(index % perByte * Int(width))
      }
    }
  }

  /// Unpacks `count` values from row `first` on, each added to `base`.
  @inlinable
  static func unpack(
    _ data: UnsafeRawPointer, width: UInt8, base: Int64, first: Int, count: Int,
    into values: UnsafeMutablePointer<Int64>
  ) {
    switch width {
    case 0:
      for index in 0..<count { unsafe values[index] = base }
    case 8:
      let source = unsafe (data + first).assumingMemoryBound(to: UInt8.self)
      for index in 0..<count { unsafe values[index] = unsafe base &+ Int64(source[index]) }
    case 16:
      let source = unsafe (data + first * 2).assumingMemoryBound(to: UInt16.self)
      for index in 0..<count {
        unsafe values[index] = unsafe base &+ Int64(UInt16(littleEndian: source[index]))
      }
    case 32:
      let source = unsafe (data + first * 4).assumingMemoryBound(to: UInt32.self)
      for index in 0..<count {
        unsafe values[index] = unsafe base &+ Int64(UInt32(littleEndian: source[index]))
      }
    case 64:
      let source = unsafe (data + first * 8).assumingMemoryBound(to: Int64.self)
      for index in 0..<count {
        unsafe values[index] = unsafe base &+ Int64(littleEndian: source[index])
      }
    default:
      for index in 0..<count {
        unsafe values[index] = unsafe base &+ Int64(bitPattern: load(data, width, first &+ index))
      }
    }
  }
}
