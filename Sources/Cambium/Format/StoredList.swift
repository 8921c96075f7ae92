import CambiumCore

/// Reads the small form of a collection: all its elements in one cell of its owner's row.
///
/// An empty collection is an empty cell. Otherwise:
///
///      0       1       2      4
///     | width | flags | count | null bitmap | elements … | keys …
///
/// `flags` bit 0 says that there is a null bitmap, one bit for each element, rounded up to bytes.
/// Elements of a fixed size take `width` bytes each, little-endian: integers and links 1, 2, 4 or 8
/// as all of them need, signed; truth values 1; floats 4; doubles 8; wide values 16, the low word
/// first. Texts and data (`width` 0) are the ends of all elements, 2 bytes each, counted from behind
/// the last end, then the bytes. A set has its elements in the order of ``CellOrder``.
///
/// A map has bit 1 of `flags` set, and its keys behind its values, in the form of texts, in the order of
/// their bytes; it has each of them once.
///
/// A collection whose form is longer than ``byteLimit`` lives in a tree by position with one column,
/// ``elementColumn``; that of a map has the keys in another one, ``keyColumn``.
///
/// Pointers: the bytes are borrowed from who has opened the form, and what it gives out lies in them.
/// That all elements and keys lie within is checked when it is opened; that an index is below `count`
/// is up to the caller.
@safe package struct StoredList {
  package let type: ColumnType
  package let count: Int
  private let bytes: UnsafeRawBufferPointer
  private let width: Int
  private let nullOffset: Int
  private let dataOffset: Int
  /// Where the ends of a map's keys are; 0 where there are none.
  private let keyOffset: Int

  /// The longest form that stays in the row.
  package static let byteLimit = 512
  /// The column of a list's own tree.
  package static let elementColumn: UInt16 = 1
  /// The column of the keys in a map's own tree.
  package static let keyColumn: UInt16 = 2
  static let headerByteCount = 4
  static let hasNulls: UInt8 = 1
  static let hasKeys: UInt8 = 2

  /// A list of no elements.
  init(emptyOf type: ColumnType) {
    self.type = type
    unsafe bytes = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    (count, width, nullOffset, dataOffset, keyOffset) = (0, 0, 0, 0, 0)
  }

  /// Opens the form of a collection with elements of `type`; nil when it breaks the format.
  package init?(_ bytes: UnsafeRawBufferPointer, _ type: ColumnType) {
    self.type = type
    unsafe self.bytes = unsafe bytes
    guard unsafe !bytes.isEmpty else {
      (count, width, nullOffset, dataOffset, keyOffset) = (0, 0, 0, 0, 0)
      return
    }
    guard bytes.count >= Self.headerByteCount else { return nil }
    width = unsafe Int(bytes[0])
    count = unsafe Int(bytes[2]) | Int(bytes[3]) << 8
    nullOffset = unsafe bytes[1] & Self.hasNulls != 0 ? Self.headerByteCount : 0
    dataOffset = Self.headerByteCount + (nullOffset == 0 ? 0 : (count + 7) / 8)
    guard Self.accepts(width, type), unsafe bytes[1] & ~(Self.hasNulls | Self.hasKeys) == 0 else {
      return nil
    }
    var end: Int?
    if type == .bytes {
      end = unsafe Self.end(ofTextsAt: dataOffset, count, bytes)
    } else {
      end = dataOffset + count * width
    }
    guard let valueEnd = end else { return nil }
    keyOffset = unsafe bytes[1] & Self.hasKeys != 0 ? valueEnd : 0
    if keyOffset > 0 { end = unsafe Self.end(ofTextsAt: keyOffset, count, bytes) }
    guard end == bytes.count else { return nil }
  }

  /// Where texts end of which the ends begin at `offset`; nil when they break the format.
  private static func end(
    ofTextsAt offset: Int, _ count: Int, _ bytes: UnsafeRawBufferPointer
  ) -> Int? {
    let heap = offset + count * 2
    guard heap <= bytes.count else { return nil }
    var start = 0
    for index in 0..<count {
      let end = unsafe half(bytes, offset + index * 2)
      guard end >= start else { return nil }
      start = end
    }
    return heap + start <= bytes.count ? heap + start : nil
  }

  /// Whether it is the form of a map.
  package var hasKeys: Bool { keyOffset > 0 }

  /// The key at `index`, which is below ``count``, of a map.
  ///
  /// The bytes stay valid as long as the form.
  package func key(_ index: Int) -> UnsafeRawBufferPointer { unsafe text(index, at: keyOffset) }

  private static func accepts(_ width: Int, _ type: ColumnType) -> Bool {
    switch type {
    case .int: width == 1 || width == 2 || width == 4 || width == 8
    case .bool: width == 1
    case .float: width == 4
    case .double: width == 8
    case .wide: width == 16
    case .bytes: width == 0
    }
  }

  /// The element at `index`, which is below ``count``.
  ///
  /// Bytes stay valid as long as the form.
  package subscript(index: Int) -> ColumnValue {
    if nullOffset > 0, unsafe bytes[nullOffset + index >> 3] >> UInt8(index & 7) & 1 != 0 {
      return .null
    }
    let offset = dataOffset + index * width
    switch type {
    case .int: return .int(integer(offset))
    case .bool: return unsafe .bool(bytes[offset] != 0)
    case .float:
      return unsafe .float(
        Float(
          bitPattern: UInt32(
            littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))))
    case .double: return .double(Double(bitPattern: word(offset)))
    case .wide: return .wide(low: word(offset), high: word(offset + 8))
    case .bytes: return unsafe .bytes(text(index, at: dataOffset))
    }
  }

  private func text(_ index: Int, at offset: Int) -> UnsafeRawBufferPointer {
    let heap = offset + count * 2
    // Ends are read once more here: mapped bytes may have changed on the medium since.
    let end = unsafe min(half(offset + index * 2), bytes.count - heap)
    let start = index == 0 ? 0 : min(half(offset + (index - 1) * 2), end)
    return unsafe UnsafeRawBufferPointer(rebasing: bytes[heap + start..<heap + end])
  }

  /// The integer at `index` of a list of integers or links; nil for null.
  package func int(_ index: Int) -> Int64? {
    guard case .int(let value) = self[index] else { return nil }
    return value
  }

  private func integer(_ offset: Int) -> Int64 {
    switch width {
    case 1: unsafe Int64(Int8(bitPattern: bytes[offset]))
    case 2: Int64(Int16(truncatingIfNeeded: half(offset)))
    case 4:
      unsafe Int64(
        Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
    default: Int64(bitPattern: word(offset))
    }
  }

  private func half(_ offset: Int) -> Int { unsafe Self.half(bytes, offset) }

  private static func half(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> Int {
    unsafe Int(bytes[offset]) | Int(bytes[offset + 1]) << 8
  }

  private func word(_ offset: Int) -> UInt64 {
    unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
