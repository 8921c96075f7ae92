import BenchPicture

/// A picture of how many times as fast as SQLite through GRDB each piece of work is.
struct CensusChart {
  let table: CensusTable

  private static let rowHeight = 22.0
  private static let top = 58.0
  private static let labelWidth = 430.0
  private static let plotWidth = 380.0
  private static let textWidth = 90.0

  /// The picture as an SVG file.
  var svg: String {
    let bars = table.lines.compactMap { line -> (name: String, factor: Double)? in
      guard let ours = line.medians[.thread], let theirs = line.medians[.sqlite] else { return nil }
      return (line.work.name, theirs / ours)
    }
    let scale = RatioScale(bars.map(\.factor), start: Self.labelWidth, length: Self.plotWidth)
    let height = Self.top + Double(bars.count) * Self.rowHeight + 46
    var picture = Picture(
      width: Self.labelWidth + Self.plotWidth + Self.textWidth, height: height)
    picture.write("Objects of Cambium beside records of GRDB", at: 16, 26, size: 15, weight: 600)
    picture.write(
      "\(table.people) people; times as fast as SQLite through GRDB, every commit synced", at: 16,
      44,
      ink: .faint)
    scale.draw(into: &picture, from: Self.top, to: height - 40)
    for (index, bar) in bars.enumerated() {
      let y = Self.top + Double(index) * Self.rowHeight
      let ends = [scale.place(of: 1), scale.place(of: bar.factor)].sorted()
      picture.write(bar.name, at: Self.labelWidth - 10, y + 15, anchor: .end)
      picture.fill(
        x: ends[0], y: y + 4, width: ends[1] - ends[0], height: 14,
        ink: bar.factor >= 1 ? .good : .poor)
      picture.write(
        CensusChart.text(bar.factor) + " ×", at: Self.labelWidth + Self.plotWidth + 14, y + 15)
    }
    return picture.svg
  }

  private static func text(_ factor: Double) -> String {
    factor >= 10 ? "\(Int(factor.rounded()))" : "\((factor * 10).rounded() / 10)"
  }
}
