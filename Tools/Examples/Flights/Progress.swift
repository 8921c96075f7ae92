import Foundation

/// A line that redraws itself on a terminal and says nothing in a pipe.
final class Progress {
  private let isTerminal = isatty(2) == 1
  private var lastPercent = -1

  /// Shows how far `what` is, from 0 to 1.
  func show(_ what: String, _ fraction: Double) {
    let percent = Int(fraction * 100)
    guard isTerminal, percent != lastPercent else { return }
    lastPercent = percent
    write("\r\(what): \(percent) %")
  }

  /// Clears the line.
  func finish() {
    guard isTerminal, lastPercent >= 0 else { return }
    lastPercent = -1
    write("\r\u{1B}[K")
  }

  private func write(_ text: String) {
    FileHandle.standardError.write(Data(text.utf8))
  }
}
