/// Exact arithmetic with one rounding at the end.
///
/// An exact result keeps the exponent the standard prefers (the smaller one for sums, the sum for
/// products, the difference for quotients, as far as the digits allow).
extension DecimalBits {
  static func + (left: DecimalBits, right: DecimalBits) -> DecimalBits {
    if left.isNaN || right.isNaN { return notANumber }
    if left.isInfinite {
      return right.isInfinite && left.isNegative != right.isNegative ? notANumber : left
    }
    if right.isInfinite { return right }

    var upper = Term(left)
    var lower = Term(right)
    if upper.exponent < lower.exponent { swap(&upper, &lower) }
    return sum(upper, lower)
  }

  static func - (left: DecimalBits, right: DecimalBits) -> DecimalBits { left + right.negated }

  static func * (left: DecimalBits, right: DecimalBits) -> DecimalBits {
    if left.isNaN || right.isNaN { return notANumber }
    let isNegative = left.isNegative != right.isNegative
    if left.isInfinite || right.isInfinite {
      return left.isZero || right.isZero ? notANumber : infinity(isNegative: isNegative)
    }
    let product = WideCoefficient(left.coefficient, times: right.coefficient)
    return rounded(
      isNegative: isNegative, product, exponent: left.exponent + right.exponent)
  }

  static func / (left: DecimalBits, right: DecimalBits) -> DecimalBits {
    if left.isNaN || right.isNaN { return notANumber }
    let isNegative = left.isNegative != right.isNegative
    if left.isInfinite {
      return right.isInfinite ? notANumber : infinity(isNegative: isNegative)
    }
    let preferred = left.exponent - right.exponent
    if right.isInfinite {
      return DecimalBits(isNegative: isNegative, coefficient: 0, exponent: smallestExponent)
    }
    if right.isZero { return left.isZero ? notANumber : infinity(isNegative: isNegative) }
    if left.isZero {
      return rounded(isNegative: isNegative, WideCoefficient(low: 0), exponent: preferred)
    }
    return quotient(left, right, isNegative: isNegative, preferred: preferred)
  }

  /// A finite operand taken apart.
  private struct Term {
    var isNegative: Bool
    var coefficient: UInt128
    var exponent: Int

    init(_ bits: DecimalBits) {
      isNegative = bits.isNegative
      coefficient = bits.coefficient
      exponent = bits.exponent
    }

    /// Lowers the exponent by appending zeros, at most to `target` and to 34 digits.
    mutating func pad(to target: Int) {
      let room = coefficient == 0 ? exponent - target : digitCount - digits
      let zeros = min(room, exponent - target)
      if coefficient != 0 { coefficient *= PowersOfTen.value(zeros) }
      exponent -= zeros
    }

    var digits: Int { PowersOfTen.digitCount(of: coefficient) }
  }

  private static func sum(_ first: Term, _ second: Term) -> DecimalBits {
    var upper = first
    var lower = second
    upper.pad(to: lower.exponent)
    var shift = upper.exponent - lower.exponent
    if lower.coefficient == 0 {
      shift = 0
    } else if shift > 38 {
      // `upper` has 34 digits and `lower` lies at least five digits below its last one: for the
      // rounding it is enough that something of that sign is there.
      lower.coefficient = 1
      lower.exponent = upper.exponent - 3
      shift = 3
    }
    let high = WideCoefficient(upper.coefficient, times: PowersOfTen.value(shift))
    let low = WideCoefficient(low: lower.coefficient)
    let exponent = upper.exponent - shift
    if upper.isNegative == lower.isNegative {
      return rounded(isNegative: upper.isNegative, high + low, exponent: exponent)
    }
    if high < low {
      return rounded(isNegative: lower.isNegative, low - high, exponent: exponent)
    }
    let difference = high - low
    let isNegative = !difference.isZero && upper.isNegative
    return rounded(isNegative: isNegative, difference, exponent: exponent)
  }

  /// Divides two finite numbers other than zero.
  private static func quotient(
    _ left: DecimalBits, _ right: DecimalBits, isNegative: Bool, preferred: Int
  ) -> DecimalBits {
    let numerator = left.coefficient
    let denominator = right.coefficient
    let padding = digitCount - PowersOfTen.digitCount(of: numerator)
    let scale = PowersOfTen.digitCount(of: denominator) + 1
    // 34 + scale digits divided by scale − 1 digits: 35 or 36 digits, two more than are kept.
    let scaled = WideCoefficient(
      numerator * PowersOfTen.value(padding), times: PowersOfTen.value(scale))
    let (quotient, remainder) = denominator.dividingFullWidth((scaled.high, scaled.low))
    var exponent = preferred - padding - scale
    guard remainder == 0 else {
      // A last digit that is neither 0 nor 5 stands for what the division left over.
      let marked = WideCoefficient(low: quotient * 10 + 1)
      return rounded(isNegative: isNegative, marked, exponent: exponent - 1)
    }
    var digits = quotient
    while exponent < preferred, digits % 10 == 0 {
      digits /= 10
      exponent += 1
    }
    return rounded(isNegative: isNegative, WideCoefficient(low: digits), exponent: exponent)
  }
}
