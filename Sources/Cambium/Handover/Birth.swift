import Synchronization

/// A write transaction as the maker of objects.
///
/// The transaction after a cancelled one has the same version, in this process or another, and may use
/// the same keys: what the cancelled one made would pass for what the next one makes. So everything
/// that names an object while the transaction that makes it runs refers to its birth as well.
final class Birth: Sendable {
  private let cancelled = Atomic<Bool>(false)

  /// Whether the transaction was cancelled: what it made never was.
  var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  /// Notes that the transaction was cancelled, or that its commit failed.
  func cancel() { cancelled.store(true, ordering: .relaxed) }
}

extension Birth: Hashable {
  static func == (left: Birth, right: Birth) -> Bool { left === right }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
