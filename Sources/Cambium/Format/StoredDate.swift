import Foundation

/// The stored form of a `Date` in a wide column: whole seconds since 1970, rounded down, as a signed
/// integer in the high word, nanoseconds of that second in the low word.
///
/// All zero is the first moment of 1970. The order of dates is that of the pairs (signed high, low).
package struct StoredDate: Hashable, Comparable, Sendable {
  package var seconds: Int64
  package var nanoseconds: UInt32

  package init(seconds: Int64, nanoseconds: UInt32) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }

  /// The form of `date`; dates out of range are clamped, NaN becomes 1970.
  package init(_ date: Date) {
    // The reference date's seconds are split first: adding 1970 to them would cost precision.
    let interval = date.timeIntervalSinceReferenceDate
    guard !interval.isNaN else {
      self.init(seconds: 0, nanoseconds: 0)
      return
    }
    let whole = interval.rounded(.down)
    guard whole > -9.2e18 else {
      self.init(seconds: .min, nanoseconds: 0)
      return
    }
    guard whole < 9.2e18 else {
      self.init(seconds: .max, nanoseconds: 999_999_999)
      return
    }
    var seconds = Int64(whole) + Self.referenceSeconds
    var nanoseconds = Int64(((interval - whole) * 1e9).rounded())
    if nanoseconds >= 1_000_000_000 {
      nanoseconds -= 1_000_000_000
      seconds += 1
    }
    self.init(seconds: seconds, nanoseconds: UInt32(nanoseconds))
  }

  /// Reads the two words of a cell.
  @inline(__always) package init(low: UInt64, high: UInt64) {
    seconds = Int64(bitPattern: high)
    nanoseconds = UInt32(truncatingIfNeeded: low)
  }

  /// The two words of a cell.
  package var wide: (low: UInt64, high: UInt64) {
    (UInt64(nanoseconds), UInt64(bitPattern: seconds))
  }

  /// The date.
  package var date: Date {
    let (seconds, isOver) = seconds.subtractingReportingOverflow(Self.referenceSeconds)
    return Date(
      timeIntervalSinceReferenceDate: Double(isOver ? .min : seconds) + Double(nanoseconds) * 1e-9)
  }

  package static func < (left: StoredDate, right: StoredDate) -> Bool {
    (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
  }

  /// Seconds from 1970 to the reference date of Foundation, 2001.
  private static let referenceSeconds: Int64 = 978_307_200
}
