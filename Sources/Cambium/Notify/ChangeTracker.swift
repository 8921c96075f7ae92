import CambiumCore
import Synchronization

/// A Realm's version that nothing changes, and that any thread may read.
///
/// Unchecked: a frozen instance does not change once it is made.
struct FrozenView: @unchecked Sendable {
  let realm: RealmInstance

  init(_ realm: RealmInstance) {
    precondition(realm.isFrozen, "Only a frozen Realm can be read anywhere.")
    self.realm = realm
  }

  var version: Version { realm.version }
}

/// What one observer looks at, and the version of it that it was told last.
///
/// Thread-safe: changes are found on any thread, and accepted in the observer's context.
final class ChangeTracker: Sendable {
  /// What is observed.
  enum Subject: Sendable {
    case collection(ResultsCore.Identity)
    /// A map, by its keys.
    case entries(ResultsCore.Identity)
    case object(RowIdentity)
  }

  /// A version of the subject.
  struct State: Sendable {
    let view: FrozenView
    /// The elements, where the comparison needs them; empty otherwise.
    var keys = KeySequence()
    /// Whether the subject was deleted, and there is nothing left to tell.
    var isOver = false
  }

  /// What an observer is told.
  enum News: Sendable {
    case initial
    case changes(ChangeSet)
    case entries(EntryChanges)
    /// The properties that were assigned, in the order of their declaration, and the version before.
    case properties([Int], before: FrozenView)
    case deleted
    /// Something that is not to be told: the observer counts as knowing the version that is seen.
    case skipped
  }

  /// What happened since the observer was told last.
  struct Outcome: Sendable {
    /// The version that the observer knows; nil if it was never told anything.
    fileprivate let from: Version?
    fileprivate let state: State
    /// Nil when nothing happened that counts.
    let news: News?

    /// The version until which it tells.
    var version: Version { state.view.version }
  }

  let subject: Subject
  let watched: WatchedPaths
  /// The classes with which the observer's Realm was opened.
  let layout: SchemaLayout
  private let state: Mutex<State?>
  private let hasEnded = Atomic(false)

  /// Tracks `subject` from `view` on; nil for an observer that is to be told the elements first.
  init(
    _ subject: Subject, _ watched: WatchedPaths, _ layout: SchemaLayout, from view: FrozenView?
  ) {
    self.subject = subject
    self.watched = watched
    self.layout = layout
    state = Mutex(view.map { State(view: $0) })
  }

  /// Lets go of the version that it keeps; nothing is found any more.
  func end() {
    hasEnded.store(true, ordering: .sequentiallyConsistent)
    // The version ends when the lock is free again.
    let last = state.withLock { $0.take() }
    withExtendedLifetime(last) {}
  }

  /// The version that the observer was told last; nil before the first time.
  var version: Version? { state.withLock { $0?.view.version } }

  /// Whether its subject was deleted, and that was told.
  var isOver: Bool { state.withLock { $0?.isOver ?? false } }

  /// Whether there may be something to tell in `version`.
  func isBehind(_ version: Version) -> Bool {
    state.withLock { state in state.map { !$0.isOver && $0.view.version < version } ?? true }
  }

  /// Finds what happened until `view`; nil when the observer knows it already.
  func outcome(in view: FrozenView, _ comparisons: ComparisonCache) -> Outcome? {
    if hasEnded.load(ordering: .acquiring) { return nil }
    let known = state.withLock { $0 }
    if let known, known.isOver || known.view.version >= view.version { return nil }
    switch subject {
    case .collection(let identity):
      let question = ComparisonCache.Question(identity, watched, from: known?.view, to: view)
      return comparisons.outcome(of: question) {
        CollectionComparison(identity, watched, view, comparisons).outcome(from: known)
      }
    case .entries(let identity):
      return CollectionComparison(identity, watched, view, comparisons).entryOutcome(from: known)
    case .object(let identity):
      guard let known else { return nil }
      return objectOutcome(identity, from: known, view, comparisons)
    }
  }

  /// Takes an outcome over, so that it is told once; false when the observer was told something else since.
  func accept(_ outcome: Outcome) -> Bool {
    state.withLock { state in
      guard !hasEnded.load(ordering: .sequentiallyConsistent),
        state?.view.version == outcome.from
      else { return false }
      state = outcome.state
      return true
    }
  }

  private func objectOutcome(
    _ identity: RowIdentity, from known: State, _ view: FrozenView, _ comparisons: ComparisonCache
  ) -> Outcome {
    func outcome(_ news: News?, isOver: Bool = false) -> Outcome {
      Outcome(
        from: known.view.version, state: State(view: view, isOver: isOver), news: news)
    }
    guard let access = view.realm.anyAccess(named: identity.className),
      access.creation(of: identity.key) == identity.created
    else { return outcome(.deleted, isOver: true) }
    let comparison = comparisons.comparison(known.view, view)
    let modified = ModifiedObjects(comparison: comparison)
    let key = identity.key
    var properties: Set<Int> = []
    switch watched {
    case .everything:
      let rows = comparison.rows(of: access.stored)
      for (column, keys) in rows.assignedKeys where keys.set.contains(key) {
        if let index = access.stored.columns.firstIndex(of: column) { properties.insert(index) }
      }
    case .paths(let paths, _):
      for path in paths where modified.keys(of: path).contains(key) {
        properties.insert(path.index)
      }
    }
    return outcome(
      properties.isEmpty ? nil : .properties(properties.sorted(), before: known.view))
  }
}

extension ChangeTracker.Outcome {
  init(from: ChangeTracker.State?, to state: ChangeTracker.State, _ news: ChangeTracker.News?) {
    self.init(from: from?.view.version, state: state, news: news)
  }

}
