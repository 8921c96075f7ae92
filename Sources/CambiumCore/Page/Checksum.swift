/// XXH64 with seed 0, as published by its author (xxHash specification, version 0.1.1).
///
/// About 75 ns per KiB; the file format names the algorithm, so that a later format can change it.
///
/// Pointers: the bytes belong to the caller and stay for the length of the call. Words are read only
/// while all of them lie before the end.
public enum Checksum {
  /// The algorithm's number in the file format.
  public static let algorithm: UInt8 = 1

  @usableFromInline static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
  @usableFromInline static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
  @usableFromInline static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
  @usableFromInline static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
  @usableFromInline static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

  @inline(__always) private static func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 {
    value << count | value >> (64 &- count)
  }

  @inline(__always) private static func round(_ accumulator: UInt64, _ lane: UInt64) -> UInt64 {
    rotate(accumulator &+ lane &* prime2, 31) &* prime1
  }

  @inline(__always) private static func merge(_ hash: UInt64, _ accumulator: UInt64) -> UInt64 {
    (hash ^ round(0, accumulator)) &* prime1 &+ prime4
  }

  /// The hash of `byteCount` bytes at `pointer`; any alignment.
  package static func hash(_ pointer: UnsafeRawPointer, _ byteCount: Int) -> UInt64 {
    var position = unsafe pointer
    let end = unsafe pointer + byteCount
    var hash: UInt64
    if byteCount >= 32 {
      var a = prime1 &+ prime2
      var b = prime2
      var c: UInt64 = 0
      var d = 0 &- prime1
      let limit = unsafe end - 32
      repeat {
        a = unsafe round(a, word(position, 0))
        b = unsafe round(b, word(position, 8))
        c = unsafe round(c, word(position, 16))
        d = unsafe round(d, word(position, 24))
        unsafe position += 32
      } while unsafe position <= limit
      hash = rotate(a, 1) &+ rotate(b, 7) &+ rotate(c, 12) &+ rotate(d, 18)
      hash = merge(merge(merge(merge(hash, a), b), c), d)
    } else {
      hash = prime5
    }
    hash = hash &+ UInt64(byteCount)
    while unsafe position + 8 <= end {
      hash = unsafe rotate(hash ^ round(0, word(position, 0)), 27) &* prime1 &+ prime4
      unsafe position += 8
    }
    if unsafe position + 4 <= end {
      let value = unsafe UInt32(littleEndian: position.loadUnaligned(as: UInt32.self))
      hash = rotate(hash ^ UInt64(value) &* prime1, 23) &* prime2 &+ prime3
      unsafe position += 4
    }
    while unsafe position < end {
      hash = unsafe rotate(hash ^ UInt64(position.load(as: UInt8.self)) &* prime5, 11) &* prime1
      unsafe position += 1
    }
    hash = (hash ^ hash >> 33) &* prime2
    hash = (hash ^ hash >> 29) &* prime3
    return hash ^ hash >> 32
  }

  private static let emptyHash: UInt64 = 0xEF46_DB37_51D8_E999

  /// The hash of `bytes`.
  public static func hash(_ bytes: Span<UInt8>) -> UInt64 {
    unsafe bytes.withUnsafeBytes { unsafe hash($0) }
  }

  /// The same of bytes that are lent as a pointer.
  package static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    guard let base = bytes.baseAddress else { return emptyHash }
    return unsafe hash(base, bytes.count)
  }

  @inline(__always) private static func word(_ pointer: UnsafeRawPointer, _ offset: Int) -> UInt64 {
    unsafe UInt64(littleEndian: pointer.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
