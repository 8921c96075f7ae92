/// The key of one link in the tree of links that lead to a class's objects.
///
/// Big-endian, so that the links to one object, and among them those of one property, lie together:
///
///      0            8             12           14              22         26
///     | target key | source table | source column | source key | ordinal |
///
/// Keys have their sign bit turned. A property that links to the same object several times, as a
/// list may, has one entry for each link: the ordinal counts them and is left out of the first.
/// Values are empty.
package struct BacklinkKey: Hashable, Sendable {
  package var target: Int64
  package var table: UInt32
  package var column: UInt16
  package var source: Int64
  package var ordinal: UInt32 = 0

  package init(target: Int64, table: UInt32, column: UInt16, source: Int64) {
    self.target = target
    self.table = table
    self.column = column
    self.source = source
  }

  /// Reads a stored key; nil when it is none.
  package init?(_ bytes: some Collection<UInt8>) {
    let bytes = Array(bytes)
    guard bytes.count == Self.byteCount || bytes.count == Self.byteCount + 4 else { return nil }
    func number(_ range: Range<Int>) -> UInt64 {
      bytes[range].reduce(0) { $0 << 8 | UInt64($1) }
    }
    target = Int64(bitPattern: number(0..<8) ^ Self.signBit)
    table = UInt32(truncatingIfNeeded: number(8..<12))
    column = UInt16(truncatingIfNeeded: number(12..<14))
    source = Int64(bitPattern: number(14..<22) ^ Self.signBit)
    if bytes.count > Self.byteCount {
      ordinal = UInt32(truncatingIfNeeded: number(22..<26))
    }
  }

  package static let byteCount = 22
  private static let signBit: UInt64 = 1 << 63

  /// The stored form.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.byteCount + 4)
    bytes += Self.prefix(target: target, table: table, column: column)
    Self.append(UInt64(bitPattern: source) ^ Self.signBit, 8, to: &bytes)
    if ordinal > 0 { Self.append(UInt64(ordinal), 4, to: &bytes) }
    return bytes
  }

  /// Calls `body` with the stored form without allocating.
  func withStoredBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    withUnsafeTemporaryAllocation(byteCount: Self.byteCount + 4, alignment: 1) { buffer in
      buffer.storeBytes(
        of: (UInt64(bitPattern: target) ^ Self.signBit).bigEndian, as: UInt64.self)
      buffer.storeBytes(of: table.bigEndian, toByteOffset: 8, as: UInt32.self)
      buffer.storeBytes(of: column.bigEndian, toByteOffset: 12, as: UInt16.self)
      buffer.storeBytes(
        of: (UInt64(bitPattern: source) ^ Self.signBit).bigEndian, toByteOffset: 14,
        as: UInt64.self)
      buffer.storeBytes(of: ordinal.bigEndian, toByteOffset: Self.byteCount, as: UInt32.self)
      let byteCount = ordinal > 0 ? Self.byteCount + 4 : Self.byteCount
      return body(UnsafeRawBufferPointer(rebasing: buffer[..<byteCount]))
    }
  }

  /// Whether the tree has `left` before `right`; ordinals do not count.
  static func areInOrder(_ left: BacklinkKey, _ right: BacklinkKey) -> Bool {
    if left.target != right.target { return left.target < right.target }
    if left.table != right.table { return left.table < right.table }
    if left.column != right.column { return left.column < right.column }
    return left.source < right.source
  }

  /// Orders links by source, and those of one property of a source by target.
  static func areInOrderOfSources(_ left: BacklinkKey, _ right: BacklinkKey) -> Bool {
    if left.table != right.table { return left.table < right.table }
    if left.column != right.column { return left.column < right.column }
    if left.source != right.source { return left.source < right.source }
    return left.target < right.target
  }

  /// What the keys of all links to `target` begin with.
  package static func prefix(target: Int64) -> [UInt8] {
    var bytes: [UInt8] = []
    append(UInt64(bitPattern: target) ^ signBit, 8, to: &bytes)
    return bytes
  }

  /// What the keys of all links to `target` from one property begin with.
  package static func prefix(target: Int64, table: UInt32, column: UInt16) -> [UInt8] {
    var bytes = prefix(target: target)
    append(UInt64(table), 4, to: &bytes)
    append(UInt64(column), 2, to: &bytes)
    return bytes
  }

  /// The first key behind all those that begin with `prefix`; nil when there is none.
  package static func end(of prefix: [UInt8]) -> [UInt8]? {
    var bytes = prefix
    while let last = bytes.popLast() {
      if last < 0xFF { return bytes + [last + 1] }
    }
    return nil
  }

  private static func append(_ value: UInt64, _ byteCount: Int, to bytes: inout [UInt8]) {
    for shift in stride(from: (byteCount - 1) * 8, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
    }
  }
}
