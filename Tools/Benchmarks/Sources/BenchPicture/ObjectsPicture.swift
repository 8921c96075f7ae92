/// How many times as fast as SQLite through GRDB objects are: a bar for each piece of work.
struct ObjectsPicture {
  private struct Bar {
    var name: String
    var ours: Double
    var theirs: Double
    var factor: Double { theirs / ours }
  }

  private let people: Int
  private let groups: [(title: String, ink: Ink, bars: [Bar])]

  private static let left = 16.0
  private static let labelEnd = 404.0
  private static let plotStart = 416.0
  private static let plotLength = 290.0
  private static let ours = 806.0
  private static let theirs = 880.0
  private static let width = 896.0
  private static let top = 92.0
  private static let rowHeight = 21.0
  private static let headingHeight = 30.0

  /// The same work over other rows, which is in the table alone.
  private static let variants = [
    "names with a long common prefix", "ten rows of each pair", "rows that are in order",
    "every third name missing", "create random names",
  ]

  init(_ works: [Recorded.Work]) {
    people = works.first?.people ?? 0
    func bars(writes: Bool) -> [Bar] {
      works.compactMap { work in
        guard work.writes ?? false == writes, let ours = work.cambium, let theirs = work.grdb,
          let ours = Recorded.seconds(ours, work.unit),
          let theirs = Recorded.seconds(theirs, work.unit),
          !Self.variants.contains(where: work.work.hasSuffix)
        else { return nil }
        let name = work.work.replacing(": random names", with: "")
        return Bar(name: name, ours: ours, theirs: theirs)
      }.sorted { $0.factor > $1.factor }
    }
    groups = [
      ("Asking", .subject, bars(writes: false)),
      ("Making and changing", .change, bars(writes: true)),
    ].filter { !$0.2.isEmpty }
  }

  var picture: Picture {
    let bars = groups.flatMap(\.bars)
    let bottom =
      Self.top + Double(groups.count) * Self.headingHeight + Double(bars.count) * Self.rowHeight
    let title = "Objects of Cambium beside records of SQLite"
    var picture = Picture(
      width: Self.width, height: bottom + 62, title: title,
      description: bars.map { "\($0.name): \(Words.times($0.factor))" }.joined(separator: "; "))
    picture.write(title, at: Self.left, 30, size: 18, isBold: true)
    picture.write(
      "How many times as fast as the same work through GRDB; a database of \(Words.rows(people)) people in a file, "
        + "every commit synced, medians", at: Self.left, 52, ink: .faint)
    let scale = LogScale(
      bars.map(\.factor), start: Self.plotStart, length: Self.plotLength)
    for power in scale.powers {
      let x = scale.place(of: power)
      picture.draw([(x, Self.top), (x, bottom)], ink: power == 1 ? .faint : .grid)
      for y in [Self.top - 8, bottom + 17] {
        picture.write(
          power == 1 ? "as fast" : Words.power(power), at: x, y, size: 11, anchor: .middle,
          ink: .faint)
      }
    }
    picture.write("Cambium", at: Self.ours, Self.top - 8, size: 11, anchor: .end, ink: .faint)
    picture.write("SQLite", at: Self.theirs, Self.top - 8, size: 11, anchor: .end, ink: .faint)
    var y = Self.top
    for (title, ink, bars) in groups {
      picture.write(
        title, at: Self.labelEnd, y + 20, isBold: true, anchor: .end, ink: ink)
      y += Self.headingHeight
      for bar in bars {
        draw(bar, ink, scale, at: y, &picture)
        y += Self.rowHeight
      }
    }
    picture.write(
      "Logarithmic scale. Measured by make bench-objects, drawn from results/objects.json by make pictures",
      at: Self.left, bottom + 46, size: 11, ink: .faint)
    return picture
  }

  private func draw(
    _ bar: Bar, _ ink: Ink, _ scale: LogScale, at y: Double, _ picture: inout Picture
  ) {
    let line = y + 14
    picture.write(bar.name, at: Self.labelEnd, line, anchor: .end)
    let ends = [scale.place(of: 1), scale.place(of: bar.factor)].sorted()
    picture.fill(x: ends[0], y: y + 3, width: ends[1] - ends[0], height: 14, ink: ink)
    picture.write(Words.times(bar.factor), at: ends[1] + 6, line, isBold: true)
    picture.write(Words.duration(bar.ours), at: Self.ours, line, anchor: .end)
    picture.write(Words.duration(bar.theirs), at: Self.theirs, line, anchor: .end, ink: .faint)
  }
}
