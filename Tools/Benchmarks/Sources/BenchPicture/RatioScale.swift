import Foundation

/// A logarithmic axis of ratios, on which 1 is where both are alike.
package struct RatioScale {
  private let low: Double
  private let high: Double
  private let start: Double
  private let length: Double

  /// An axis from `start`, `length` pixels long, on which all of `factors` have a place.
  package init(_ factors: [Double], start: Double, length: Double) {
    low = min(-0.5, floor(log10(max(factors.min() ?? 1, 1e-3)) * 2) / 2)
    high = max(1, ceil(log10(min(factors.max() ?? 10, 1e6)) * 2) / 2)
    (self.start, self.length) = (start, length)
  }

  /// Where a ratio is; what is beyond the axis is at its end.
  package func place(of factor: Double) -> Double {
    let place = (log10(max(factor, 1e-9)) - low) / (high - low)
    return start + min(max(place, 0), 1) * length
  }

  /// Draws a line and a number for each power of ten.
  package func draw(into picture: inout Picture, from top: Double, to bottom: Double) {
    for exponent in stride(from: low.rounded(.up), through: high, by: 1) {
      let factor = pow(10, exponent)
      let place = place(of: factor)
      picture.drawLine(at: place, from: top, to: bottom, ink: exponent == 0 ? .faint : .grid)
      picture.write(
        "\(String(format: "%g", factor)) ×", at: place, bottom + 16, anchor: .middle, ink: .faint)
    }
  }
}
