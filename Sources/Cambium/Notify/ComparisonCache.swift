import CambiumCore

/// The comparisons of one round, each made once for all observers, and what equal queries gave.
///
/// Used by one thread at a time.
final class ComparisonCache {
  /// A version with a set of classes: two views of it show the same.
  private struct Content: Hashable {
    let version: Version
    let classes: ObjectIdentifier

    init(_ view: FrozenView) {
      version = view.version
      classes = ObjectIdentifier(view.realm.classSet)
    }
  }

  private struct Pair: Hashable {
    let old: Content
    let new: Content
  }

  /// What an observer of a collection asks.
  struct Question: Hashable {
    private let identity: ResultsCore.Identity
    private let watched: WatchedPaths
    private let old: Content?
    private let new: Content

    init(
      _ identity: ResultsCore.Identity, _ watched: WatchedPaths, from old: FrozenView?,
      to new: FrozenView
    ) {
      self.identity = identity
      self.watched = watched
      self.old = old.map { Content($0) }
      self.new = Content(new)
    }
  }

  private var comparisons: [Pair: VersionComparison] = [:]
  private var outcomes: [Question: ChangeTracker.Outcome] = [:]

  func comparison(_ old: FrozenView, _ new: FrozenView) -> VersionComparison {
    let pair = Pair(old: Content(old), new: Content(new))
    if let comparison = comparisons[pair] { return comparison }
    let comparison = VersionComparison(old.realm, new.realm)
    comparisons[pair] = comparison
    return comparison
  }

  /// The answer to a question, which is found once.
  func outcome(
    of question: Question, _ find: () -> ChangeTracker.Outcome
  ) -> ChangeTracker.Outcome {
    if let outcome = outcomes[question] { return outcome }
    let outcome = find()
    outcomes[question] = outcome
    return outcome
  }
}
