/// Builds a stored form piece by piece; integers are little-endian.
///
/// Pointers: an integer's own bytes, which are copied at once.
public struct ByteWriter {
  /// What was put so far.
  public private(set) var bytes: [UInt8] = []

  /// A form with nothing in it yet.
  public init() {}

  /// Appends an integer.
  public mutating func put<T: FixedWidthInteger>(_ value: T) {
    unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  /// Appends bytes as they are.
  public mutating func put(_ more: [UInt8]) { bytes.append(contentsOf: more) }

  /// Appends `count` zero bytes.
  public mutating func putZeros(_ count: Int) {
    bytes.append(contentsOf: repeatElement(0, count: count))
  }
}

/// Takes a stored form apart; never reads past its end.
///
/// Pointers: the array's own bytes, during one call; whether enough are left is checked before.
public struct ByteReader {
  private let bytes: [UInt8]
  private var position = 0

  /// A reader at the beginning of `bytes`.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Whether everything was taken.
  public var isAtEnd: Bool { position == bytes.count }

  /// The next integer; nil when the bytes do not suffice.
  public mutating func get<T: FixedWidthInteger>(_ type: T.Type) -> T? {
    let count = MemoryLayout<T>.size
    guard bytes.count - position >= count else { return nil }
    let value = unsafe bytes.withUnsafeBytes {
      unsafe $0.loadUnaligned(fromByteOffset: position, as: T.self)
    }
    position += count
    return T(littleEndian: value)
  }

  /// The next `count` bytes; nil when they do not suffice.
  public mutating func get(count: Int) -> [UInt8]? {
    guard count >= 0, bytes.count - position >= count else { return nil }
    defer { position += count }
    return Array(bytes[position..<position + count])
  }

  /// Everything that is left.
  public mutating func rest() -> [UInt8] {
    defer { position = bytes.count }
    return Array(bytes[position...])
  }

  /// Skips `count` bytes; false when they do not suffice or one is not zero.
  public mutating func skipZeros(_ count: Int) -> Bool {
    get(count: count)?.allSatisfy { $0 == 0 } ?? false
  }
}
