/// A 256-bit magnitude, wide enough for the product of two coefficients.
struct WideCoefficient {
  var high: UInt128
  var low: UInt128

  init(high: UInt128 = 0, low: UInt128) {
    self.high = high
    self.low = low
  }

  init(_ left: UInt128, times right: UInt128) {
    let product = left.multipliedFullWidth(by: right)
    self.init(high: product.high, low: product.low)
  }

  var isZero: Bool { high == 0 && low == 0 }

  /// The number of decimal digits of a value below 10^76; zero has none.
  var digitCount: Int {
    guard high != 0 else { return PowersOfTen.digitCount(of: low) }
    // high ≠ 0 means the value is at least 2^128 > 10^38, so the quotient is not zero, and it has
    // at most 38 digits, so the division cannot overflow.
    return 38 + PowersOfTen.digitCount(of: divided(byPowerOfTen: 38).quotient)
  }

  /// Divides by ten to the power of 0 to 38; the quotient must fit 128 bits.
  func divided(byPowerOfTen power: Int) -> (quotient: UInt128, remainder: UInt128) {
    let divisor = PowersOfTen.value(power)
    guard high != 0 else {
      return low.quotientAndRemainder(dividingBy: divisor)
    }
    return divisor.dividingFullWidth((high, low))
  }

  static func + (left: WideCoefficient, right: WideCoefficient) -> WideCoefficient {
    let (low, carry) = left.low.addingReportingOverflow(right.low)
    return WideCoefficient(high: left.high &+ right.high &+ (carry ? 1 : 0), low: low)
  }

  /// The difference of a larger and a smaller or equal value.
  static func - (left: WideCoefficient, right: WideCoefficient) -> WideCoefficient {
    let (low, borrow) = left.low.subtractingReportingOverflow(right.low)
    return WideCoefficient(high: left.high &- right.high &- (borrow ? 1 : 0), low: low)
  }

  static func < (left: WideCoefficient, right: WideCoefficient) -> Bool {
    left.high != right.high ? left.high < right.high : left.low < right.low
  }
}

extension DecimalBits {
  /// Rounds an exact value to 34 digits, half to even, and brings its exponent into range.
  ///
  /// Too large a value becomes infinity; too small a one keeps the digits that fit (a subnormal
  /// number) or becomes zero.
  static func rounded(
    isNegative: Bool, _ value: WideCoefficient, exponent: Int
  ) -> DecimalBits {
    guard !value.isZero else {
      let clamped = min(max(exponent, smallestExponent), largestExponent)
      return DecimalBits(isNegative: isNegative, coefficient: 0, exponent: clamped)
    }
    let digits = value.digitCount
    // One rounding only: as many digits go as precision or range ask for, whichever is more.
    let dropped = max(0, digits - digitCount, smallestExponent - exponent)
    guard dropped <= digits else {
      return DecimalBits(isNegative: isNegative, coefficient: 0, exponent: smallestExponent)
    }
    var coefficient = value.droppingDigits(dropped)
    var exponent = exponent + dropped
    if coefficient == coefficientLimit {
      coefficient = PowersOfTen.value(digitCount - 1)
      exponent += 1
    }
    if exponent > largestExponent {
      let padding = exponent - largestExponent
      guard PowersOfTen.digitCount(of: coefficient) + padding <= digitCount else {
        return infinity(isNegative: isNegative)
      }
      coefficient *= PowersOfTen.value(padding)
      exponent = largestExponent
    }
    return DecimalBits(isNegative: isNegative, coefficient: coefficient, exponent: exponent)
  }
}

extension WideCoefficient {
  /// The value without its last digits, rounded half to even; the result has at most 35 digits.
  fileprivate func droppingDigits(_ count: Int) -> UInt128 {
    guard count > 0 else { return low }
    // Up to 76 digits may go; a power of ten has at most 38 zeros, so the lower part goes first
    // and only leaves a trace.
    let first = count > 38 ? count - 38 : 0
    var value = self
    var isExact = true
    if first > 0 {
      let divisor = PowersOfTen.value(first)
      let (high, carry) = value.high.quotientAndRemainder(dividingBy: divisor)
      let (low, rest) = divisor.dividingFullWidth((carry, value.low))
      value = WideCoefficient(high: high, low: low)
      isExact = rest == 0
    }
    let power = count - first
    let (quotient, remainder) = value.divided(byPowerOfTen: power)
    let half = PowersOfTen.value(power) / 2
    let roundsUp =
      remainder > half || remainder == half && (!isExact || quotient & 1 == 1)
    return roundsUp ? quotient + 1 : quotient
  }
}
