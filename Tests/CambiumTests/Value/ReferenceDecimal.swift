/// Decimal arithmetic on lists of digits, written for clarity: what `Decimal128` is compared with.
struct ReferenceDecimal {
  var isNegative: Bool
  /// Digits, the most significant first, without leading zeros; empty for zero.
  var digits: [UInt8]
  /// The power of ten of the last digit.
  var exponent: Int

  init(isNegative: Bool, digits: [UInt8], exponent: Int) {
    self.isNegative = isNegative
    self.digits = Array(digits.drop { $0 == 0 })
    self.exponent = exponent
  }

  /// Text that `Decimal128` reads without rounding.
  var text: String {
    let number = digits.isEmpty ? "0" : digits.map(String.init).joined()
    return "\(isNegative ? "-" : "")\(number)E\(exponent)"
  }

  /// The value with 34 digits, half to even; nil when the exponent leaves the range.
  var rounded: ReferenceDecimal? {
    guard digits.count > 34 else { return inRange }
    let kept = Array(digits[..<34])
    let rest = digits[34...]
    let half: [UInt8] = [5] + Array(repeating: 0, count: rest.count - 1)
    var result = ReferenceDecimal(
      isNegative: isNegative, digits: kept, exponent: exponent + rest.count)
    let roundsUp =
      half.lexicographicallyPrecedes(rest) || Array(rest) == half && kept[33] % 2 == 1
    if roundsUp { result.digits = Array(Self.add(kept, [1]).drop { $0 == 0 }) }
    return result.digits.count > 34 ? result.rounded : result.inRange
  }

  private var inRange: ReferenceDecimal? {
    exponent >= -6176 && exponent <= 6111 || digits.isEmpty ? self : nil
  }

  static func + (left: ReferenceDecimal, right: ReferenceDecimal) -> ReferenceDecimal {
    let exponent = min(left.exponent, right.exponent)
    let (first, second) = (left.digits(from: exponent), right.digits(from: exponent))
    if left.isNegative == right.isNegative {
      return ReferenceDecimal(
        isNegative: left.isNegative, digits: add(first, second), exponent: exponent)
    }
    if isBelow(first, second) {
      return ReferenceDecimal(
        isNegative: right.isNegative, digits: subtract(second, first), exponent: exponent)
    }
    let difference = subtract(first, second)
    return ReferenceDecimal(
      isNegative: left.isNegative && difference.contains { $0 != 0 }, digits: difference,
      exponent: exponent)
  }

  static func * (left: ReferenceDecimal, right: ReferenceDecimal) -> ReferenceDecimal {
    var product: [UInt8] = []
    for digit in left.digits {
      product.append(0)
      for _ in 0..<digit { product = add(product, right.digits) }
    }
    return ReferenceDecimal(
      isNegative: left.isNegative != right.isNegative, digits: product,
      exponent: left.exponent + right.exponent)
  }

  /// The quotient to 80 digits; a remainder leaves a 1 behind them.
  static func / (left: ReferenceDecimal, right: ReferenceDecimal) -> ReferenceDecimal {
    var quotient: [UInt8] = []
    var remainder: [UInt8] = []
    for digit in left.digits + [UInt8](repeating: 0, count: 80) {
      remainder = Array((remainder + [digit]).drop { $0 == 0 })
      var count: UInt8 = 0
      while !isBelow(remainder, right.digits) {
        remainder = Array(subtract(remainder, right.digits).drop { $0 == 0 })
        count += 1
      }
      quotient.append(count)
    }
    quotient.append(remainder.isEmpty ? 0 : 1)
    return ReferenceDecimal(
      isNegative: left.isNegative != right.isNegative, digits: quotient,
      exponent: left.exponent - right.exponent - 81)
  }

  /// Negative, zero or positive, by value.
  static func compare(_ left: ReferenceDecimal, _ right: ReferenceDecimal) -> Int {
    var negated = right
    negated.isNegative.toggle()
    let difference = left + negated
    if difference.digits.isEmpty { return 0 }
    return difference.isNegative ? -1 : 1
  }

  private func digits(from lowest: Int) -> [UInt8] {
    digits.isEmpty ? [] : digits + [UInt8](repeating: 0, count: exponent - lowest)
  }

  private static func padded(_ left: [UInt8], _ right: [UInt8]) -> ([UInt8], [UInt8]) {
    let count = max(left.count, right.count)
    return (
      [UInt8](repeating: 0, count: count - left.count) + left,
      [UInt8](repeating: 0, count: count - right.count) + right
    )
  }

  private static func isBelow(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    let (first, second) = padded(left, right)
    return first.lexicographicallyPrecedes(second)
  }

  private static func add(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
    let (first, second) = padded(left, right)
    var sum = [UInt8](repeating: 0, count: first.count + 1)
    for index in first.indices.reversed() {
      let digit = sum[index + 1] + first[index] + second[index]
      sum[index + 1] = digit % 10
      sum[index] = digit / 10
    }
    return sum
  }

  private static func subtract(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
    let (first, second) = padded(left, right)
    var difference = first
    var borrow: UInt8 = 0
    for index in first.indices.reversed() {
      let taken = second[index] + borrow
      borrow = first[index] < taken ? 1 : 0
      difference[index] = first[index] + 10 * borrow - taken
    }
    return difference
  }
}

extension ReferenceDecimal {
  /// A random number with 0 to 34 digits, some of them runs of zeros or nines.
  static func random(using generator: inout some RandomNumberGenerator) -> ReferenceDecimal {
    let count = Int.random(in: 0...34, using: &generator)
    let style = Int.random(in: 0..<4, using: &generator)
    let digits = (0..<count).map { index -> UInt8 in
      switch style {
      case 0: 9
      case 1: index == 0 ? 1 : 0
      default: UInt8.random(in: 0...9, using: &generator)
      }
    }
    let spread = [3, 40, 90][Int.random(in: 0..<3, using: &generator)]
    return ReferenceDecimal(
      isNegative: Bool.random(using: &generator), digits: digits,
      exponent: Int.random(in: -spread...spread, using: &generator))
  }
}
