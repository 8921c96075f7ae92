import CambiumCore

/// The key of one object in the index of a property: the value's order-preserving form, then the
/// object's key, big-endian with its sign bit turned.
///
/// A value's form begins with a byte that tells null (0) from a value (1). Integers, truth values and 128-bit values follow as big-endian numbers whose
/// unsigned order is the order of the values. Text and data follow as they are, each zero byte
/// doubled as 0 255, and end in 0 0, so that no form is a prefix of another. A value of more than
/// ``valueByteLimit`` bytes keeps its first ``prefixByteCount`` bytes, 0 1 and a 128-bit hash: whoever
/// finds it compares with the object's own value, and the order holds only up to that prefix.
package enum IndexKey {
  /// Longer texts and data are kept as a prefix and a hash.
  package static let valueByteLimit = 512
  /// How many of their first bytes are kept.
  package static let prefixByteCount = 448
  private static let signBit: UInt64 = 1 << 63

  /// The form of a value; nil for values that have none (floating-point numbers, trees).
  ///
  /// `isSigned` tells wide values whose high word is signed (dates) from those that are not.
  package static func form(of value: ColumnValue, isSigned: Bool = false) -> [UInt8]? {
    var bytes: [UInt8] = [1]
    switch value {
    case .null: return [0]
    case .bool(let value): bytes.append(value ? 1 : 0)
    case .int(let value): append(UInt64(bitPattern: value) ^ signBit, to: &bytes)
    case .wide(let low, let high):
      append(isSigned ? high ^ signBit : high, to: &bytes)
      append(low, to: &bytes)
    case .bytes(let value):
      if value.count > valueByteLimit {
        appendLong(value, to: &bytes)
      } else {
        appendEscaped(value, to: &bytes)
        bytes.append(0)
        bytes.append(0)
      }
    case .float, .double, .tree: return nil
    }
    return bytes
  }

  /// Whether a form stands for its value alone, so that nothing needs to be compared again.
  package static func isExact(_ form: [UInt8]) -> Bool {
    // In escaped bytes a zero is followed by 255, or by another zero at the end.
    let mark = form.count - 18
    return mark < prefixByteCount || form[mark] != 0 || form[mark + 1] != 1
  }

  /// The key of the object `key` under a value's form.
  package static func key(_ form: [UInt8], _ key: Int64) -> [UInt8] {
    var bytes = form
    append(UInt64(bitPattern: key) ^ signBit, to: &bytes)
    return bytes
  }

  /// Adds the key of the object `key` under a value's form to `sorter`; nothing for values that have none.
  package static func add(
    _ value: ColumnValue, isSigned: Bool, _ key: Int64, to sorter: KeySorter
  ) {
    switch value {
    case .null:
      let start = sorter.add(byteCount: 9, key)
      start.storeBytes(of: 0, as: UInt8.self)
      put(UInt64(bitPattern: key) ^ signBit, start + 1)
    case .int(let number):
      let start = sorter.add(byteCount: 17, key)
      start.storeBytes(of: 1, as: UInt8.self)
      put(UInt64(bitPattern: number) ^ signBit, start + 1)
      put(UInt64(bitPattern: key) ^ signBit, start + 9)
    case .bytes(let text) where text.count <= valueByteLimit && !text.contains(0):
      let start = sorter.add(byteCount: text.count + 11, key)
      start.storeBytes(of: 1, as: UInt8.self)
      if let first = text.baseAddress { (start + 1).copyMemory(from: first, byteCount: text.count) }
      (start + text.count + 1).storeBytes(of: 0, as: UInt16.self)
      put(UInt64(bitPattern: key) ^ signBit, start + text.count + 3)
    default:
      if let form = form(of: value, isSigned: isSigned) {
        IndexKey.key(form, key).withUnsafeBytes { sorter.add($0, key) }
      }
    }
  }

  private static func put(_ value: UInt64, _ target: UnsafeMutableRawPointer) {
    target.storeBytes(of: value.bigEndian, as: UInt64.self)
  }

  /// The object's key at the end of an index key; nil when it is too short.
  package static func objectKey(_ bytes: some Collection<UInt8>) -> Int64? {
    guard bytes.count > 8 else { return nil }
    let number = bytes.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return Int64(bitPattern: number ^ signBit)
  }

  private static func append(_ value: UInt64, to bytes: inout [UInt8]) {
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
    }
  }

  private static func appendEscaped(
    _ value: UnsafeRawBufferPointer, to bytes: inout [UInt8]
  ) {
    bytes.reserveCapacity(bytes.count + value.count + 10)
    for byte in value {
      bytes.append(byte)
      if byte == 0 { bytes.append(0xFF) }
    }
  }

  // Long values sort among the short ones by their first bytes. Those with the same first bytes lie
  // together, in the order of their hashes.
  private static func appendLong(_ value: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    appendEscaped(UnsafeRawBufferPointer(rebasing: value[..<prefixByteCount]), to: &bytes)
    bytes.append(0)
    bytes.append(1)
    append(Checksum.hash(value), to: &bytes)
    let rest = UnsafeRawBufferPointer(rebasing: value[prefixByteCount...])
    append(Checksum.hash(rest) ^ UInt64(value.count), to: &bytes)
  }
}
