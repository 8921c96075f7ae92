import CPlatform

/// Tells how much time passes.
///
/// Every part that waits for a time, or measures one, is given a clock: the system's, or one that a test
/// or a simulation sets.
package struct MonotonicClock: Sendable {
  /// The system's clock, which nobody sets.
  package static let system = MonotonicClock(source: nil)

  private let source: (@Sendable () -> Int64)?

  private init(source: (@Sendable () -> Int64)?) { self.source = source }

  /// A clock whose time is `source`, in nanoseconds.
  package init(_ source: @escaping @Sendable () -> Int64) { self.source = source }

  /// Nanoseconds since some moment.
  package var now: Int64 { source?() ?? cambium_monotonic_nanoseconds() }
}
