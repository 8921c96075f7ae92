import Foundation

/// A line that redraws itself on a terminal and says nothing in a pipe.
final class ProgressLine {
  private let isTerminal = isatty(2) == 1
  private var isShown = false

  /// Shows what is going on and how far it is.
  func show(_ what: String, _ amount: String) {
    guard isTerminal else { return }
    isShown = true
    Output.write("\r\u{1B}[K\(what): \(amount)")
  }

  /// Clears the line.
  func finish() {
    if isShown { Output.write("\r\u{1B}[K") }
    isShown = false
  }
}
