import Foundation

/// Remembers how long each step took.
final class Stopwatch {
  private var laps: [(step: String, seconds: Double)] = []

  /// Runs `body` as the step `step` and returns its result.
  func time<Result>(_ step: String, _ body: () throws -> Result) rethrows -> Result {
    let clock = ContinuousClock()
    let start = clock.now
    let result = try body()
    let elapsed = clock.now - start
    let seconds =
      Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
    laps.append((step, seconds))
    return result
  }

  /// Prints one line per step.
  func report() {
    for (step, seconds) in laps {
      let text =
        seconds >= 1
        ? String(format: "%.2f s", seconds) : String(format: "%.2f ms", seconds * 1_000)
      print("time, \(step): \(text)")
    }
  }
}
