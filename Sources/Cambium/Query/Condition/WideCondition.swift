/// A condition on a 128-bit value that compares as a big-endian number: dates (whose high word is
/// signed) and identifiers.
package struct WideCondition: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    case range(ClosedRange<UInt128>)
    case outside(ClosedRange<UInt128>)
    /// One of these, in ascending order.
    case set([UInt128])
  }

  package let kind: Kind
  /// Turned in the high word before comparing, so that signed order becomes unsigned.
  let mask: UInt64

  /// Keys are those of `key(low:high:isSigned:)`.
  package init(_ kind: Kind, isSigned: Bool) {
    self.kind = kind
    mask = isSigned ? 1 << 63 : 0
  }

  /// The number by which a value compares.
  static func key(low: UInt64, high: UInt64, isSigned: Bool) -> UInt128 {
    UInt128(isSigned ? high ^ 1 << 63 : high) << 64 | UInt128(low)
  }

  @inline(__always) package func matches(low: UInt64, high: UInt64) -> Bool {
    let key = UInt128(high ^ mask) << 64 | UInt128(low)
    switch kind {
    case .range(let range): return range.contains(key)
    case .outside(let range): return !range.contains(key)
    case .set(let keys):
      var (lower, upper) = (0, keys.count)
      while lower < upper {
        let middle = (lower + upper) / 2
        if keys[middle] < key { lower = middle + 1 } else { upper = middle }
      }
      return lower < keys.count && keys[lower] == key
    }
  }
}

/// A condition on a decimal number, by value; NaN equals itself and is below every number.
package enum DecimalCondition: Sendable, Hashable {
  case compare(QueryOperator, DecimalBits)
  case range(DecimalBits, DecimalBits)
  case set(Set<DecimalBits>)

  package func matches(_ value: DecimalBits) -> Bool {
    switch self {
    case .compare(let operation, let constant):
      let order = DecimalBits.compare(value, constant)
      switch operation {
      case .equal: return order == 0
      case .notEqual: return order != 0
      case .less: return order < 0
      case .lessOrEqual: return order <= 0
      case .greater: return order > 0
      case .greaterOrEqual: return order >= 0
      default: return false
      }
    case .range(let low, let high): return value >= low && value <= high
    case .set(let set): return set.contains(value)
    }
  }
}
