import CambiumCore

/// Counts, adds up or compares values one after another.
///
/// Null counts for nothing but `count`. NaN is neither smallest nor greatest, and a sum that holds
/// one is NaN.
struct NumberFold {
  let aggregate: QueryPath.Aggregate
  let property: PropertyType
  /// How many values there were, null left out unless they are counted.
  private(set) var count = 0
  private var integer: Int128 = 0
  private var double = 0.0
  private var decimal = DecimalBits.zero
  private var extreme = ColumnValue.null

  init(_ aggregate: QueryPath.Aggregate, _ property: PropertyType) {
    self.aggregate = aggregate
    self.property = property
  }

  mutating func add(_ value: ColumnValue) {
    if aggregate == .count {
      count += 1
      return
    }
    if case .null = value { return }
    count += 1
    switch aggregate {
    case .minimum, .maximum: addExtreme(value)
    default: addToSum(value)
    }
  }

  /// Adds the sum of `count` floating-point numbers that are not null.
  mutating func add(sum: Double, of count: Int) {
    double += sum
    self.count += count
  }

  /// Adds the sum of `count` integers that are not null.
  mutating func add(sum: Int128, of count: Int) {
    integer += sum
    self.count += count
  }

  private mutating func addToSum(_ value: ColumnValue) {
    switch value {
    case .int(let value): integer += Int128(value)
    case .float(let value): double += Double(value)
    case .double(let value): double += value
    case .wide(let low, let high): decimal = decimal + DecimalBits(low: low, high: high)
    default: break
    }
  }

  private mutating func addExtreme(_ value: ColumnValue) {
    if isNaN(value) { return }
    if case .null = extreme {
      extreme = value
      return
    }
    let isBetter =
      aggregate == .minimum
      ? ValueOrder.isBelow(value, extreme, property) : ValueOrder.isBelow(extreme, value, property)
    if isBetter { extreme = value }
  }

  private func isNaN(_ value: ColumnValue) -> Bool {
    switch value {
    case .float(let value): value.isNaN
    case .double(let value): value.isNaN
    case .wide(let low, let high):
      property == .decimal128 && DecimalBits(low: low, high: high).isNaN
    default: false
    }
  }

  /// The number: null for the extremes and the average of nothing, 0 for its sum.
  ///
  /// Stops when a sum of integers does not fit into 64 bits.
  var result: ColumnValue {
    switch aggregate {
    case .count: return .int(Int64(count))
    case .minimum, .maximum: return extreme
    case .sum:
      switch property {
      case .float, .double: return .double(double)
      case .decimal128: return .wide(low: decimal.low, high: decimal.high)
      default:
        guard let sum = Int64(exactly: integer) else {
          fatalError("The sum \(integer) does not fit into 64 bits.")
        }
        return .int(sum)
      }
    case .average:
      guard count > 0 else { return .null }
      if property == .decimal128 {
        let mean = decimal / DecimalBits(rounding: count)
        return .wide(low: mean.low, high: mean.high)
      }
      return .double((double + Double(integer)) / Double(count))
    }
  }
}

/// The order in which values sort: null first, NaN below all numbers, text by its bytes.
enum ValueOrder {
  static func isBelow(_ left: ColumnValue, _ right: ColumnValue, _ property: PropertyType) -> Bool {
    switch (left, right) {
    case (.null, .null), (_, .null): return false
    case (.null, _): return true
    case (.int(let left), .int(let right)): return left < right
    case (.bool(let left), .bool(let right)): return !left && right
    case (.float(let left), .float(let right)): return isBelow(Double(left), Double(right))
    case (.double(let left), .double(let right)): return isBelow(left, right)
    case (.bytes(let left), .bytes(let right)): return BytesTest.compare(left, right) < 0
    case (.wide(let low, let high), .wide(let otherLow, let otherHigh)):
      if property == .decimal128 {
        return DecimalBits(low: low, high: high) < DecimalBits(low: otherLow, high: otherHigh)
      }
      let isSigned = property == .date
      return WideTest.key(low: low, high: high, isSigned: isSigned)
        < WideTest.key(low: otherLow, high: otherHigh, isSigned: isSigned)
    default: return false
    }
  }

  private static func isBelow(_ left: Double, _ right: Double) -> Bool {
    left < right || left.isNaN && !right.isNaN
  }
}
