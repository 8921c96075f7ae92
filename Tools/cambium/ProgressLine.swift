import Foundation

/// A line that redraws itself on a terminal and says nothing in a pipe.
final class ProgressLine {
  private let isTerminal = Terminal.draws(STDERR_FILENO)
  private var isShown = false
  private var what = ""
  private var begun = Date()
  private var last = Date.distantPast
  /// No faster than people read.
  private static let interval = 0.1

  /// Shows what is going on and how far it is.
  func show(_ what: String, _ amount: String) {
    guard isTerminal else { return }
    isShown = true
    // Never as wide as the terminal: a line that goes on in the next one cannot be drawn over.
    let width = (Terminal.width(of: STDERR_FILENO) ?? 1) - 1
    Output.write("\r\u{1B}[K" + CellText.cut(CellText.cleaned("\(what): \(amount)"), to: width))
  }

  /// Shows how many of `total` are done, if that is known, how many a second, and how long the rest takes.
  func show(_ what: String, _ done: Int, of total: Int?, _ unit: String) {
    guard isTerminal else { return }
    let now = Date()
    if what != self.what { (self.what, begun, last) = (what, now, .distantPast) }
    guard now.timeIntervalSince(last) >= Self.interval else { return }
    last = now
    show(what, Self.text(done, of: total, unit, after: now.timeIntervalSince(begun)))
  }

  /// `done` of `total` after so many seconds, in words.
  static func text(_ done: Int, of total: Int?, _ unit: String, after seconds: Double) -> String {
    func amount(_ count: Int) -> String {
      unit == "bytes" ? Output.bytes(count) : "\(count) \(unit)"
    }
    var text = amount(done)
    if let total, total > 0 {
      text = unit == "bytes" ? text : "\(done)"
      text += " of \(amount(total)), \(Int(min(1, Double(done) / Double(total)) * 100)) %"
    }
    guard seconds >= 1, done > 0 else { return text }
    let rate = Double(done) / seconds
    text += ", \(amount(Int(rate))) a second"
    guard let total, total > done else { return text }
    let left = Int((Double(total - done) / rate).rounded(.up))
    return text
      + (left < 60
        ? ", \(left) s left" : ", \(left / 60):\(left % 60 < 10 ? "0" : "")\(left % 60) left")
  }

  /// Clears the line.
  func finish() {
    if isShown { Output.write("\r\u{1B}[K") }
    isShown = false
  }
}
