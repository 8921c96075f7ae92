/// The number of a commit; 48 bits are stored.
public typealias Version = UInt64

/// A run of stored bytes, in units of 64 bytes.
///
/// Stores give out and take back space as extents; a page lies in one.
public struct Extent: Hashable, Sendable, BitwiseCopyable {
  /// The size of the unit in which addresses and lengths are counted.
  public static let unitByteCount = 64

  /// Where it starts, in units.
  public var address: UInt64
  /// How long it is, in units.
  public var unitCount: UInt64

  /// The extent that begins at `address`; both numbers are in units of 64 bytes.
  public init(address: UInt64, unitCount: UInt64) {
    self.address = address
    self.unitCount = unitCount
  }

  /// One past its last unit.
  @inlinable public var end: UInt64 { address &+ unitCount }
  /// Where it starts, in bytes.
  @inlinable public var byteOffset: Int { Int(truncatingIfNeeded: address &* 64) }
  /// How long it is, in bytes.
  @inlinable public var byteCount: Int { Int(truncatingIfNeeded: unitCount &* 64) }

  /// The units that hold `byteCount` bytes.
  @inlinable public static func unitCount(forByteCount byteCount: Int) -> UInt64 {
    UInt64((byteCount + 63) / 64)
  }
}

/// Names a page: where it lies, what its bytes hash to, and the version it was born in.
///
/// A tree whose branches hold references is a Merkle tree: damage shows where it is read, equal
/// references mean equal subtrees, and a page about to be freed tells for which versions it was
/// alive. In a write transaction a reference may instead name a dirty page of that transaction
/// (``isDirty``); such a reference is never stored.
///
/// Stored form, 24 bytes, little-endian:
///
///      0          8                    16
///     | checksum | length 16 | address 48 | kind 8, zero 8 | born 48 |
///
/// Length and address count units of 64 bytes and share a word, length in the low bits; `born`
/// fills the high bits of the last word, whose lowest byte repeats the page's kind.
///
/// Pointers: whoever has a stored form read or written vouches for `byteCount` bytes there: nodes
/// clamp the place to their page, and who reads a list has checked how long it is. No pointer is kept.
@frozen public struct PageReference: Hashable, Sendable, BitwiseCopyable {
  /// XXH64 of the stored bytes, all units of them.
  public var checksum: UInt64
  /// Address and length; see the stored form.
  public var location: UInt64
  /// Birth version and kind; see the stored form.
  public var origin: UInt64

  /// The size of the stored form.
  public static let byteCount = 24

  /// Takes the three stored words as they are.
  @inlinable public init(checksum: UInt64, location: UInt64, origin: UInt64) {
    self.checksum = checksum
    self.location = location
    self.origin = origin
  }

  /// Names the page of `kind` that lies at `extent` and was born in `version`.
  @inlinable public init(checksum: UInt64, extent: Extent, kind: PageKind, born version: Version) {
    self.init(
      checksum: checksum, location: extent.address << 16 | extent.unitCount,
      origin: version << 16 | UInt64(kind.rawValue))
  }

  /// Names dirty page number `index` of the running write transaction.
  @inlinable public init(dirty index: Int, kind: PageKind) {
    self.init(checksum: 0, location: .max, origin: UInt64(index) << 16 | UInt64(kind.rawValue))
  }

  /// The reference of an empty tree: it names no page.
  @inlinable public static var none: PageReference {
    PageReference(checksum: 0, location: 0, origin: 0)
  }

  /// Whether it names no page.
  @inlinable public var isNone: Bool { location == 0 }
  /// Whether it names a dirty page of the running write transaction.
  @inlinable public var isDirty: Bool { location == .max }
  /// The number of the dirty page; meaningful only if ``isDirty``.
  @inlinable public var dirtyIndex: Int { Int(truncatingIfNeeded: origin >> 16) }

  /// Where it starts, in units of 64 bytes.
  @inlinable public var address: UInt64 { location >> 16 }
  /// How long it is, in units of 64 bytes; at most 65,535 (just under 4 MiB).
  @inlinable public var unitCount: UInt64 { location & 0xffff }
  /// Where it starts, in bytes.
  @inlinable public var byteOffset: Int { Int(truncatingIfNeeded: (location >> 16) &* 64) }
  /// How many bytes are stored.
  @inlinable public var byteCount: Int { Int(truncatingIfNeeded: (location & 0xffff) &* 64) }
  /// Where it lies.
  @inlinable public var extent: Extent { Extent(address: address, unitCount: unitCount) }
  /// The version of the commit that wrote it.
  @inlinable public var born: Version { origin >> 16 }
  /// The raw kind of the page it names.
  @inlinable public var rawKind: UInt8 { UInt8(truncatingIfNeeded: origin) }

  /// Reads the stored form at `pointer`; any alignment.
  @inlinable public init(loadingFrom pointer: UnsafeRawPointer) {
    unsafe self.init(
      checksum: UInt64(littleEndian: pointer.loadUnaligned(as: UInt64.self)),
      location: UInt64(littleEndian: pointer.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
      origin: UInt64(littleEndian: pointer.loadUnaligned(fromByteOffset: 16, as: UInt64.self)))
  }

  /// Writes the stored form at `pointer`; any alignment.
  @inlinable public func store(to pointer: UnsafeMutableRawPointer) {
    unsafe pointer.storeBytes(of: checksum.littleEndian, as: UInt64.self)
    unsafe pointer.storeBytes(of: location.littleEndian, toByteOffset: 8, as: UInt64.self)
    unsafe pointer.storeBytes(of: origin.littleEndian, toByteOffset: 16, as: UInt64.self)
  }
}
