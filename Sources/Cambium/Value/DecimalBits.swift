/// One decimal number in the 128-bit binary-integer encoding (BID) of IEEE 754-2008.
///
///      127   126…113          112…0
///     | sign | exponent + 6176 | coefficient |
///
/// The coefficient has at most 34 digits. Infinity and NaN have the top bits `11110` and `11111`
/// after the sign. This is the stored form of a `Decimal128` and the one queries compare: a value
/// without an allocation.
package struct DecimalBits: Sendable {
  /// Bits 0 to 63.
  package let low: UInt64
  /// Bits 64 to 127.
  package let high: UInt64

  /// Takes stored bits as they are; every pattern is a value.
  package init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }

  /// The most digits a coefficient has.
  static let digitCount = 34
  /// Added to the exponent in the stored form.
  static let bias = 6176
  /// The smallest and largest exponent of the coefficient's last digit.
  static let smallestExponent = -6176
  static let largestExponent = 6111
  /// The first number that does not fit the coefficient.
  static let coefficientLimit = PowersOfTen.value(34)

  /// Packs a finite number that is already in range.
  init(isNegative: Bool, coefficient: UInt128, exponent: Int) {
    assert(coefficient < Self.coefficientLimit)
    assert(exponent >= Self.smallestExponent && exponent <= Self.largestExponent)
    let biased = UInt128(UInt64(exponent + Self.bias))
    let bits = (isNegative ? UInt128(1) << 127 : 0) | biased << 113 | coefficient
    self.init(low: UInt64(truncatingIfNeeded: bits), high: UInt64(truncatingIfNeeded: bits >> 64))
  }

  static let zero = DecimalBits(isNegative: false, coefficient: 0, exponent: 0)
  static let notANumber = DecimalBits(low: 0, high: 0x7C00 << 48)

  static func infinity(isNegative: Bool) -> DecimalBits {
    DecimalBits(low: 0, high: (isNegative ? 0xF800 : 0x7800) << 48)
  }

  var isNegative: Bool { high >> 63 == 1 }
  /// Whether the value is neither a number nor an infinity.
  package var isNaN: Bool { high & 0x7C00 << 48 == 0x7C00 << 48 }
  var isInfinite: Bool { high & 0x7C00 << 48 == 0x7800 << 48 }
  var isFinite: Bool { high & 0x7800 << 48 != 0x7800 << 48 }
  var isZero: Bool { isFinite && coefficient == 0 }

  /// Whether the exponent sits two bits lower, which only coefficients beyond 34 digits need.
  private var isLargeForm: Bool { high & 0x6000 << 48 == 0x6000 << 48 }

  /// The digits as an integer; a pattern beyond 34 digits counts as zero, as the standard says.
  var coefficient: UInt128 {
    guard !isLargeForm else { return 0 }
    let value = UInt128(high & 0x0001_FFFF_FFFF_FFFF) << 64 | UInt128(low)
    return value < Self.coefficientLimit ? value : 0
  }

  /// The power of ten of the coefficient's last digit.
  var exponent: Int {
    Int(high >> (isLargeForm ? 47 : 49) & 0x3FFF) - Self.bias
  }

  /// The bit of `high` that a negative number has.
  static let signBit: UInt64 = 1 << 63
  /// The same number with the opposite sign.
  var negated: DecimalBits { DecimalBits(low: low, high: high ^ Self.signBit) }
  /// The same number without its sign.
  var magnitude: DecimalBits { DecimalBits(low: low, high: high & ~Self.signBit) }
}

/// The powers of ten that fit 128 bits, and how many digits a number has.
enum PowersOfTen {
  private static let table: [UInt128] = {
    var powers: [UInt128] = [1]
    for _ in 0..<38 { powers.append(powers[powers.count - 1] * 10) }
    return powers
  }()

  /// Ten to the power of `exponent`, 0 to 38.
  static func value(_ exponent: Int) -> UInt128 { table[exponent] }

  /// The number of decimal digits; zero has none.
  static func digitCount(of value: UInt128) -> Int {
    guard value != 0 else { return 0 }
    // 1233 / 4096 is just below log10(2), so the estimate is right or one short.
    let estimate = ((128 - value.leadingZeroBitCount) * 1233) >> 12
    return value >= table[min(estimate, 38)] && estimate <= 38 ? estimate + 1 : estimate
  }
}
