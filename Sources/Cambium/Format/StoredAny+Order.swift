import CambiumCore

// The order of values of any type: nothing, truth values, numbers, texts, data, dates, object identifiers,
// UUIDs, objects, lists, dictionaries. Numbers compare by value whatever their type, texts and data by their bytes.
extension StoredAny {
  /// Bytes that compare as the values do, and are equal exactly for equal values; none for nothing.
  package var orderedKey: [UInt8] {
    switch self {
    case .none: []
    case .bool(let value): [1, value ? 1 : 0]
    case .int, .float, .double, .decimal: [2] + (number?.orderedKey ?? [])
    case .string(let value): [3] + value
    case .data(let value): [4] + value
    case .date(let value):
      [5] + Self.ordered(UInt64(bitPattern: value.seconds) ^ 1 << 63)
        + Self.ordered(value.nanoseconds)
    case .objectId(let low, let high): [6] + Self.ordered(high) + Self.ordered(low)
    case .uuid(let low, let high): [7] + Self.ordered(high) + Self.ordered(low)
    case .link(let link):
      [8] + Self.ordered(link.table) + Self.ordered(UInt64(bitPattern: link.key) ^ 1 << 63)
    case .list(let identifier, _): [9] + Self.ordered(identifier)
    case .dictionary(let identifier, _): [11] + Self.ordered(identifier)
    }
  }

  private static func ordered(_ value: some FixedWidthInteger) -> [UInt8] {
    unsafe withUnsafeBytes(of: value.bigEndian) { unsafe Array($0) }
  }

  /// The value as a number of which all types are; nil when it is none.
  ///
  /// Integers keep all their digits, and so do floating-point numbers that are integers of 64 bits. Others
  /// are the shortest number that reads back as them.
  package var number: DecimalBits? {
    switch self {
    case .int(let value): return DecimalBits(rounding: value)
    case .decimal(let value): return value
    case .float(let value): return Self.number(Double(value))
    case .double(let value): return Self.number(value)
    default: return nil
    }
  }

  static func number(_ value: Double) -> DecimalBits {
    if let integer = Int64(exactly: value) { return DecimalBits(rounding: integer) }
    return DecimalBits(value)
  }
}
