import Foundation

/// A 12-byte identifier that sorts by the time of its creation.
///
/// It consists of 4 bytes of seconds since 1970, 5 bytes that are random for each process, and a
/// 3-byte counter that starts at random, all big-endian. Instances never change and may be used from
/// any thread.
public final class ObjectId: Sendable {
  /// The first eight bytes as a big-endian number.
  let head: UInt64
  /// The last four bytes as a big-endian number.
  let tail: UInt32

  init(head: UInt64, tail: UInt32) {
    self.head = head
    self.tail = tail
  }

  /// The number of bytes of an identifier.
  package static let byteCount = 12

  /// An identifier whose bytes are all zero.
  public convenience init() { self.init(head: 0, tail: 0) }

  /// Reads an identifier from 24 hexadecimal digits.
  ///
  /// - Throws: `Realm.Error.invalidInput` when the text is anything else.
  public convenience init(string: String) throws {
    guard let (head, tail) = Self.parse(string.utf8) else {
      throw RLMError(.invalidInput, Self.invalidText(string))
    }
    self.init(head: head, tail: tail)
  }

  /// Reads an identifier from a literal of 24 hexadecimal digits; stops when it is anything else.
  public convenience init(_ str: StaticString) {
    let text = str.description
    guard let (head, tail) = Self.parse(text.utf8) else {
      preconditionFailure(Self.invalidText(text))
    }
    self.init(head: head, tail: tail)
  }

  /// Builds an identifier from a time, three bytes naming a machine and two naming a process; the
  /// counter is this process's own.
  public convenience init(timestamp: Date, machineId: Int, processId: Int) {
    let seconds = UInt64(ObjectIdGenerator.seconds(of: timestamp))
    let machine = UInt64(truncatingIfNeeded: machineId) & 0xFF_FFFF
    let process = UInt64(truncatingIfNeeded: processId) & 0xFFFF
    let counter = ObjectIdGenerator.shared.nextCount()
    self.init(
      head: seconds << 32 | machine << 8 | process >> 8,
      tail: UInt32(process & 0xFF) << 24 | counter)
  }

  /// Reads stored bytes.
  ///
  /// Pointers: the caller lends the bytes, whose number is checked.
  package convenience init(bytes: UnsafeRawBufferPointer) {
    precondition(bytes.count == Self.byteCount, "an object identifier has 12 bytes")
    var head: UInt64 = 0
    var tail: UInt32 = 0
    var iterator = unsafe bytes[..<8].makeIterator()
    while let byte = unsafe iterator.next() {
      head = head << 8 | UInt64(byte)
    }
    var rest = unsafe bytes[8...].makeIterator()
    while let byte = unsafe rest.next() {
      tail = tail << 8 | UInt32(byte)
    }
    self.init(head: head, tail: tail)
  }

  /// The stored form: the first eight bytes in `high`, the last four atop `low`, so that comparing
  /// `high` and then `low` compares the bytes.
  package convenience init(low: UInt64, high: UInt64) {
    self.init(head: high, tail: UInt32(truncatingIfNeeded: low >> 32))
  }

  /// The stored form; see `init(low:high:)`.
  package var wide: (low: UInt64, high: UInt64) { (UInt64(tail) << 32, head) }

  /// The twelve bytes, which compare as the identifiers do.
  package var bytes: [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: head >> UInt64(56 - 8 * $0)) }
      + (0..<4).map { UInt8(truncatingIfNeeded: tail >> UInt32(24 - 8 * $0)) }
  }

  /// A new identifier: now, this process, the next count.
  public static func generate() -> ObjectId { ObjectIdGenerator.shared.generate() }

  /// The time of creation in whole seconds.
  public var timestamp: Date { Date(timeIntervalSince1970: TimeInterval(head >> 32)) }

  /// The 24 hexadecimal digits, lowercase.
  public var stringValue: String {
    let first = String(head, radix: 16)
    let last = String(tail, radix: 16)
    return String(repeating: "0", count: 16 - first.count) + first
      + String(repeating: "0", count: 8 - last.count) + last
  }

  private static func invalidText(_ text: String) -> String {
    "Invalid Object ID string '\(text)': must be 24 hex digits"
  }

  private static func parse(_ digits: some Collection<UInt8>) -> (UInt64, UInt32)? {
    guard digits.count == 24 else { return nil }
    var value: UInt128 = 0
    for digit in digits {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        value = value << 4 | UInt128(digit - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
        value = value << 4 | UInt128((digit | 0x20) - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
    return (UInt64(value >> 32), UInt32(truncatingIfNeeded: value))
  }
}

extension ObjectId: Comparable, Hashable, CustomStringConvertible, Codable {
  /// Whether all bytes are equal.
  public static func == (lhs: ObjectId, rhs: ObjectId) -> Bool {
    lhs.head == rhs.head && lhs.tail == rhs.tail
  }

  /// Compares byte by byte.
  public static func < (lhs: ObjectId, rhs: ObjectId) -> Bool {
    (lhs.head, lhs.tail) < (rhs.head, rhs.tail)
  }

  /// Feeds all bytes.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(head)
    hasher.combine(tail)
  }

  /// The same as `stringValue`.
  public var description: String { stringValue }

  /// Decodes 24 hexadecimal digits.
  public convenience init(from decoder: any Decoder) throws {
    try self.init(string: decoder.singleValueContainer().decode(String.self))
  }

  /// Encodes 24 hexadecimal digits.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(stringValue)
  }
}
