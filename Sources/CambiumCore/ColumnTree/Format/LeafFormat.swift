/// The header of a column leaf; all integers are little-endian.
///
///      0      1       2         4      8      12    13    16     24       32     36    40
///     | kind | flags | columns | rows | used | key | 0   | key  | key    | key  | 0   | directory…
///     |      |       | 16      | 32   | 32   | bits| 24  | base | stride | at 32| 32  |
///
/// The key of row *i* is `base + stride · i + offset[i]`, wrapping around, where the offsets are
/// `key bits` wide and start `key at` bytes in; dense keys have stride 1 and no offsets. A leaf of a
/// tree by position (flag bit 0) has base 0, stride 1 and no offsets. `used` is one past the last
/// byte of any segment; at least ``LeafHeader/slackByteCount`` readable bytes follow it, so that a
/// kernel may read 16 bytes wherever one is in use. Directory and segments begin at multiples of 8.
@usableFromInline enum LeafHeader {
  static let kind = 0
  static let flags = 1
  static let columnCount = 2
  @usableFromInline static let rowCount = 4
  static let usedByteCount = 8
  @usableFromInline static let keyWidth = 12
  @usableFromInline static let keyBase = 16
  @usableFromInline static let keyStride = 24
  @usableFromInline static let keyOffset = 32
  static let byteCount = 40

  /// The flag of a leaf without keys.
  static let isPositional: UInt8 = 1
  /// Readable bytes behind the last used one.
  static let slackByteCount = 16
  /// More rows than any leaf may hold.
  static let rowLimit = 1 << 20
}

/// An entry of a column leaf's directory, sorted by column id.
///
///      0    2      3          4       5        6        7       8       12         16     20       24     32
///     | id | type | encoding | width | length | anchor | flags | nulls | overflow | data | length | base | extra |
///     | 16 |      |          | bits  | bits   | bits   |       | at 32 | at 32    | at 32| 32     | 64   | 64    |
///
/// Flag bit 0 says that the column is nullable, so that null is its default.
/// `nulls` and `overflow` lead to bitmaps (a bit for each row, lowest first) and are 0 when there is
/// none. `base` is an integer column's base (0 with 64-bit offsets; base + 2^width − 1 never
/// overflows) or, with `extra`, the low and high word of a constant. Packed 128-bit values have the base
/// of their high words in `base`, that of their low ones in `extra`, and the low ones' bits in `length
/// bits`, which are 0 where all low words are the same; the low words begin behind the high ones at a
/// multiple of 8. In columns of bytes `base` is
/// the common length (32 bits; used when `length bits` is 0) and the number of entries (32 bits), and
/// `extra` the lengths of the common prefix and suffix (32 bits each).
///
/// The data of a column of bytes, each part padded to 8 bytes except the last:
///
///     | codes (dictionary only) | lengths | anchors | prefix, suffix, entries one after another |
///
/// An anchor tells for every 16th entry where it begins, counted from the first entry. The entries
/// are the rows, or the distinct values of a dictionary, or the one value of a constant. A cell whose
/// overflow bit is set holds an ``OverflowCell`` in place of its value.
@usableFromInline enum LeafEntry {
  static let id = 0
  static let type = 2
  static let encoding = 3
  static let width = 4
  static let lengthWidth = 5
  static let anchorWidth = 6
  static let flags = 7
  @usableFromInline static let nulls = 8
  static let overflow = 12
  @usableFromInline static let dataOffset = 16
  @usableFromInline static let dataByteCount = 20
  @usableFromInline static let base = 24
  @usableFromInline static let extra = 32
  static let byteCount = 40

  /// The flag of a column whose default is null.
  static let isNullable: UInt8 = 1

  static let fixedLength = base
  static let entryCount = base + 4
  static let prefix = extra
  static let suffix = extra + 4

  /// How many entries share an anchor.
  @usableFromInline static let anchorSpan = 16
}

/// Reads little-endian integers at any alignment.
///
/// Pointers: who asks has the bytes at that offset.
extension UnsafeRawPointer {
  @inline(__always) func byte(_ offset: Int) -> UInt8 {
    unsafe load(fromByteOffset: offset, as: UInt8.self)
  }
  @inline(__always) func half(_ offset: Int) -> UInt16 {
    unsafe UInt16(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }
  @inline(__always) func single(_ offset: Int) -> UInt32 {
    unsafe UInt32(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }
  @inline(__always) func word(_ offset: Int) -> UInt64 {
    unsafe UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}

/// Writes little-endian integers at any alignment.
///
/// Pointers: who asks owns the bytes at that offset.
extension UnsafeMutableRawPointer {
  @inline(__always) func put(byte value: UInt8, _ offset: Int) {
    unsafe storeBytes(of: value, toByteOffset: offset, as: UInt8.self)
  }
  @inline(__always) func put(half value: UInt16, _ offset: Int) {
    unsafe storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt16.self)
  }
  @inline(__always) func put(single value: UInt32, _ offset: Int) {
    unsafe storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt32.self)
  }
  @inline(__always) func put(word value: UInt64, _ offset: Int) {
    unsafe storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt64.self)
  }
}

/// `count` rounded up to a multiple of 8.
@inline(__always) func aligned8(_ count: Int) -> Int { (count &+ 7) & ~7 }
