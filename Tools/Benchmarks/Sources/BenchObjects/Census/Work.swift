import Foundation

/// How long something took, and what came out of it.
struct Timing: Sendable {
  /// Seconds per operation.
  var seconds: Double
  /// What every side must agree on.
  var answer: Int

  /// Measures `body`, which does `count` operations and gives the answer.
  static func measure(_ count: Int = 1, _ body: () throws -> Int) rethrows -> Timing {
    let start = ContinuousClock.now
    let answer = try body()
    return Timing(
      seconds: (ContinuousClock.now - start).nanoseconds / 1e9 / Double(count), answer: answer)
  }
}

/// A line of the table.
struct Work: Sendable {
  enum Unit: String, Sendable {
    case seconds = "s"
    case milliseconds = "ms"
    case microseconds = "µs"
    case nanoseconds = "ns"

    var factor: Double {
      switch self {
      case .seconds: 1
      case .milliseconds: 1e3
      case .microseconds: 1e6
      case .nanoseconds: 1e9
      }
    }
  }

  let name: String
  let unit: Unit
  /// Whether it changes something.
  var writes = false
  /// What it should take, in the unit, for a million people.
  let wanted: Double?
  /// What the system that this one replaces takes, in the unit, measured on another machine.
  var realm: Double?
  /// Which line of `make bench` does this without objects: a workload and its variant.
  var engine: (workload: String, variant: String)?
  let overRealm: @Sendable (RealmSide) throws -> Timing
  /// Nil where SQL has nothing like it.
  var overSQLite: (@Sendable (SQLiteSide) throws -> Timing)?

  /// All lines, in the order in which they are done: later ones need what earlier ones made.
  static let all =
    creating + reading + sorting + changing + linking + opening + deleting
}
