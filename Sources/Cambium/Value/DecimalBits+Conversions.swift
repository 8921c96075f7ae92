/// Conversions from and to binary numbers.
extension DecimalBits {
  /// An integer, rounded half to even when it has more than 34 digits.
  init(rounding value: some BinaryInteger) {
    let magnitude = value.magnitude
    if let small = UInt128(exactly: magnitude) {
      self = .rounded(isNegative: value < 0, WideCoefficient(low: small), exponent: 0)
    } else {
      // Wider than 128 bits: only library types of other packages; their text is exact.
      self = DecimalBits(text: String(value)) ?? .notANumber
    }
  }

  /// An integer without rounding; nil when it has more than 34 significant digits.
  init?(exactly value: some BinaryInteger) {
    guard var small = UInt128(exactly: value.magnitude) else { return nil }
    var exponent = 0
    while small >= Self.coefficientLimit {
      let (quotient, remainder) = small.quotientAndRemainder(dividingBy: 10)
      guard remainder == 0 else { return nil }
      small = quotient
      exponent += 1
    }
    self.init(isNegative: value < 0, coefficient: small, exponent: exponent)
  }

  /// The shortest decimal number that reads back as this one: 0.1 becomes 0.1.
  init(_ value: Double) {
    self = DecimalBits(text: value.description) ?? .notANumber
  }

  /// The shortest decimal number that reads back as this one: 0.1 becomes 0.1.
  init(_ value: Float) {
    self = DecimalBits(text: value.description) ?? .notANumber
  }

  /// The nearest `Double`; infinity when too large.
  var doubleValue: Double {
    if isNaN { return .nan }
    if isInfinite { return isNegative ? -.infinity : .infinity }
    return Double(text) ?? .nan
  }
}
