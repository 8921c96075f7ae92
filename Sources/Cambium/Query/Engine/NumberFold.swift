import CambiumCore

/// Counts, adds up or compares values one after another: those of a column, of a list or of objects
/// without a Realm.
///
/// Null counts for nothing but `count`, and neither does NaN: it is neither smallest nor greatest, and sums and means
/// are those of the numbers beside it. Among values of any type, whose extremes are the ends of their order, NaN is
/// the smallest number.
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

  /// What counting `count` values gives.
  init(count: Int) {
    self.init(.count, .int)
    self.count = count
  }

  mutating func add(_ value: ColumnValue) {
    if aggregate == .count {
      count += 1
      return
    }
    if case .null = value { return }
    if property == .any, aggregate != .minimum, aggregate != .maximum {
      // Only numbers count, as decimal ones.
      guard let number = StoredAny(value)?.number, !number.isNaN else { return }
      count += 1
      decimal = decimal + number
      return
    }
    if aggregate == .minimum || aggregate == .maximum {
      count += 1
      addExtreme(value)
    } else if !CellOrder(property).isNaN(value) {
      count += 1
      addToSum(value)
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
    let order = CellOrder(property)
    if property == .any { return addAny(value, order) }
    if order.isNaN(value) { return }
    guard case .null = extreme else {
      let comparison = order.compare(value, extreme)
      if aggregate == .minimum ? comparison < 0 : comparison > 0 { extreme = value }
      return
    }
    extreme = value
  }

  /// The extreme of values of any type so far, with bytes of its own.
  private var anyExtreme: StoredAny?

  private mutating func addAny(_ value: ColumnValue, _ order: CellOrder) {
    guard let known = anyExtreme else {
      anyExtreme = StoredAny(value)
      return
    }
    let comparison = known.withCell { order.compare(value, $0) }
    if aggregate == .minimum ? comparison < 0 : comparison > 0 { anyExtreme = StoredAny(value) }
  }

  /// Calls `body` with the result.
  func withResult<Result>(_ body: (ColumnValue) -> Result) -> Result {
    guard property == .any, aggregate == .minimum || aggregate == .maximum else {
      return body(result)
    }
    return (anyExtreme ?? .none).withCell(body)
  }

  /// Calls `body` with the result as a condition takes it, which stops nothing: a sum of integers that does not fit
  /// into 64 bits counts as the last one that does.
  func withOperand<Result>(_ body: (ColumnValue) -> Result) -> Result {
    if aggregate == .sum, Int64(exactly: integer) == nil {
      return body(.int(Int64(clamping: integer)))
    }
    return withResult(body)
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
      case .decimal128, .any: return .wide(low: decimal.low, high: decimal.high)
      default:
        guard let sum = Int64(exactly: integer) else {
          fatalError("The sum \(integer) does not fit into 64 bits.")
        }
        return .int(sum)
      }
    case .average:
      guard count > 0 else { return .null }
      if property == .decimal128 || property == .any {
        let mean = decimal / DecimalBits(rounding: count)
        return .wide(low: mean.low, high: mean.high)
      }
      return .double((double + Double(integer)) / Double(count))
    }
  }
}
