/// One piece of work, done by every engine that can.
protocol Workload {
  /// The name in the results and of the option `--only`.
  var name: String { get }

  /// What the engines hold when a measurement starts.
  var start: Contents { get }

  /// What they hold after it.
  var end: Contents { get }

  /// The engines whose results this one's are set against.
  var yardstick: Yardstick { get }

  /// Whether engines of this type can do this.
  func suits(_ engine: any Engine.Type) -> Bool

  /// Does the work once, on an open engine, and checks what came out.
  ///
  /// - Returns: one or more figures; each is a line in the results.
  func measure(_ engine: any Engine, round: Int) throws -> [Figure]
}

/// What an engine holds.
enum Contents {
  /// Nothing.
  case empty
  /// All people, as they were made.
  case people
  /// As a start: all people, perhaps changed and with others; as an end: changed people.
  case changedPeople
}

/// What Cambium's figure is divided by, or divides.
enum Yardstick {
  /// Another engine: the result says how many times as fast Cambium is.
  case engine(String)
  /// The least the machine can do: the result says how many times as long Cambium takes.
  case floor(String)
}

/// One measured value.
struct Figure {
  /// The workload's name, or that of a part of it.
  var name: String
  /// Less is better.
  var value: Double
  /// Of the value: `s`, `ms`, `µs` or `ns`.
  var unit: String
}

/// An engine answered wrongly, so that its time means nothing.
struct WrongAnswer: Error, CustomStringConvertible {
  var engine: String
  var workload: String
  var description: String { "\(engine) gave a wrong answer in \(workload)" }

  /// Throws unless `condition` holds.
  static func unless(_ condition: Bool, _ engine: any Engine, _ workload: some Workload) throws {
    if !condition {
      throw WrongAnswer(engine: type(of: engine).name, workload: workload.name)
    }
  }
}
