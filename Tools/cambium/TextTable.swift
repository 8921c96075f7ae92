import Foundation

/// The terminal that output goes to, if it goes to one.
enum Terminal {
  /// How many characters a line has; nil in a pipe or a file.
  static var width: Int? {
    guard isatty(STDOUT_FILENO) == 1 else { return nil }
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }
}

/// Rows in aligned columns, as wide as the first rows need; on a terminal no wider than that.
struct TextTable {
  private let headings: [(text: String, isNumber: Bool)]
  private let width: Int?
  private var widths: [Int] = []
  private static let gap = "  "
  /// No column is made narrower than this.
  private static let leastWidth = 8

  init(_ headings: [(text: String, isNumber: Bool)], width: Int?) {
    self.headings = headings
    self.width = width
  }

  /// `text` on one line, with what would move the cursor made visible.
  static func cleaned(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      return text
    }
    var cleaned = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": cleaned += "\\n"
      case "\r": cleaned += "\\r"
      case "\t": cleaned += "\\t"
      case _ where scalar.properties.generalCategory == .control:
        cleaned += "\\u{\(String(scalar.value, radix: 16))}"
      default: cleaned.unicodeScalars.append(scalar)
      }
    }
    return cleaned
  }

  /// Shows rows; the first ones with the headings above them.
  mutating func show(_ rows: [[String]]) {
    if widths.isEmpty {
      measure(rows)
      line(headings.map(\.text))
      Output.line(widths.map { String(repeating: "-", count: $0) }.joined(separator: Self.gap))
    }
    for row in rows { line(row) }
  }

  private mutating func measure(_ rows: [[String]]) {
    widths = headings.map(\.text.count)
    for row in rows {
      for (index, cell) in row.enumerated() { widths[index] = max(widths[index], cell.count) }
    }
    guard let width else { return }
    // The widest column gives way until all fit.
    while widths.reduce(0, +) + Self.gap.count * (widths.count - 1) > width,
      let widest = widths.indices.max(by: { widths[$0] < widths[$1] }),
      widths[widest] > Self.leastWidth
    {
      widths[widest] -= 1
    }
  }

  private func line(_ cells: [String]) {
    var line = ""
    for (index, cell) in cells.enumerated() {
      let width = widths[index]
      let isCut = self.width != nil && cell.count > width
      let text = isCut ? cell.prefix(width - 1) + "…" : cell[...]
      let padding = String(repeating: " ", count: max(0, width - text.count))
      line += index == 0 ? "" : Self.gap
      line += headings[index].isNumber ? padding + text : text + padding
    }
    while line.last == " " { line.removeLast() }
    Output.line(line)
  }
}
