import CambiumCore

/// The key of one object in the index of a property: the value's order-preserving form, then the
/// object's key, big-endian with its sign bit turned.
///
/// A value's form begins with a byte that tells null (0) from a value (1). Integers, truth values and
/// 128-bit values follow as big-endian numbers whose unsigned order is the order of the values. Text and
/// data follow as they are, each zero byte doubled as 0 255, and end in 0 0, so that no form is a prefix of
/// another. A value of more than ``valueByteLimit`` bytes, or one whose key would be longer than keys of a
/// tree may be, keeps its first ``prefixByteCount`` bytes, or as many as fit with their zeros doubled, 0 1 and a
/// 128-bit hash: whoever finds it compares with the object's own value, and the order holds only up to that
/// prefix.
///
/// Pointers: the caller lends a value's bytes. What is written has the length that
/// `byteCount(ofForm:)` counted for the same value, in an array, on the stack, or in the sorter,
/// where it lasts until the next is added.
package enum IndexKey {
  /// Longer texts and data are kept as a prefix and a hash.
  package static let valueByteLimit = 512
  /// How many of their first bytes are kept, if not many of them are zeros.
  package static let prefixByteCount = 448
  /// How long the form of a value is at most: keys of trees have 512 bytes, and the object's key stands behind
  /// it.
  private static let formByteLimit = 504
  private static let signBit: UInt64 = 1 << 63

  /// The form of a value; nil for values that have none (floating-point numbers, trees).
  ///
  /// `isSigned` tells wide values whose high word is signed (dates) from those that are not.
  package static func form(of value: ColumnValue, isSigned: Bool = false) -> [UInt8]? {
    guard let count = byteCount(ofForm: value) else { return nil }
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
      if let start = bytes.baseAddress {
        unsafe write(value, isSigned, UnsafeMutableRawPointer(start))
      }
      initialized = count
    }
  }

  /// Calls `body` with the key of the object `key` under a value's form, which is valid for the call;
  /// nil, without calling it, for values that have none.
  package static func withKey<Result>(
    of value: ColumnValue, isSigned: Bool, _ key: Int64,
    _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    guard let count = byteCount(ofForm: value) else { return nil }
    let result = unsafe withUnsafeTemporaryAllocation(byteCount: count + 8, alignment: 8) { bytes in
      if let start = bytes.baseAddress {
        unsafe write(value, isSigned, start)
        unsafe put(UInt64(bitPattern: key) ^ signBit, start + count)
      }
      return catching { () throws(StoreError) in try unsafe body(UnsafeRawBufferPointer(bytes)) }
    }
    return try result.get()
  }

  /// Whether a form stands for its value alone, so that nothing needs to be compared again.
  package static func isExact(_ form: [UInt8]) -> Bool {
    // In escaped bytes a zero is followed by 255, or by another zero at the end.
    let mark = form.count - 18
    return mark < prefixByteCount || form[mark] != 0 || form[mark + 1] != 1
  }

  /// The key of the object `key` under a value's form.
  package static func key(_ form: [UInt8], _ key: Int64) -> [UInt8] {
    let end = UInt64(bitPattern: key) ^ signBit
    return unsafe withUnsafeBytes(of: end.bigEndian) { unsafe form + $0 }
  }

  /// Adds the key of the object `key` under a value's form to `sorter`; nothing for values that have none.
  package static func add(
    _ value: ColumnValue, isSigned: Bool, _ key: Int64, to sorter: KeySorter
  ) {
    guard let count = byteCount(ofForm: value) else { return }
    let start = unsafe sorter.add(byteCount: count + 8, key)
    unsafe write(value, isSigned, start)
    unsafe put(UInt64(bitPattern: key) ^ signBit, start + count)
  }

  private static func put(_ value: UInt64, _ target: UnsafeMutableRawPointer) {
    unsafe target.storeBytes(of: value.bigEndian, as: UInt64.self)
  }

  /// The object's key at the end of an index key; nil when it is too short.
  package static func objectKey(_ bytes: some Collection<UInt8>) -> Int64? {
    guard bytes.count > 8 else { return nil }
    let number = bytes.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return Int64(bitPattern: number ^ signBit)
  }

  /// How many bytes the form of a value takes; nil for values that have none.
  private static func byteCount(ofForm value: ColumnValue) -> Int? {
    switch value {
    case .null: 1
    case .bool: 2
    case .int: 9
    case .wide: 17
    case .bytes(let bytes):
      if let prefix = unsafe prefix(bytes) {
        unsafe prefix.count + zeroCount(prefix) + 19
      } else {
        unsafe bytes.count + zeroCount(bytes) + 3
      }
    case .float, .double, .tree: nil
    }
  }

  /// Writes the form of a value that has one.
  private static func write(
    _ value: ColumnValue, _ isSigned: Bool, _ start: UnsafeMutableRawPointer
  ) {
    if case .null = value {
      unsafe start.storeBytes(of: 0, as: UInt8.self)
      return
    }
    unsafe start.storeBytes(of: 1, as: UInt8.self)
    let start = unsafe start + 1
    switch value {
    case .bool(let value): unsafe start.storeBytes(of: value ? 1 : 0, as: UInt8.self)
    case .int(let value): unsafe put(UInt64(bitPattern: value) ^ signBit, start)
    case .wide(let low, let high):
      unsafe put(isSigned ? high ^ signBit : high, start)
      unsafe put(low, start + 8)
    case .bytes(let bytes):
      guard let prefix = unsafe prefix(bytes) else {
        unsafe escape(bytes, start).storeBytes(of: 0, as: UInt16.self)
        return
      }
      // Long values sort among the short ones by their first bytes. Those with the same first bytes lie
      // together, in the order of their hashes.
      let end = unsafe escape(prefix, start)
      unsafe end.storeBytes(of: UInt16(1).bigEndian, as: UInt16.self)
      unsafe put(Checksum.hash(bytes), end + 2)
      let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[prefix.count...])
      unsafe put(Checksum.hash(rest) ^ UInt64(bytes.count), end + 10)
    case .null, .float, .double, .tree: break
    }
  }

  /// What is kept of a long value; nil for one that is kept whole.
  private static func prefix(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    // Most are so short that their zeros do not matter.
    if bytes.count <= formByteLimit / 2 - 3 { return nil }
    if bytes.count <= valueByteLimit, unsafe bytes.count + zeroCount(bytes) + 3 <= formByteLimit {
      return nil
    }
    var (count, left) = (0, formByteLimit - 19)
    while count < min(prefixByteCount, bytes.count) {
      unsafe left -= bytes[count] == 0 ? 2 : 1
      if left < 0 { break }
      count += 1
    }
    return unsafe UnsafeRawBufferPointer(rebasing: bytes[..<count])
  }

  private static func zeroCount(_ bytes: UnsafeRawBufferPointer) -> Int {
    unsafe bytes.reduce(0) { $0 &+ ($1 == 0 ? 1 : 0) }
  }

  /// Writes `bytes`, each zero doubled as 0 255; where they end.
  private static func escape(
    _ bytes: UnsafeRawBufferPointer, _ start: UnsafeMutableRawPointer
  ) -> UnsafeMutableRawPointer {
    guard let first = bytes.baseAddress else { return unsafe start }
    if unsafe !bytes.contains(0) {
      unsafe start.copyMemory(from: first, byteCount: bytes.count)
      return unsafe start + bytes.count
    }
    var end = unsafe start
    var iterator = unsafe bytes.makeIterator()
    while let byte = unsafe iterator.next() {
      unsafe end.storeBytes(of: byte, as: UInt8.self)
      unsafe end += 1
      if byte == 0 {
        unsafe end.storeBytes(of: 0xFF, as: UInt8.self)
        unsafe end += 1
      }
    }
    return unsafe end
  }
}

// Pointers: the key lies on the stack while the tree's editor is called, which copies it.
extension KeyTreeEditor {
  /// Enters the object `key` under a value into the index; nothing for values that have no form.
  func insertEntry(
    of value: ColumnValue, isSigned: Bool, _ key: Int64
  ) throws(StoreError) {
    _ = try unsafe IndexKey.withKey(of: value, isSigned: isSigned, key) {
      entry throws(StoreError) in
      try unsafe set(entry, UnsafeRawBufferPointer(start: nil, count: 0))
    }
  }

  /// Takes the object `key` out of the index, where it stands under a value.
  func removeEntry(
    of value: ColumnValue, isSigned: Bool, _ key: Int64
  ) throws(StoreError) {
    _ = try unsafe IndexKey.withKey(of: value, isSigned: isSigned, key) {
      entry throws(StoreError) in
      try unsafe remove(entry)
    }
  }
}
