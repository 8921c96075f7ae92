/// A column to sort rows by, and the direction.
///
/// Integers and floating point sort by value (NaN before all numbers, −0 with 0), false before true,
/// bytes as `memcmp` has them, shorter ones before those they begin; 128-bit values as unsigned
/// numbers. Null comes before everything else, descending after it, and so does a cell that holds a
/// tree.
public struct SortTerm: Hashable, Sendable {
  /// The column.
  public var column: ColumnSpec
  /// Whether small values come first.
  public var isAscending: Bool

  /// Sorts by `column`, small values first unless the order is descending.
  public init(_ column: ColumnSpec, isAscending: Bool = true) {
    self.column = column
    self.isAscending = isAscending
  }
}

/// The beginning of a value as 128 bits that sort as it does, the first ones first.
///
/// Pointers: the bytes belong to the caller for the length of a call. Where 16 are read whatever the
/// count is, he vouches for those: leaves and sorters have as many behind every text.
struct SortWord: BitwiseCopyable {
  var first: UInt64
  var second: UInt64

  @inline(__always) init(_ first: UInt64, _ second: UInt64) {
    (self.first, self.second) = (first, second)
  }

  /// The first 16 bytes of `count` at `start`, and zeros in place of those that are missing.
  ///
  /// 16 bytes are read, whatever `count` is.
  @inline(__always) init(reading16 start: UnsafeRawPointer, _ count: Int) {
    // Lengths are nobody's guess, so no branch depends on them; shifting by 64 gives zero.
    let firstMask = ~(UInt64.max >> UInt64(min(count, 8) &* 8))
    let secondMask = ~(UInt64.max >> UInt64((max(8, min(count, 16)) &- 8) &* 8))
    first = unsafe UInt64(bigEndian: start.loadUnaligned(as: UInt64.self)) & firstMask
    second =
      unsafe UInt64(bigEndian: start.loadUnaligned(fromByteOffset: 8, as: UInt64.self)) & secondMask
  }

  /// The first bytes of `head` and, behind it, `body`; 16 bytes are read from the start of each.
  @inline(__always) init(_ head: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer) {
    guard let start = head.baseAddress, head.count > 0 else {
      self =
        unsafe body.baseAddress.map { unsafe SortWord(reading16: $0, body.count) } ?? SortWord(0, 0)
      return
    }
    unsafe self.init(reading16: start, head.count)
    guard head.count < 16, let next = body.baseAddress else { return }
    let rest = unsafe SortWord(reading16: next, body.count)
    let shift = UInt64(head.count &* 8)
    if shift < 64 {
      first |= rest.first >> shift
      second = rest.second >> shift | rest.first << (64 - shift)
    } else {
      second |= rest.first >> (shift - 64)
    }
  }

  /// The first bytes of `bytes`.
  init(_ bytes: UnsafeRawBufferPointer) {
    var copy = SortWord(0, 0)
    unsafe withUnsafeMutableBytes(of: &copy) { copy in
      unsafe copy.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(16)))
    }
    self.init(UInt64(bigEndian: copy.first), UInt64(bigEndian: copy.second))
  }

  /// Doubles as unsigned numbers in their order; NaN first, −0 with 0.
  @inline(__always) static func order(_ value: Double) -> UInt64 {
    if value.isNaN { return 0 }
    let bits = value == 0 ? 0 : value.bitPattern
    return bits >> 63 == 1 ? ~bits : bits | 1 << 63
  }
}
