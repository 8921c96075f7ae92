/// One piece of work, done by every engine that can.
protocol Workload {
  /// The number in the results and of the option `--only`: `W1` and so on.
  var id: String { get }

  /// What it does, in few words, for the progress line.
  var title: String { get }

  /// What the engines hold when a measurement starts.
  var start: Contents { get }

  /// What they hold after it.
  var end: Contents { get }

  /// How many rounds at most; nil for as many as are asked for.
  var roundLimit: Int? { get }

  /// Whether engines of this type can do this.
  func suits(_ engine: any Engine.Type) -> Bool

  /// Does the work once, on an open engine, and checks what came out.
  ///
  /// - Returns: one or more figures; each is a line in the results.
  func measure(_ engine: any Engine, round: Int) throws -> [Figure]
}

extension Workload {
  var roundLimit: Int? { nil }
}

/// What an engine holds.
enum Contents: Equatable {
  /// Nothing.
  case empty
  /// All people under the keys 0, 1, 2 …, as they were made.
  case people
  /// As a start: all people, perhaps changed and with others; as an end: changed people.
  case changedPeople
  /// All people under random keys.
  case randomKeys
  /// All people, after as many random changes as there are people, a million at most; perhaps with
  /// others.
  case agedPeople

  /// Whether an engine that holds `other` can start with this.
  func isMet(by other: Contents) -> Bool {
    switch self {
    case .empty: false
    case .people, .randomKeys, .agedPeople: other == self
    case .changedPeople: other == .people || other == .changedPeople
    }
  }
}

/// An engine answered wrongly, so that its time means nothing.
struct WrongAnswer: Error, CustomStringConvertible {
  var engine: String
  var workload: String
  var description: String { "\(engine) gave a wrong answer in \(workload)" }

  /// Throws unless `condition` holds.
  static func unless(_ condition: Bool, _ engine: any Engine, _ workload: some Workload) throws {
    if !condition {
      throw WrongAnswer(
        engine: type(of: engine).name, workload: "\(workload.id), \(workload.title)")
    }
  }
}
