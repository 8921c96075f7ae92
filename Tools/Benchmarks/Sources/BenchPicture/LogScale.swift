import Foundation

/// A logarithmic axis.
package struct LogScale {
  private let low: Double
  private let high: Double
  private let start: Double
  private let length: Double
  private let base: Double

  /// An axis from `start` on, `length` pixels long (or short, where that is negative), on which all of `values` have a
  /// place, and 1 has one, too; it begins and ends at a half of a power of `base`.
  package init(_ values: [Double], base: Double = 10, start: Double, length: Double) {
    self.base = base
    let exponents = values.filter { $0 > 0 && $0.isFinite }.map { log($0) / log(base) } + [0]
    low = ((exponents.min() ?? 0) * 2).rounded(.down) / 2
    high = max(low + 1, ((exponents.max() ?? 0) * 2).rounded(.up) / 2)
    (self.start, self.length) = (start, length)
  }

  /// Where a value is.
  package func place(of value: Double) -> Double {
    let exponent = value > 0 ? log(value) / log(base) : low
    return start + min(max((exponent - low) / (high - low), 0), 1) * length
  }

  /// The powers of the base on the axis.
  package var powers: [Double] {
    stride(from: low.rounded(.up), through: high, by: 1).map { pow(base, $0) }
  }
}
