import Foundation

/// One line on the terminal that redraws itself; silent when standard error is no terminal.
struct ProgressLine {
  private let isTerminal = isatty(STDERR_FILENO) == 1

  /// Replaces the line.
  func show(_ text: String) {
    if isTerminal { Self.write("\r\u{1B}[K" + text) }
  }

  /// Removes the line.
  func clear() {
    if isTerminal { Self.write("\r\u{1B}[K") }
  }

  private static func write(_ text: String) {
    FileHandle.standardError.write(Data(text.utf8))
  }
}
