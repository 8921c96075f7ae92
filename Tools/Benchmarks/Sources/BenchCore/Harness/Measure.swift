/// What one figure is of: a line in the results.
struct Measure: Hashable {
  /// The workload: `W1` and so on.
  var workload: String
  /// Which part of it.
  var variant: String
  /// Of the values: `s`, `ms`, `µs`, `ns`, `MB`, `%` or `k/s`.
  var unit: String
  /// Whether more is better, as with rates.
  var isRate = false
  /// Whether the value is of all rows together, so that it rises with their number.
  var isPerRun = false
  /// What Cambium should reach; empty where nothing is asked.
  var aims: [Aim] = []
}

/// What Cambium's figure is set against, and what should come out.
struct Aim: Hashable {
  enum Reference: Hashable {
    /// The best of the other databases: how many times as fast Cambium is.
    case bestPeer
    /// One of the others: how many times as fast Cambium is.
    case engine(String)
    /// The least the machine can do: how many times as fast as that Cambium is, or, where it cannot
    /// be faster, how many times as long it takes.
    case floor(isBeatable: Bool)
    /// The size of another one's: which share of it Cambium takes.
    case share(of: String)
    /// A fixed value.
    case limit
  }

  var reference: Reference
  /// The least factor, or the greatest share or value.
  var bound: Double

  /// At least `factor` times as fast as the best of the other databases.
  static func timesBestPeer(_ factor: Double) -> Aim { Aim(reference: .bestPeer, bound: factor) }
  /// At least `factor` times as fast as one of them.
  static func times(_ factor: Double, _ engine: String) -> Aim {
    Aim(reference: .engine(engine), bound: factor)
  }
  /// At most `factor` times as long as the floor.
  static func floorTimes(_ factor: Double) -> Aim {
    Aim(reference: .floor(isBeatable: false), bound: factor)
  }
  /// Faster than the floor.
  static let fasterThanFloor = Aim(reference: .floor(isBeatable: true), bound: 1)
  /// At most this share of what `engine` takes.
  static func share(_ share: Double, of engine: String) -> Aim {
    Aim(reference: .share(of: engine), bound: share)
  }
  /// At most this value; at least, for rates.
  static func limit(_ value: Double) -> Aim { Aim(reference: .limit, bound: value) }
}

/// One measured value.
struct Figure {
  var measure: Measure
  var value: Double

  init(_ measure: Measure, _ value: Double) {
    self.measure = measure
    self.value = value
  }
}
