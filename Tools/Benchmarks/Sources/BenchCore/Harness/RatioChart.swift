import Foundation

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
    let factors = bars.flatMap { [$0.verdict.factor, $0.verdict.neededFactor] }
    let low = min(-0.5, floor(log10(max(factors.min() ?? 1, 1e-3)) * 2) / 2)
    let high = max(1, ceil(log10(min(factors.max() ?? 10, 1e6)) * 2) / 2)
    func x(_ factor: Double) -> Double {
      let place = (log10(max(factor, 1e-9)) - low) / (high - low)
      return Self.labelWidth + min(max(place, 0), 1) * Self.plotWidth
    }
    let height = Self.top + Double(bars.count) * Self.rowHeight + 46
    let width = Self.labelWidth + Self.plotWidth + Self.textWidth
    let bottom = height - 40
    var parts = [
      """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(whole(width)) \(whole(height))" \
      width="\(whole(width))" height="\(whole(height))" \
      font-family="system-ui, sans-serif" font-size="12">
      <rect width="100%" height="100%" fill="#ffffff"/>
      """,
      text(16, 26, title, size: 15, weight: 600),
      text(
        16, 44, "Times as good as the reference; the upright mark is the aim", color: "#5b6470"),
    ]
    for exponent in stride(from: low.rounded(.up), through: high, by: 1) {
      let factor = pow(10, exponent)
      let place = x(factor)
      let color = exponent == 0 ? "#5b6470" : "#e3e6ea"
      parts.append(
        "<line x1=\"\(whole(place))\" y1=\"\(whole(Self.top))\" x2=\"\(whole(place))\""
          + " y2=\"\(whole(bottom))\" stroke=\"\(color)\"/>")
      parts.append(
        text(place, bottom + 16, "\(Results.Line.format(factor)) ×", anchor: "middle"))
    }
    for (index, bar) in bars.enumerated() {
      let y = Self.top + Double(index) * Self.rowHeight
      let (from, to) = (min(x(1), x(bar.verdict.factor)), max(x(1), x(bar.verdict.factor)))
      let color = bar.verdict.isReached ? "#2f8f6b" : "#d08a2e"
      let aim = x(bar.verdict.neededFactor)
      parts.append(text(Self.labelWidth - 10, y + 15, bar.label, anchor: "end"))
      parts.append(
        "<rect x=\"\(whole(from))\" y=\"\(whole(y + 4))\" width=\"\(whole(max(1, to - from)))\""
          + " height=\"14\" rx=\"2\" fill=\"\(color)\"/>")
      parts.append(
        "<line x1=\"\(whole(aim))\" y1=\"\(whole(y + 1))\" x2=\"\(whole(aim))\""
          + " y2=\"\(whole(y + 21))\" stroke=\"#1d2733\" stroke-width=\"2\"/>")
      parts.append(
        text(
          Self.labelWidth + Self.plotWidth + 14, y + 15,
          "\(bar.verdict.text)  (\(bar.verdict.aimText))"))
    }
    return (parts + ["</svg>", ""]).joined(separator: "\n")
  }

  private func whole(_ value: Double) -> String { String(format: "%.1f", value) }

  private func text(
    _ x: Double, _ y: Double, _ content: String, size: Int = 12, weight: Int = 400,
    anchor: String = "start", color: String = "#1d2733"
  ) -> String {
    let escaped = content.replacingOccurrences(of: "&", with: "&amp;")
      .replacingOccurrences(of: "<", with: "&lt;")
    return "<text x=\"\(whole(x))\" y=\"\(whole(y))\" font-size=\"\(size)\""
      + " font-weight=\"\(weight)\" text-anchor=\"\(anchor)\" fill=\"\(color)\">\(escaped)</text>"
  }
}
