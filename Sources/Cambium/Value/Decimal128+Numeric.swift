extension Decimal128: Numeric, ExpressibleByFloatLiteral, ExpressibleByStringLiteral {
  /// The difference between two numbers.
  public typealias Stride = Decimal128

  /// The number as written.
  public convenience init(integerLiteral value: Int64) {
    self.init(bits: DecimalBits(rounding: value))
  }

  /// The shortest decimal number that reads back as the literal: `0.1` is exactly 0.1.
  public convenience init(floatLiteral value: Double) {
    self.init(bits: DecimalBits(value))
  }

  /// The number as written; text that is not a number gives NaN.
  public convenience init(stringLiteral value: String) {
    self.init(bits: DecimalBits(text: value) ?? .notANumber)
  }

  /// The number without its sign.
  public var magnitude: Decimal128 { Decimal128(bits: bits.magnitude) }

  /// The sum, rounded half to even to 34 digits.
  public static func + (lhs: Decimal128, rhs: Decimal128) -> Decimal128 {
    Decimal128(bits: lhs.bits + rhs.bits)
  }

  /// The difference, rounded half to even to 34 digits.
  public static func - (lhs: Decimal128, rhs: Decimal128) -> Decimal128 {
    Decimal128(bits: lhs.bits - rhs.bits)
  }

  /// The product, rounded half to even to 34 digits.
  public static func * (lhs: Decimal128, rhs: Decimal128) -> Decimal128 {
    Decimal128(bits: lhs.bits * rhs.bits)
  }

  /// The quotient, rounded half to even to 34 digits; infinity or NaN when the divisor is zero.
  public static func / (lhs: Decimal128, rhs: Decimal128) -> Decimal128 {
    Decimal128(bits: lhs.bits / rhs.bits)
  }

  /// Replaces the number with the product.
  public static func *= (lhs: inout Decimal128, rhs: Decimal128) { lhs = lhs * rhs }

  /// Replaces the number with the quotient.
  public static func /= (lhs: inout Decimal128, rhs: Decimal128) { lhs = lhs / rhs }

  /// The number with the opposite sign.
  public static prefix func - (operand: Decimal128) -> Decimal128 {
    Decimal128(bits: operand.bits.negated)
  }

  /// What must be added to get `other`.
  public func distance(to other: Decimal128) -> Decimal128 { other - self }

  /// The number `amount` further on.
  public func advanced(by amount: Decimal128) -> Decimal128 { self + amount }

  /// The sum.
  public func decimalNumber(byAdding other: Decimal128) -> Decimal128 { self + other }

  /// The difference.
  public func decimalNumber(bySubtracting other: Decimal128) -> Decimal128 { self - other }

  /// The product.
  public func decimalNumberByMultiplying(by other: Decimal128) -> Decimal128 { self * other }

  /// The quotient.
  public func decimalNumberByDividing(by other: Decimal128) -> Decimal128 { self / other }

  /// Whether the number is above `other`.
  public func isGreaterThan(_ other: Decimal128) -> Bool { self > other }

  /// Whether the number is above or equal to `other`.
  public func isGreaterThanOrEqual(to other: Decimal128) -> Bool { self >= other }

  /// Whether the number is below `other`.
  public func isLessThan(_ other: Decimal128) -> Bool { self < other }

  /// Whether the number is below or equal to `other`.
  public func isLessThanOrEqual(to other: Decimal128) -> Bool { self <= other }
}
