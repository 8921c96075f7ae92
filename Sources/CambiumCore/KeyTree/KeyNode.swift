/// A leaf or branch of a ``KeyTree``, read in place.
///
/// The keys of a node share a prefix that is stored once. An entry is a slot of 8 bytes, sorted by
/// key, and a cell in the heap. A slot holds the first four bytes of what follows the prefix (the
/// head), so that most comparisons touch slots only; the cell holds the rest. Offsets count back
/// from `end`, so that a node moves to a larger or tighter page without touching its slots.
///
///      0      1      2       4        6        8     10     12        14
///     | kind | zero | count | prefix | prefix | end | heap | garbage | overflow |
///                              length   offset
///      16                16 + 8·count         end − heap               end
///     | slots             | free, if dirty   | cells and prefix, any order |
///
///     slot         | head 4 | offset 2 | suffix length 2 |
///     leaf cell    | value length 2 | rest of suffix | value |
///     branch cell  | page reference 24 | rows below 8 | rest of separator |
///
/// All integers are little-endian; a head is a number whose most significant byte comes first in the
/// key, padded with zeros. A value length of 0xFFFF stands for an ``OverflowValue`` of 32 bytes.
/// `overflow` counts those of a leaf. `garbage` counts heap bytes that no slot reaches; stored nodes
/// have none, and no free room. A branch has two children or more; the first has an empty separator
/// that takes no part in the prefix, and child `i` holds the keys from separator `i` up to, not
/// including, separator `i` + 1.
///
/// Pointers: the node does not keep its page; whoever uses it does. Reads are bounded by the page even after
/// it was checked, because storage can rot under a mapping: the header is clamped when the node is made, the
/// place and length of a cell whenever it is read. The user vouches for indices below `count`.
@usableFromInline
@safe struct KeyNode {
  /// Offsets of the header fields, in bytes.
  enum Field {
    static let kind = 0
    static let count = 2
    static let prefixLength = 4
    static let prefixOffset = 6
    static let end = 8
    static let heap = 10
    static let garbage = 12
    static let overflow = 14
  }

  @usableFromInline static let headerByteCount = 16
  @usableFromInline static let slotByteCount = 8
  /// Bytes of a leaf cell before the rest of the key.
  @usableFromInline static let leafCellHeader = 2
  /// Bytes of a branch cell before the rest of the separator.
  @usableFromInline static let branchCellHeader = 32
  /// The value length that stands for an overflow value.
  @usableFromInline static let overflowMark = 0xffff
  /// The longest key, in bytes.
  @usableFromInline static let maximumKeyByteCount = 512
  /// The longest value stored beside its key, in bytes.
  @usableFromInline static let maximumInlineByteCount = 1024
  /// The largest node: offsets have 16 bits.
  static let maximumByteCount = 65_472

  @usableFromInline let bytes: UnsafeRawPointer
  /// How many entries it has.
  @usableFromInline let count: Int
  @usableFromInline let end: Int
  @usableFromInline let prefixLength: Int
  @usableFromInline let prefixStart: Int

  @inlinable @inline(__always)
  init(_ page: Page) { unsafe self.init(page.bytes, byteCount: page.byteCount) }

  /// The node in `byteCount` bytes, at least 64 (a unit).
  @inlinable @inline(__always)
  init(_ bytes: UnsafeRawPointer, byteCount: Int) {
    unsafe self.bytes = unsafe bytes
    let low = unsafe UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
    let high = unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    let end = max(16, min(Int(truncatingIfNeeded: high & 0xffff), byteCount))
    self.end = end
    count = min(Int(truncatingIfNeeded: low >> 16 & 0xffff), (end &- 16) >> 3)
    let prefixStart = max(0, end &- Int(truncatingIfNeeded: low >> 48))
    self.prefixStart = prefixStart
    prefixLength = min(Int(truncatingIfNeeded: low >> 32 & 0xffff), end &- prefixStart)
  }

  /// The bytes that all keys begin with.
  @inlinable
  var prefix: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: bytes + prefixStart, count: prefixLength)
  }

  @inlinable @inline(__always)
  func slot(_ index: Int) -> KeySlot {
    unsafe KeySlot(
      raw: UInt64(
        littleEndian: bytes.loadUnaligned(
          fromByteOffset: 16 &+ index &* 8, as: UInt64.self)))
  }

  /// Where the cell of `slot` begins; at least `header` bytes follow.
  @inlinable @inline(__always)
  func cell(_ slot: KeySlot, header: Int) -> Int {
    max(0, min(end &- slot.offset, end &- header))
  }

  /// The part of the key behind prefix and head; `cell` from ``cell(_:header:)``.
  @inlinable @inline(__always)
  func rest(_ slot: KeySlot, cell: Int, header: Int) -> UnsafeRawBufferPointer {
    let start = cell &+ header
    return unsafe UnsafeRawBufferPointer(
      start: bytes + start, count: min(slot.restLength, max(0, end &- start)))
  }
}

/// One slot of a ``KeyNode``.
///
/// Pointers: a head is made of the first bytes of a suffix, of which the caller says how many there
/// are.
@usableFromInline
struct KeySlot {
  @usableFromInline var raw: UInt64

  @inlinable @inline(__always)
  init(raw: UInt64) { self.raw = raw }

  @inlinable @inline(__always)
  init(head: UInt32, offset: Int, suffixLength: Int) {
    raw =
      UInt64(head) | UInt64(truncatingIfNeeded: offset) << 32
      | UInt64(truncatingIfNeeded: suffixLength) << 48
  }

  /// The first four bytes of the suffix.
  @inlinable @inline(__always)
  var head: UInt32 { UInt32(truncatingIfNeeded: raw) }

  /// How far before the node's end its cell lies.
  @inlinable @inline(__always)
  var offset: Int { Int(truncatingIfNeeded: raw >> 32 & 0xffff) }

  /// How long the key is behind the prefix.
  @inlinable @inline(__always)
  var suffixLength: Int { Int(truncatingIfNeeded: raw >> 48) }

  /// How long the key is behind prefix and head.
  @inlinable @inline(__always)
  var restLength: Int { max(0, suffixLength &- 4) }

  /// The head of `count` bytes at `pointer`.
  @inlinable @inline(__always)
  static func head(_ pointer: UnsafeRawPointer, _ count: Int) -> UInt32 {
    if count >= 4 { return unsafe UInt32(bigEndian: pointer.loadUnaligned(as: UInt32.self)) }
    var head: UInt32 = 0
    var index = 0
    while index < count {
      unsafe head |=
        UInt32(pointer.load(fromByteOffset: index, as: UInt8.self)) << UInt32(24 &- 8 &* index)
      index &+= 1
    }
    return head
  }
}
