extension Results {
  /// How each median grows with the number of rows; what Cambium is said to be holds for the most rows.
  func growthTable() -> String {
    var measures: [Measure] = []
    for line in lines where !measures.contains(line.measure) { measures.append(line.measure) }
    let counts = Array(Set(lines.map(\.rows))).sorted()
    var rows = [
      ["", "workload", "unit", "engine"] + counts.map { "\($0) rows" } + [
        "cost, last ÷ first", "cambium is",
      ]
    ]
    for measure in measures {
      let own = lines.filter { $0.measure == measure }
      for engine in Self.engines {
        let medians = counts.map { count in
          own.first { $0.rows == count }?.median(of: engine)
        }
        if medians.allSatisfy({ $0 == nil }) { continue }
        let verdicts = engine == Self.subject ? own.last?.verdicts ?? [] : []
        let isFirst = rows.last?[1] != measure.variant && engine == firstEngine(own)
        rows.append(
          [
            isFirst ? measure.workload : "", isFirst ? measure.variant : "", measure.unit, engine,
          ] + medians.map { $0.map(Line.format) ?? "–" } + [
            growth(medians, counts, measure),
            verdicts.map { "\($0.text) (\($0.aimText)) \($0.isReached ? "✓" : "✗")" }
              .joined(separator: ", "),
          ])
      }
    }
    return Self.grid(rows, textColumns: [0, 1, 2, 3, 5 + counts.count])
  }

  private func firstEngine(_ lines: [Line]) -> String? {
    Self.engines.first { engine in lines.contains { $0.median(of: engine) != nil } }
  }

  /// By what factor the cost of one operation grew from the fewest rows to the most.
  private func growth(_ medians: [Double?], _ counts: [Int], _ measure: Measure) -> String {
    guard let first = medians.first ?? nil, let last = medians.last ?? nil, first > 0, last > 0,
      counts.count > 1
    else { return "–" }
    if measure.isPerRun {
      return Line.format(last / first * Double(counts[0]) / Double(counts[counts.count - 1]))
    }
    return Line.format(measure.isRate ? first / last : last / first)
  }
}
