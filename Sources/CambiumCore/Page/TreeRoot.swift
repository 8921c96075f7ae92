/// Where a tree hangs: its top page, how high it is and how many rows it holds.
///
/// Stored form, 40 bytes, little-endian:
///
///      0                24            30       31     32
///     | page reference | zero 6       | height | kind | row count 8 |
///
/// An empty tree has no page, height 0 and no rows. Height 1 is a single leaf.
///
/// Pointers: a stored form is read when it is known to be whole. Whoever has one written vouches for
/// `byteCount` bytes of room. No pointer is kept.
@frozen public struct TreeRoot: Hashable, Sendable, BitwiseCopyable {
  /// What kind of tree hangs here; raw values are part of the file format.
  @frozen public enum Kind: UInt8, Sendable {
    /// Byte keys, byte values.
    case key = 1
    /// Rows under `Int64` keys, by column.
    case column = 2
    /// Rows by position, by column.
    case position = 3
  }

  /// The top page, or ``PageReference/none``.
  public var reference: PageReference
  /// The number of levels; 0 for an empty tree.
  public var height: UInt8
  /// What kind of tree it is.
  public var kind: Kind
  /// How many rows (or keys) the tree holds.
  public var rowCount: UInt64

  /// The size of the stored form.
  public static let byteCount = 40
  /// No honest tree is higher: each branch has two children or more, and rows are 64-bit.
  public static let maximumHeight: UInt8 = 32

  /// No tree has more rows: sums of a few counts stay far from what an integer holds.
  @inlinable public static var maximumRowCount: UInt64 { 1 << 48 }

  /// The root of a tree whose top page is at `reference`, `height` levels of branches above leaves.
  public init(reference: PageReference, height: UInt8, kind: Kind, rowCount: UInt64) {
    self.reference = reference
    self.height = height
    self.kind = kind
    self.rowCount = rowCount
  }

  /// An empty tree of `kind`.
  public static func empty(_ kind: Kind) -> TreeRoot {
    TreeRoot(reference: .none, height: 0, kind: kind, rowCount: 0)
  }

  /// Whether the tree holds nothing.
  @inlinable public var isEmpty: Bool { reference.isNone }

  /// Whether the catalog, where it names `other`, names this tree as well: one whose top page lies in memory keeps
  /// that page when rows come or go, and the page says how many there are.
  func isNamed(by other: TreeRoot) -> Bool {
    self == other
      || reference.isDirty && reference == other.reference && height == other.height
        && kind == other.kind
  }

  /// How many rows it claims to hold; at most ``maximumRowCount``.
  @inlinable public var count: Int { Int(truncatingIfNeeded: min(rowCount, Self.maximumRowCount)) }

  /// Throws ``StoreError/damaged(_:)`` when the tree has grown higher than any can be.
  func checkHeight() throws(StoreError) {
    guard height <= Self.maximumHeight else {
      throw .damaged(Damage(.height, at: reference, "a tree of \(height) levels"))
    }
  }

  /// Reads the stored form; nil when it breaks the format.
  public init?(loadingFrom bytes: Span<UInt8>) {
    guard let root = unsafe bytes.withUnsafeBytes({ unsafe TreeRoot(loadingFrom: $0) }) else {
      return nil
    }
    self = root
  }

  /// The same of bytes that are lent as a pointer.
  ///
  /// `mayBeUnstored` says that its page may be one that lies in memory.
  package init?(loadingFrom bytes: UnsafeRawBufferPointer, mayBeUnstored: Bool = false) {
    guard bytes.count >= Self.byteCount, let base = bytes.baseAddress else { return nil }
    let reference = unsafe PageReference(loadingFrom: base)
    guard let kind = unsafe Kind(rawValue: bytes[31]), unsafe bytes[24..<30].allSatisfy({ $0 == 0 })
    else {
      return nil
    }
    let height = unsafe bytes[30]
    let rowCount = unsafe UInt64(
      littleEndian: base.loadUnaligned(fromByteOffset: 32, as: UInt64.self))
    guard height <= Self.maximumHeight, reference.isNone == (height == 0),
      reference.isNone == (rowCount == 0), rowCount <= Self.maximumRowCount,
      mayBeUnstored || !reference.isDirty
    else { return nil }
    self.init(reference: reference, height: height, kind: kind, rowCount: rowCount)
  }

  /// Writes the stored form, ``byteCount`` bytes.
  package func store(to pointer: UnsafeMutableRawPointer) {
    unsafe reference.store(to: pointer)
    unsafe pointer.storeBytes(
      of: UInt64(height) << 48 | UInt64(kind.rawValue) << 56, toByteOffset: 24, as: UInt64.self)
    unsafe pointer.storeBytes(of: rowCount.littleEndian, toByteOffset: 32, as: UInt64.self)
  }

  /// The stored form.
  public var storedBytes: [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
      if let base = buffer.baseAddress { unsafe store(to: base) }
      count = Self.byteCount
    }
  }
}
