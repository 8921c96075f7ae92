/// How the cost of the same work grows with the number of rows: a small picture for each measure, all on one scale.
struct GrowthPicture {
  private struct Series {
    var engine: String
    /// Seconds for one record or operation, by the number of rows.
    var costs: [(rows: Int, seconds: Double)]

    /// What it costs, as multiples of what it costs with the fewest rows.
    var growth: [(rows: Int, factor: Double)] {
      costs.map { ($0.rows, $0.seconds / costs[0].seconds) }
    }
  }

  private struct Panel {
    var title: String
    var what: String
    var series: [Series]
  }

  private let panels: [Panel]
  private let counts: [Int]

  private static let left = 16.0
  private static let width = 896.0
  private static let columns = 4
  private static let panelWidth = 216.0
  private static let panelHeight = 178.0
  private static let plotStart = 36.0
  private static let plotLength = 158.0
  private static let plotTop = 42.0
  private static let plotHeight = 88.0
  private static let top = 100.0
  /// How many characters a line of a title has room for.
  private static let titleLength = 28

  init(_ figures: [Recorded.Figure]) {
    var titles: [(workload: String, variant: String)] = []
    for figure in figures
    where figure.seconds != nil && figure.engine == "cambium" && !figure.variant.contains("p99")
      && !titles.contains(where: { $0 == (figure.workload, figure.variant) })
    {
      titles.append((figure.workload, figure.variant))
    }
    panels = titles.map { workload, variant in
      let own = figures.filter { $0.workload == workload && $0.variant == variant }
      let series = ["floor", "lmdb", "cambium"].compactMap { engine -> Series? in
        let costs = own.filter { $0.engine == engine }.compactMap { figure in
          figure.seconds.map { (rows: figure.rows, seconds: $0) }
        }.filter { $0.seconds > 0 }.sorted { $0.rows < $1.rows }
        return costs.count > 1 ? Series(engine: engine, costs: costs) : nil
      }
      let isPerRow = own.contains { $0.isPerRun == true }
      return Panel(
        title: "\(workload) \(variant)", what: isPerRow ? "a record" : "each", series: series)
    }.filter { $0.series.contains { $0.engine == "cambium" } }
    counts = Set(panels.flatMap { $0.series.flatMap { $0.costs.map(\.rows) } }).sorted()
  }

  var picture: Picture {
    let lines = (panels.count + Self.columns - 1) / Self.columns
    let bottom = Self.top + Double(lines) * Self.panelHeight
    let title = "How the cost of the engine's work grows with the number of records"
    var picture = Picture(
      width: Self.width, height: bottom + 50, title: title,
      description: panels.compactMap { panel in
        guard let own = panel.series.last, let last = own.growth.last else { return nil }
        return "\(panel.title): \(Words.times(last.factor))"
      }.joined(separator: "; "))
    picture.write(title, at: Self.left, 30, size: 18, isBold: true)
    let ends = [counts.first, counts.last].compactMap { $0.map(Words.rows) }
    picture.write(
      "What one record or operation costs with \(ends.joined(separator: " to ")) records, as multiples of what it costs "
        + "with the fewest", at: Self.left, 52, ink: .faint)
    var x = Self.left
    for (engine, name, room) in [
      ("cambium", "Cambium", 84.0), ("lmdb", "LMDB", 66.0), ("floor", "the bare machine", 0),
    ] {
      let style = Self.style(engine)
      picture.draw(
        [(x, 76), (x + 28, 76)], thickness: style.thickness, dashes: style.dashes, ink: style.ink)
      picture.mark(style.shape, at: x + 14, 76, radius: 4, ink: style.ink)
      picture.write(name, at: x + 35, 80)
      x += 35 + room
    }
    for (index, panel) in panels.enumerated() {
      draw(
        panel, at: Self.left + Double(index % Self.columns) * Self.panelWidth,
        Self.top + Double(index / Self.columns) * Self.panelHeight, &picture)
    }
    for (index, line) in [
      "Logarithmic scales. Below each of them: what Cambium takes with the fewest and with the most records.",
      "Measured by make bench-growth, drawn from results/growth.json by make pictures",
    ].enumerated() {
      picture.write(line, at: Self.left, bottom + 18 + Double(index) * 16, size: 11, ink: .faint)
    }
    return picture
  }

  private static func style(
    _ engine: String
  ) -> (ink: Ink, shape: Picture.Shape, dashes: String?, thickness: Double) {
    switch engine {
    case "cambium": (.subject, .circle, nil, 2.5)
    case "lmdb": (.lmdb, .square, "6 3", 1.5)
    default: (.faint, .diamond, "2 3", 1.5)
    }
  }

  private func draw(_ panel: Panel, at x: Double, _ y: Double, _ picture: inout Picture) {
    let factors = panels.flatMap { $0.series.flatMap { $0.growth.map(\.factor) } }
    let up = LogScale(
      factors, base: 2, start: y + Self.plotTop + Self.plotHeight, length: -Self.plotHeight)
    let (first, last) = (Double(counts.first ?? 1), Double(counts.last ?? 1))
    let across = LogScale(
      [1, last / first], start: x + Self.plotStart, length: Self.plotLength)
    picture.write(
      panel.title.replacing(", sync inside", with: ""), wrappedTo: Self.titleLength,
      at: x + Self.plotStart, lastAt: y + Self.plotTop - 10, size: 11, isBold: true)
    for power in up.powers {
      let line = up.place(of: power)
      picture.draw(
        [(x + Self.plotStart, line), (x + Self.plotStart + Self.plotLength, line)],
        ink: power == 1 ? .faint : .grid)
      picture.write(
        Words.power(power), at: x + Self.plotStart - 5, line + 3.5, size: 10, anchor: .end,
        ink: .faint)
    }
    let bottom = y + Self.plotTop + Self.plotHeight
    for count in counts {
      let place = across.place(of: Double(count) / first)
      let anchor: Picture.Anchor =
        count == counts.first ? .start : count == counts.last ? .end : .middle
      picture.write(
        Words.shortRows(count), at: place, bottom + 14, size: 10, anchor: anchor, ink: .faint)
    }
    for series in panel.series {
      let style = Self.style(series.engine)
      let points = series.growth.map {
        (x: across.place(of: Double($0.rows) / first), y: up.place(of: $0.factor))
      }
      picture.draw(points, thickness: style.thickness, dashes: style.dashes, ink: style.ink)
      for point in points {
        picture.mark(style.shape, at: point.x, point.y, radius: 3, ink: style.ink)
      }
    }
    if let own = panel.series.last, let start = own.costs.first, let end = own.costs.last {
      picture.write(
        "\(Words.duration(start.seconds)) → \(Words.duration(end.seconds)) \(panel.what)",
        at: x + Self.plotStart, bottom + 29, size: 11, ink: .subject)
    }
  }
}
