import CambiumCore
import Foundation
import Synchronization

/// The latest changes of a database, step by step, for those who follow it.
///
/// From the first follower on, each commit is compared with the version before it in the background; of
/// several that come meanwhile the last one.
///
/// Thread-safe.
final class ChangeLog: Sendable {
  /// So many steps, and so many keys in all of them together, are kept.
  static let (largestStepCount, largestKeyCount) = (1024, 1 << 18)

  private struct Step {
    let position: DatabasePosition
    let classes: [String: TouchedObjects]
    let keyCount: Int
  }

  private struct State {
    /// What the first step is compared with.
    var start: DatabasePosition
    var steps: [Step] = []
    var keyCount = 0
    /// The last version that was compared; nil at the end.
    var newest: FrozenView?
    /// Whoever waits for the next step, by number.
    var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var lastNumber: UInt64 = 0
    var failure: RLMError?
  }

  private let coordinator: Coordinator
  private let layout: SchemaLayout
  private let state: Mutex<State>
  private let watch = Mutex<CommitWatch?>(nil)
  private let job = BackgroundJob(BackgroundLane())
  /// Held while versions are compared, which keeps them.
  private let comparing = Mutex<Void>(())

  /// Follows a database from `snapshot` on.
  ///
  /// Fails when the classes of `layout` do not fit it.
  init?(_ snapshot: Snapshot, _ layout: SchemaLayout, _ coordinator: Coordinator) {
    guard let realm = RealmInstance.frozen(snapshot, layout, coordinator) else { return nil }
    self.coordinator = coordinator
    self.layout = layout
    state = Mutex(State(start: DatabasePosition(snapshot), newest: FrozenView(realm)))
    // From now on transactions note what they touch.
    coordinator.notifier.countObservers(1)
    let watch = coordinator.database.watchCommits { [weak self] _ in self?.scheduleComparison() }
    self.watch.withLock { $0 = watch }
    scheduleComparison()
  }

  /// Lets go of the database; whoever waits is told that nothing follows.
  ///
  /// When this returns no version is kept any more.
  func end() {
    finish()
    comparing.withLock { _ in }
  }

  private func finish() {
    watch.withLock { $0.take() }?.end()
    job.cancel()
    let (last, waiting) = state.withLock { state in
      defer { state.waiting = [:] }
      return (state.newest.take(), state.waiting)
    }
    if last != nil { coordinator.notifier.countObservers(-1) }
    for continuation in waiting.values { continuation.resume() }
  }

  // MARK: Comparing

  private func scheduleComparison() {
    job.schedule { [weak self] _ in
      if let self { comparing.withLock { _ in self.compare() } }
      return nil
    }
  }

