import BenchPicture

/// A picture of how Cambium stands against every aim: a bar per ratio, on a logarithmic scale.
///
/// The line in the middle is the reference itself; bars to the right are better. A short upright
/// mark shows the aim.
struct RatioChart {
  private struct Bar {
    var label: String
    var verdict: Verdict
  }

  private let bars: [Bar]
  private let title: String

  private static let rowHeight = 22.0
  private static let top = 58.0
  private static let labelWidth = 350.0
  private static let plotWidth = 430.0
  private static let textWidth = 250.0

  /// Makes the chart of all lines that have aims.
  init(_ results: Results, title: String) {
    self.title = title
    bars = results.lines.flatMap { line in
      line.verdicts.map {
        Bar(
          label: "\(line.measure.workload)  \(line.measure.variant)", verdict: $0)
      }
    }
  }

  /// The picture as an SVG file.
  var svg: String {
    let scale = RatioScale(
      bars.flatMap { [$0.verdict.factor, $0.verdict.neededFactor] },
      start: Self.labelWidth, length: Self.plotWidth)
    let height = Self.top + Double(bars.count) * Self.rowHeight + 46
    var picture = Picture(
      width: Self.labelWidth + Self.plotWidth + Self.textWidth, height: height)
    picture.write(title, at: 16, 26, size: 15, weight: 600)
    picture.write(
      "Times as good as the reference; the upright mark is the aim", at: 16, 44, ink: .faint)
    scale.draw(into: &picture, from: Self.top, to: height - 40)
    for (index, bar) in bars.enumerated() {
      let y = Self.top + Double(index) * Self.rowHeight
      let ends = [scale.place(of: 1), scale.place(of: bar.verdict.factor)].sorted()
      picture.write(bar.label, at: Self.labelWidth - 10, y + 15, anchor: .end)
      picture.fill(
        x: ends[0], y: y + 4, width: ends[1] - ends[0], height: 14,
        ink: bar.verdict.isReached ? .good : .poor)
      picture.drawLine(
        at: scale.place(of: bar.verdict.neededFactor), from: y + 1, to: y + 21, thickness: 2,
        ink: .text)
      picture.write(
        "\(bar.verdict.text)  (\(bar.verdict.aimText))",
        at: Self.labelWidth + Self.plotWidth + 14, y + 15)
    }
    return picture.svg
  }
}
