import CambiumCore

/// Reads the small form of a list: all its elements in one cell of its owner's row.
///
/// An empty list is an empty cell. Otherwise:
///
///      0       1       2      4
///     | width | flags | count | null bitmap | elements …
///
/// `flags` bit 0 says that there is a null bitmap, one bit for each element, rounded up to bytes.
/// Elements of a fixed size take `width` bytes each, little-endian: integers and links 1, 2, 4 or 8
/// as all of them need, signed; truth values 1; floats 4; doubles 8; wide values 16, the low word
/// first. Texts and data (`width` 0) are the ends of all elements, 2 bytes each, counted from behind
/// the last end, then the bytes.
///
/// A list whose form is longer than ``byteLimit`` lives in a tree by position with one column,
/// ``elementColumn``.
package struct StoredList {
  package let type: ColumnType
  package let count: Int
  private let bytes: UnsafeRawBufferPointer
  private let width: Int
  private let nullOffset: Int
  private let dataOffset: Int

  /// The longest form that stays in the row.
  package static let byteLimit = 512
  /// The column of a list's own tree.
  package static let elementColumn: UInt16 = 1
  static let headerByteCount = 4
  static let hasNulls: UInt8 = 1

  /// A list of no elements.
  init(emptyOf type: ColumnType) {
    self.type = type
    bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    (count, width, nullOffset, dataOffset) = (0, 0, 0, 0)
  }

  /// Opens the form of a list with elements of `type`; nil when it breaks the format.
  package init?(_ bytes: UnsafeRawBufferPointer, _ type: ColumnType) {
    self.type = type
    self.bytes = bytes
    guard !bytes.isEmpty else {
      (count, width, nullOffset, dataOffset) = (0, 0, 0, 0)
      return
    }
    guard bytes.count >= Self.headerByteCount else { return nil }
    width = Int(bytes[0])
    count = Int(bytes[2]) | Int(bytes[3]) << 8
    nullOffset = bytes[1] & Self.hasNulls != 0 ? Self.headerByteCount : 0
    dataOffset = Self.headerByteCount + (nullOffset == 0 ? 0 : (count + 7) / 8)
    guard Self.accepts(width, type) else { return nil }
    if type == .bytes {
      guard dataOffset + count * 2 <= bytes.count else { return nil }
      var start = 0
      for index in 0..<count {
        let end = half(dataOffset + index * 2)
        guard end >= start else { return nil }
        start = end
      }
      guard dataOffset + count * 2 + start == bytes.count else { return nil }
    } else {
      guard dataOffset + count * width == bytes.count else { return nil }
    }
  }

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
    if nullOffset > 0, bytes[nullOffset + index >> 3] >> UInt8(index & 7) & 1 != 0 { return .null }
    let offset = dataOffset + index * width
    switch type {
    case .int: return .int(integer(offset))
    case .bool: return .bool(bytes[offset] != 0)
    case .float:
      return .float(
        Float(
          bitPattern: UInt32(
            littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))))
    case .double: return .double(Double(bitPattern: word(offset)))
    case .wide: return .wide(low: word(offset), high: word(offset + 8))
    case .bytes:
      let heap = dataOffset + count * 2
      let start = index == 0 ? 0 : half(dataOffset + (index - 1) * 2)
      let end = half(dataOffset + index * 2)
      return .bytes(UnsafeRawBufferPointer(rebasing: bytes[heap + start..<heap + end]))
    }
  }

  /// The integer at `index` of a list of integers or links; nil for null.
  package func int(_ index: Int) -> Int64? {
    guard case .int(let value) = self[index] else { return nil }
    return value
  }

  private func integer(_ offset: Int) -> Int64 {
    switch width {
    case 1: Int64(Int8(bitPattern: bytes[offset]))
    case 2: Int64(Int16(truncatingIfNeeded: half(offset)))
    case 4:
      Int64(
        Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
    default: Int64(bitPattern: word(offset))
    }
  }

  private func half(_ offset: Int) -> Int { Int(bytes[offset]) | Int(bytes[offset + 1]) << 8 }

  private func word(_ offset: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
