/// Rows in aligned columns, as wide as the first rows need; on a terminal no wider than that.
struct TextTable {
  struct Column {
    var heading: String
    /// Whether its values stand to the right.
    var isNumber = false
  }

  private let columns: [Column]
  private let indent: String
  private let isRuled: Bool
  /// How wide a line may be; nil for as wide as it gets.
  private let width: Int?
  private var widths: [Int] = []
  private static let gap = "  "
  /// No column is made narrower than this; what does not fit then is cut off at the right.
  private static let leastWidth = 8

  /// A table with a line below its headings, if it is ruled.
  init(_ columns: [Column], width: Int?, indent: String = "", isRuled: Bool = true) {
    self.columns = columns
    self.width = width
    self.indent = indent
    self.isRuled = isRuled
  }

  /// Shows rows; the first ones with the headings above them.
  mutating func show(_ rows: [[String]]) {
    for line in lines(rows) { Output.line(line.text, line.style) }
  }

  /// The lines that ``show(_:)`` shows.
  mutating func lines(_ rows: [[String]]) -> [(text: String, style: Style)] {
    var lines: [(text: String, style: Style)] = []
    if widths.isEmpty {
      measure(rows)
      lines.append((line(columns.map(\.heading)), .heading))
      if isRuled { lines.append((line(widths.map { String(repeating: "-", count: $0) }), .plain)) }
    }
    return lines + rows.map { (line($0), .plain) }
  }

  private mutating func measure(_ rows: [[String]]) {
    widths = columns.map { CellText.width($0.heading) }
    for row in rows {
      for (index, cell) in row.enumerated() {
        widths[index] = max(widths[index], CellText.width(cell))
      }
    }
    guard let width else { return }
    // The widest column gives way until all fit.
    var excess = indent.count + widths.reduce(0, +) + Self.gap.count * (widths.count - 1) - width
    while excess > 0, let widest = widths.indices.max(by: { widths[$0] < widths[$1] }),
      widths[widest] > Self.leastWidth
    {
      widths[widest] -= 1
      excess -= 1
    }
  }

  private func line(_ cells: [String]) -> String {
    var line = indent
    for (index, cell) in cells.enumerated() {
      let text = width == nil ? cell : CellText.cut(cell, to: widths[index])
      let padding = String(repeating: " ", count: max(0, widths[index] - CellText.width(text)))
      line += index == 0 ? "" : Self.gap
      line += columns[index].isNumber ? padding + text : text + padding
    }
    while line.last == " " { line.removeLast() }
    return width.map { CellText.cut(line, to: $0) } ?? line
  }
}
