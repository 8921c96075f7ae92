/// The three widths of decimal numbers, all brought to 16 bytes.
///
/// ```
///              sign     exponent      coefficient     bias
///    4 bytes   31       30 … 23       22 … 0           101
///    8 bytes   63       62 … 53       52 … 0           398
///   16 bytes   63       62 … 49       48 … 0, low     6176     bits of the high word
/// ```
///
/// Each width has one bit pattern of its own for null.
enum Decimal {
  private static let bias: UInt64 = 6176

  private static let null4: UInt32 = 0x7C00_00AA
  private static let null8: UInt64 = 0x7C00_0000_0000_00AA
  private static let null16 = (low: 0xAA as UInt64, high: 0x7C00_0000_0000_0000 as UInt64)

  /// Zero, with the exponent 0.
  static let zero = RealmFileValue.decimal(low: 0, high: bias << 49)

  /// A number of 4 bytes; nil for bits that are no number of that width.
  static func value(_ bits: UInt32) -> RealmFileValue? {
    if bits == null4 { return .null }
    guard (bits >> 29) & 3 != 3 else { return nil }
    let exponent = UInt64((bits >> 23) & 0xFF) + bias - 101
    let sign = UInt64(bits >> 31) << 63
    return .decimal(low: UInt64(bits & 0x7F_FFFF), high: sign | exponent << 49)
  }

  /// A number of 8 bytes; nil for bits that are no number of that width.
  static func value(_ bits: UInt64) -> RealmFileValue? {
    if bits == null8 { return .null }
    guard (bits >> 61) & 3 != 3 else { return nil }
    let exponent = (bits >> 53) & 0x3FF + bias - 398
    let sign = (bits >> 63) << 63
    return .decimal(low: bits & 0x1F_FFFF_FFFF_FFFF, high: sign | exponent << 49)
  }

  /// A number of 16 bytes.
  static func value(low: UInt64, high: UInt64) -> RealmFileValue {
    (low, high) == null16 ? .null : .decimal(low: low, high: high)
  }
}
