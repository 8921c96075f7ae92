/// One total order by value: NaN, −∞, numbers, +∞.
///
/// Numbers compare by value whatever their exponents (1.0 = 1, −0 = 0). NaN equals NaN, so that
/// equality, hashing, sorting and index keys agree.
extension DecimalBits: Hashable, Comparable {
  /// A finite number other than zero with exactly 34 digits, so that two of them compare digit by
  /// digit once their leading digits have the same weight.
  private var normalized: (leadingExponent: Int, coefficient: UInt128) {
    let digits = PowersOfTen.digitCount(of: coefficient)
    let padding = Self.digitCount - digits
    return (exponent + digits, coefficient * PowersOfTen.value(padding))
  }

  /// The place in the order of the six kinds of value.
  private var rank: UInt8 {
    if isNaN { return 0 }
    if isInfinite { return isNegative ? 1 : 5 }
    if coefficient == 0 { return 3 }
    return isNegative ? 2 : 4
  }

  /// Whether both are the same number, in whatever exponents: 1.0 equals 1.00, and NaN itself.
  package static func == (left: DecimalBits, right: DecimalBits) -> Bool {
    if left.low == right.low, left.high == right.high { return true }
    return compare(left, right) == 0
  }

  /// Whether the first number is below the second; NaN is below all numbers.
  package static func < (left: DecimalBits, right: DecimalBits) -> Bool {
    compare(left, right) < 0
  }

  /// Negative, zero or positive as `left` is below, equal to or above `right`.
  static func compare(_ left: DecimalBits, _ right: DecimalBits) -> Int {
    let (leftRank, rightRank) = (left.rank, right.rank)
    guard leftRank == rightRank else { return leftRank < rightRank ? -1 : 1 }
    guard leftRank == 2 || leftRank == 4 else { return 0 }
    let (first, second) = (left.normalized, right.normalized)
    let isBelow: Bool
    if first.leadingExponent != second.leadingExponent {
      isBelow = first.leadingExponent < second.leadingExponent
    } else if first.coefficient != second.coefficient {
      isBelow = first.coefficient < second.coefficient
    } else {
      return 0
    }
    return isBelow == (leftRank == 4) ? -1 : 1
  }

  /// Hashes the number, so that all ways to write it agree.
  package func hash(into hasher: inout Hasher) {
    let rank = rank
    hasher.combine(rank)
    guard rank == 2 || rank == 4 else { return }
    let (leadingExponent, coefficient) = normalized
    hasher.combine(leadingExponent)
    hasher.combine(coefficient)
  }

  /// The number of bytes of `orderedKey`.
  static let orderedKeyByteCount = 19

  /// Bytes that compare like the values and are equal exactly for equal values.
  ///
  /// Rank (1 byte), weight of the leading digit (2, biased, big-endian), 34 digits as an integer
  /// (16, big-endian); the last two are inverted for negative numbers and zero for the rest.
  var orderedKey: [UInt8] {
    let rank = rank
    guard rank == 2 || rank == 4 else {
      return [rank] + [UInt8](repeating: 0, count: Self.orderedKeyByteCount - 1)
    }
    let (leadingExponent, coefficient) = normalized
    let mask: UInt8 = rank == 2 ? 0xFF : 0
    let biased = UInt16(leadingExponent + Self.bias)
    var key: [UInt8] = [
      rank, UInt8(biased >> 8) ^ mask, UInt8(truncatingIfNeeded: biased) ^ mask,
    ]
    key.reserveCapacity(Self.orderedKeyByteCount)
    for shift in stride(from: 120, through: 0, by: -8) {
      key.append(UInt8(truncatingIfNeeded: coefficient >> UInt128(shift)) ^ mask)
    }
    return key
  }
}
