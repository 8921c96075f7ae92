import Foundation

extension Decimal128 {
  /// The nearest `Double`; infinity when too large.
  public var doubleValue: Double { bits.doubleValue }

  /// The nearest `Foundation.Decimal`, which has 38 digits but a smaller range; NaN outside it.
  public var decimalValue: Decimal {
    guard bits.isFinite else { return .nan }
    return Decimal(string: stringValue, locale: Locale(identifier: "en_US_POSIX")) ?? .nan
  }
}

extension Decimal128: Codable {
  /// Decodes text, an integer or a floating-point number, whichever comes first to fit.
  public convenience init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let text = try? container.decode(String.self) {
      try self.init(string: text)
    } else if let integer = try? container.decode(Int64.self) {
      self.init(bits: DecimalBits(rounding: integer))
    } else {
      self.init(bits: DecimalBits(try container.decode(Double.self)))
    }
  }

  /// Encodes the number as text, which keeps all digits.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(stringValue)
  }
}

extension DecimalBits {
  /// Converts numbers of all kinds, `Bool` and text; nil for anything else.
  init?(converting value: Any) {
    switch value {
    case let number as Decimal128: self = number.bits
    case let number as Bool: self.init(rounding: number ? 1 : 0)
    case let number as any BinaryInteger: self.init(rounding: number)
    case let number as Double: self.init(number)
    case let number as Float: self.init(number)
    case let number as Decimal: self.init(text: number.description)
    case let text as String: self.init(text: text)
    case let number as NSNumber: self.init(text: number.stringValue)
    default: return nil
    }
  }
}
