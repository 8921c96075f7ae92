/// A link from an object's property, told from the object that it leads to.
///
/// A property that links to the same object several times, as a list may, has as many of them.
package struct Backlink: Hashable, Sendable {
  /// The key of the object that the link leads to.
  package var target: Int64
  /// The number of the table with the object that links.
  package var table: UInt32
  /// The column that links.
  package var column: UInt16
  /// The key of the object that links.
  package var source: Int64

  package init(target: Int64, table: UInt32, column: UInt16, source: Int64) {
    self.target = target
    self.table = table
    self.column = column
    self.source = source
  }

  /// Orders links by target, property and source.
  static func areInOrder(_ left: Backlink, _ right: Backlink) -> Bool {
    if left.target != right.target { return left.target < right.target }
    if left.table != right.table { return left.table < right.table }
    if left.column != right.column { return left.column < right.column }
    return left.source < right.source
  }

  /// Orders links by source, and those of one property of a source by target.
  static func areInOrderOfSources(_ left: Backlink, _ right: Backlink) -> Bool {
    if left.table != right.table { return left.table < right.table }
    if left.column != right.column { return left.column < right.column }
    if left.source != right.source { return left.source < right.source }
    return left.target < right.target
  }

  /// The links to the same object from the same property.
  package var group: BacklinkGroup {
    BacklinkGroup(target: target, table: table, column: column)
  }
}

/// The links to one object from one property, and how they are stored.
///
/// Keys in the tree of the links that lead to a class's objects are big-endian, and keys of objects have
/// their sign bit turned, so that the links to one object lie together, and among them those of one
/// property:
///
///     0            8             12           14              22
///     | target key | source table | source column | source key |
///
/// The head of a group is under the first 14 bytes. Its value is the number of links, and behind that
/// their sources. Where those take too much room they lie in blocks of their own, behind the head, each
/// under its first source. See ``SourceRuns``.
///
/// Files without ``StoredFeatures/groupedBacklinks`` have no heads, and each link is a key without a value;
/// a number of 4 bytes behind the source tells repeated links apart.
///
/// Pointers: the caller lends the stored key. Its length is checked in `init(_:)`, and by who asks
/// for the source behind that.
package struct BacklinkGroup: Hashable, Sendable {
  package var target: Int64
  package var table: UInt32
  package var column: UInt16

  package init(target: Int64, table: UInt32, column: UInt16) {
    self.target = target
    self.table = table
    self.column = column
  }

  static let headByteCount = 14
  static let blockByteCount = 22
  /// Of files without heads.
  static let longestByteCount = 26
  private static let signBit: UInt64 = 1 << 63

  /// Reads what a stored key begins with; nil when it is too short.
  init?(_ key: UnsafeRawBufferPointer) {
    guard key.count >= Self.headByteCount else { return nil }
    target = unsafe Self.key(key, 0)
    table = unsafe UInt32(bigEndian: key.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
    column = unsafe UInt16(bigEndian: key.loadUnaligned(fromByteOffset: 12, as: UInt16.self))
  }

  /// The first source of the block under a stored key.
  static func source(_ key: UnsafeRawBufferPointer) -> Int64 { unsafe Self.key(key, headByteCount) }

  private static func key(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Int64 {
    unsafe Int64(
      bitPattern: UInt64(
        bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) ^ signBit)
  }

  /// The key of the head, with which those of the blocks begin.
  package var key: [UInt8] {
    var bytes = Self.prefix(target: target)
    bytes.reserveCapacity(Self.blockByteCount)
    Self.append(UInt64(table), 4, to: &bytes)
    Self.append(UInt64(column), 2, to: &bytes)
    return bytes
  }

  /// The key of the block that begins with `source`.
  func key(ofBlock source: Int64) -> [UInt8] {
    var bytes = key
    Self.append(UInt64(bitPattern: source) ^ Self.signBit, 8, to: &bytes)
    return bytes
  }

  func link(from source: Int64) -> Backlink {
    Backlink(target: target, table: table, column: column, source: source)
  }

  /// What the keys of all links to `target` begin with.
  package static func prefix(target: Int64) -> [UInt8] {
    var bytes: [UInt8] = []
    append(UInt64(bitPattern: target) ^ signBit, 8, to: &bytes)
    return bytes
  }

  private static func append(_ value: UInt64, _ byteCount: Int, to bytes: inout [UInt8]) {
    for shift in stride(from: (byteCount - 1) * 8, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
    }
  }
}
