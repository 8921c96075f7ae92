/// A condition on a `Float` or `Double`, by the rules of IEEE 754: NaN equals nothing and has no
/// order.
package enum FloatingCondition: Sendable, Hashable {
  /// Within the bounds; nothing is when they are crossed.
  case range(Double, Double)
  /// Not within the bounds, NaN included.
  case outside(Double, Double)
  /// One of these.
  case set(Set<Double>)

  @inline(__always) package func matches(_ value: Double) -> Bool {
    switch self {
    case .range(let low, let high): value >= low && value <= high
    case .outside(let low, let high): !(value >= low && value <= high)
    case .set(let set): set.contains(value)
    }
  }

  /// The condition for an operator that asks for equality or order; nil when nothing passes it.
  init?(_ operation: QueryOperator, _ constant: Double) {
    guard !constant.isNaN else {
      guard operation == .notEqual else { return nil }
      self = .outside(1, 0)
      return
    }
    switch operation {
    case .equal: self = .range(constant, constant)
    case .notEqual: self = .outside(constant, constant)
    case .less where constant > -.infinity: self = .range(-.infinity, constant.nextDown)
    case .lessOrEqual: self = .range(-.infinity, constant)
    case .greater where constant < .infinity: self = .range(constant.nextUp, .infinity)
    case .greaterOrEqual: self = .range(constant, .infinity)
    default: return nil
    }
  }
}
