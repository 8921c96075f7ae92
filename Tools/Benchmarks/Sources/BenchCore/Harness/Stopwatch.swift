/// Measures elapsed time on the monotonic clock.
struct Stopwatch {
  private let start = ContinuousClock.now

  /// Since the stopwatch was made.
  var seconds: Double {
    let parts = (ContinuousClock.now - start).components
    return Double(parts.seconds) + Double(parts.attoseconds) * 1e-18
  }
}

extension Sequence<Double> {
  /// The value at `fraction` of the sorted values, 0.5 being the median; 0 for no values.
  func quantile(_ fraction: Double) -> Double {
    let sorted = self.sorted()
    guard !sorted.isEmpty else { return 0 }
    let place = fraction * Double(sorted.count - 1)
    let lower = Int(place)
    let upper = Swift.min(lower + 1, sorted.count - 1)
    return sorted[lower] + (sorted[upper] - sorted[lower]) * (place - Double(lower))
  }
}
