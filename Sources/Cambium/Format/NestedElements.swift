import CambiumCore

/// The elements of a list or dictionary inside of a value of any type, as cells.
///
/// Pointers: all cells and keys lie in memory that this owns and frees, made for as many bytes as they
/// have together. Whoever uses them keeps this alive.
@safe final class NestedElements {
  /// The values, in order.
  private(set) var cells: [ColumnValue] = []
  /// The keys of a dictionary, in order.
  private(set) var keys: [UnsafeRawBufferPointer] = unsafe []
  /// Whether the list or dictionary is there.
  let isPresent: Bool
  private let bytes: UnsafeMutableRawBufferPointer

  /// The elements of `value`; none when it is no list or dictionary.
  init(_ value: StoredAny?) {
    isPresent = value != nil
    var parts: [[UInt8]?] = []
    var keyParts: [[UInt8]] = []
    switch value {
    case .list(_, let values): parts = values.map(\.bytes)
    case .dictionary(_, let entries):
      parts = entries.map(\.value.bytes)
      keyParts = entries.map(\.key)
    default: break
    }
    let count = (parts.lazy.compactMap { $0 } + keyParts).reduce(0) { $0 + $1.count }
    unsafe bytes = .allocate(byteCount: max(count, 1), alignment: 8)
    var used = 0
    func keep(_ part: [UInt8]) -> UnsafeRawBufferPointer {
      let room = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[used..<used + part.count])
      unsafe room.copyBytes(from: part)
      used += part.count
      return UnsafeRawBufferPointer(room)
    }
    for part in parts { cells.append(part.map { unsafe .bytes(keep($0)) } ?? .null) }
    for key in keyParts { unsafe keys.append(keep(key)) }
  }

  deinit { unsafe bytes.deallocate() }
}