  private func compare() {
    guard let old = state.withLock({ $0.newest }) else { return }
    let snapshot: Snapshot
    do throws(StoreError) { snapshot = try coordinator.database.snapshot() } catch {
      return fail(RLMError(error, path: coordinator.configuration.path))
    }
    if snapshot.version <= old.version { return }
    guard let realm = RealmInstance.frozen(snapshot, layout, coordinator) else {
      return fail(
        RLMError(
          .schemaMismatch,
          "The database at '\(coordinator.configuration.path)' was given another schema by somebody "
            + "else, with which its changes cannot be followed. Open it anew.",
          path: coordinator.configuration.path))
    }
    let new = FrozenView(realm)
    let classes = touched(from: old, to: new)
    let step = Step(
      position: DatabasePosition(snapshot), classes: classes,
      keyCount: classes.values.reduce(1) {
        $0 + $1.inserted.count + $1.modified.count + $1.deleted.count
      })
    let waiting = state.withLock { state in
      if state.newest == nil { return [CheckedContinuation<Void, Never>]() }
      state.newest = new
      state.steps.append(step)
      state.keyCount += step.keyCount
      while state.steps.count > Self.largestStepCount || state.keyCount > Self.largestKeyCount,
        state.steps.count > 1
      {
        let oldest = state.steps.removeFirst()
        state.keyCount -= oldest.keyCount
        state.start = oldest.position
      }
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    for continuation in waiting { continuation.resume() }
  }

  private func fail(_ error: RLMError) {
    state.withLock { $0.failure = error }
    finish()
  }

  private func touched(from old: FrozenView, to new: FrozenView) -> [String: TouchedObjects] {
    let comparison = VersionComparison(old.realm, new.realm)
    var classes: [String: TouchedObjects] = [:]
    for access in new.realm.declaredClasses {
      let rows = comparison.rows(of: access.stored)
      if rows.isEmpty { continue }
      let before = old.realm.access(named: access.stored.name)
      let touched = TouchedObjects(
        rows, deleted: before?.objectKeys(of: rows.deleted) ?? [], in: access)
      if !touched.isEmpty { classes[access.stored.name] = touched }
    }
    return classes
  }

  // MARK: Following

  /// What is known of what follows a position.
  enum Answer {
    case step(DatabaseChange)
    /// Nothing has happened yet.
    case nothing
    case end
  }

  /// The step behind `position`; a snapshot where that is not known or nil.
  func answer(after position: DatabasePosition?) throws -> Answer {
    let answer = try knownAnswer(after: position)
    if let position, case .step(.snapshot) = answer, let change = recorded(after: position) {
      return .step(change)
    }
    return answer
  }

  /// What happened after a position of before the log began, or of another process, as far as the commits
  /// have kept it; nil when that is not known of all of them.
  private func recorded(after position: DatabasePosition) -> DatabaseChange? {
    guard let view = state.withLock({ $0.newest }), position.version < view.version,
      let commits = try? coordinator.database.metadata(
        from: position.version, through: view.realm.currentSnapshot),
      // A version that was lost was made again in a later epoch.
      let first = commits.first, first.epoch <= position.epoch
    else { return nil }
    var all = TouchRecord()
    for commit in commits.dropFirst() {
      guard let record = TouchRecord(commit.bytes) else { return nil }
      all.append(record)
    }
    var classes: [String: TouchedObjects] = [:]
    for access in view.realm.declaredClasses {
      guard let rows = all.touches.tables[access.stored.tableID] else { continue }
      if rows.isMany { return nil }
      let isKeyed = access.stored.primaryKeyIndex != nil
      let deleted =
        isKeyed
        ? all.deleted[access.stored.tableID] ?? [] : Set(rows.deleted.map { .number($0) })
      let touched = TouchedObjects(rows, deleted: deleted, in: access)
      if !touched.isEmpty { classes[access.stored.name] = touched }
    }
    return .changes(DatabasePosition(view.realm.currentSnapshot), classes)
  }

  private func knownAnswer(after position: DatabasePosition?) throws -> Answer {
    try state.withLock { state in
      if let failure = state.failure { throw failure }
      guard state.newest != nil else { return .end }
      let newest = state.steps.last?.position ?? state.start
      if position == newest { return .nothing }
      if position == state.start, let first = state.steps.first {
        return .step(.changes(first.position, first.classes))
      }
      if let position, let place = state.steps.firstIndex(where: { $0.position == position }) {
        let next = state.steps[place + 1]
        return .step(.changes(next.position, next.classes))
      }
      return .step(.snapshot(newest))
    }
  }

  /// Waits until something follows `position`, the log ends, or the task is cancelled.
  func wait(after position: DatabasePosition) async {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let mustWait = state.withLock { state in
          let newest = state.steps.last?.position ?? state.start
          guard state.newest != nil, newest == position, !Task.isCancelled else { return false }
          state.waiting[number] = continuation
          return true
        }
        if !mustWait { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
    }
  }
}

/// The changes of a database, for `for try await`; see ``RealmDatabase/changes(since:)``.
public struct DatabaseChanges: AsyncSequence, Sendable {
  /// What is told.
  public typealias Element = DatabaseChange
  /// Ends by throwing when the database cannot be followed any more.
  public typealias Failure = any Error

  let log: ChangeLog
  let position: DatabasePosition?

  /// Begins behind the position.
  public func makeAsyncIterator() -> Iterator { Iterator(log: log, position: position) }

  /// Gives one step after another.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let log: ChangeLog
    fileprivate var position: DatabasePosition?

    /// Waits for the next step; nil when the database was closed, and in a cancelled task.
    ///
    /// - Throws: `Realm.Error` when the store fails, or the schema was changed by somebody else.
    public mutating func next() async throws -> DatabaseChange? {
      while !Task.isCancelled {
        switch try log.answer(after: position) {
        case .step(let change):
          position = change.position
          return change
        case .end: return nil
        case .nothing: if let position { await log.wait(after: position) }
        }
      }
      return nil
    }
  }
}
