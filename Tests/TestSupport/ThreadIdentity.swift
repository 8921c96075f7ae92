import Foundation

/// The thread that made it.
///
/// Unchecked: a thread's name, which never changes.
public struct ThreadIdentity: @unchecked Sendable {
  private let thread = pthread_self()

  /// The calling thread.
  public init() {}

  /// Whether it is calling.
  public var isCurrent: Bool { pthread_equal(pthread_self(), thread) != 0 }
}
