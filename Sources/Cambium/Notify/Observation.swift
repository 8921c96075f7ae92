import Synchronization

/// A registered observer: what it looks at, and the block it is told by.
///
/// Unchecked: the block is called and let go in the observer's context; whether the observer is active
/// may be asked and changed anywhere.
final class Observation: @unchecked Sendable {
  /// What the observer looks at.
  enum Kind {
    /// A Realm as a whole.
    case realm((Realm.Notification, RealmInstance) -> Void)
    /// The same, and whether it was invalidated: the loop that waits for it looks what has happened.
    case loop(() -> Void)
    /// A collection or an object.
    case subject(ChangeTracker, (ChangeTracker.News) -> Void)
  }

  private(set) var kind: Kind?
  /// What finds changes; nil for observers of a Realm.
  let tracker: ChangeTracker?
  private let isOver = Atomic(false)

  init(_ kind: Kind) {
    self.kind = kind
    tracker = if case .subject(let tracker, _) = kind { tracker } else { nil }
  }

  /// Whether it may be ended in its context only.
  var checksContext: Bool { tracker == nil }

  var isActive: Bool { !isOver.load(ordering: .acquiring) }

  /// Ends it; false when it had ended.
  func end() -> Bool { !isOver.exchange(true, ordering: .acquiringAndReleasing) }

  /// Lets the block go; called in the context.
  func drop() { kind = nil }
}
