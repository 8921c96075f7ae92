extension Results {
  /// The medians as a table, with what they say about Cambium.
  func table() -> String {
    var rows = [["", "workload", "unit"] + Self.engines + ["cambium is", "aim", ""]]
    var last = ""
    for line in lines {
      let medians = Self.engines.map { engine in
        line.median(of: engine).map(Line.format) ?? "–"
      }
      let verdicts = line.verdicts
      let marks = verdicts.map { $0.isReached ? "✓" : "✗" }
      rows.append(
        [
          line.measure.workload == last ? "" : line.measure.workload, line.measure.variant,
          line.measure.unit,
        ] + medians + [
          verdicts.map(\.text).joined(separator: ", "),
          verdicts.map(\.aimText).joined(separator: ", "), marks.joined(),
        ])
      last = line.measure.workload
    }
    return Self.grid(rows, textColumns: [0, 1, 2, 8, 9, 10])
  }

  /// Rows as a table in Markdown; the first row is the head.
  static func grid(_ rows: [[String]], textColumns: Set<Int>) -> String {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.enumerated().map { index, row in
      let cells = row.indices.map { column in
        let padding = String(repeating: " ", count: widths[column] - row[column].count)
        return textColumns.contains(column) ? row[column] + padding : padding + row[column]
      }
      let text = "| " + cells.joined(separator: " | ") + " |"
      guard index == 0 else { return text }
      return text + "\n|"
        + widths.enumerated().map { column, width in
          let line = String(repeating: "-", count: width + 1)
          return (textColumns.contains(column) ? line + "-" : line + ":") + "|"
        }.joined()
    }.joined(separator: "\n")
  }
}
