import CambiumCore
import Synchronization

/// Brings the Realms of one database to new versions, and finds what their observers are to be told.
///
/// A commit marks the contexts that have not seen it. In the background their changes are found, and then
/// each context is woken once, however many commits there were meanwhile.
///
/// Thread-safe.
final class Notifier: Sendable {
  /// What the latest transactions have touched.
  let history = TouchHistory()
  /// How many observers there are that ask what was touched.
  private let observerCount = Atomic(0)
  private let state = Mutex(State())
  private let job: BackgroundJob

  /// What an observed context is woken with: a version, and what happened until then.
  private struct Round: Sendable {
    let snapshot: Snapshot
    let prepared: InstanceObservers.Prepared
  }

  /// An instance that may move by itself.
  private struct Resident: Sendable {
    let entry: InstanceTable.Entry
    let context: any RealmContext
    var trackers: [ObjectIdentifier: ChangeTracker] = [:]
  }

  private struct State {
    /// By the numbers of instances.
    var residents: [UInt64: Resident] = [:]
    /// The contexts whose observers have to be brought up to date.
    var behind: Set<ContextIdentity> = []
    /// What contexts will find when they run.
    var rounds: [ContextIdentity: Round] = [:]
    /// The contexts that were given a job which has not run yet.
    var woken: Set<ContextIdentity> = []
    /// The newest version that was made by a Realm of this process.
    var ownVersion: Version = 0
    var isClosed = false
  }

  init() { job = BackgroundJob(BackgroundLane()) }

  /// Whether transactions have to note what they touch.
  var isObserved: Bool { observerCount.load(ordering: .relaxed) > 0 }

  // MARK: Residents

  /// Brings `instance` up to date from now on, where its context can be woken.
  func add(_ instance: RealmInstance) {
    guard let context = instance.context else { return }
    let resident = Resident(entry: InstanceTable.Entry(instance), context: context)
    state.withLock { $0.residents[instance.number] = resident }
  }

  /// Forgets an instance, which is about to go.
  func remove(_ number: UInt64) {
    let (gone, round) = state.withLock { state -> (Resident?, Round?) in
      guard let gone = state.residents.removeValue(forKey: number) else { return (nil, nil) }
      let context = gone.context.identity
      let isLast = !state.residents.values.contains { $0.context.identity == context }
      guard isLast else { return (gone, nil) }
      // A job that was given to it may never run, and another context may get its identity.
      state.woken.remove(context)
      return (gone, state.rounds.removeValue(forKey: context))
    }
    withExtendedLifetime(round) {}
    if let gone { observerCount.subtract(gone.trackers.count, ordering: .relaxed) }
  }

  /// Counts observers that look for themselves.
  func countObservers(_ change: Int) { observerCount.add(change, ordering: .relaxed) }

  func add(_ tracker: ChangeTracker, of number: UInt64) {
    observerCount.add(1, ordering: .relaxed)
    state.withLock { $0.residents[number]?.trackers[ObjectIdentifier(tracker)] = tracker }
  }

  func remove(_ tracker: ChangeTracker, of number: UInt64) {
    let known = state.withLock {
      $0.residents[number]?.trackers.removeValue(forKey: ObjectIdentifier(tracker))
    }
    if known != nil { observerCount.subtract(1, ordering: .relaxed) }
  }

  // MARK: Events

  /// Notes that a Realm of this process is about to make `version`, which is above all that are there.
  func expect(_ version: Version) { state.withLock { $0.ownVersion = max($0.ownVersion, version) } }

  /// Notes that nothing is known to have come of that: somebody else may make `version`, or has made it.
  func forget(_ version: Version) {
    state.withLock { if $0.ownVersion == version { $0.ownVersion -= 1 } }
    didSee(version)
  }

  /// Called when `instance` has committed: it sees the version, only its observers wait for it.
  func didCommit(_ instance: RealmInstance) {
    wakeContexts { !$0.entry.isOf(instance) || !$0.trackers.isEmpty }
  }

  /// Called when somebody has made `version`.
  func didSee(_ version: Version) {
    if state.withLock({ version <= $0.ownVersion }) { return }
    wakeContexts { _ in true }
  }

  /// Lets an instance's context be woken, for observers that have to be told something.
  func wake(_ instance: RealmInstance) { wakeContexts { $0.entry.isOf(instance) } }

  /// Lets go of all versions, before the database is closed.
  func close() {
    job.cancel()
    let rounds = state.withLock { state in
      state.isClosed = true
      defer { state.rounds = [:] }
      return state.rounds
    }
    withExtendedLifetime(rounds) {}
  }

  // MARK: Waking

  /// Wakes the contexts of the instances that `condition` names: at once, or after what their observers
  /// are to be told was found in the background.
  private func wakeContexts(where condition: (Resident) -> Bool) {
    var woken: [any RealmContext] = []
    let hasWork = state.withLock { state in
      if state.isClosed { return false }
      var observed: Set<ContextIdentity> = []
      for resident in state.residents.values where !resident.trackers.isEmpty {
        observed.insert(resident.context.identity)
      }
      for resident in state.residents.values where condition(resident) {
        let identity = resident.context.identity
        if observed.contains(identity) {
          state.behind.insert(identity)
        } else if resident.context.isAlive, state.woken.insert(identity).inserted {
          woken.append(resident.context)
        }
      }
      return !state.behind.isEmpty
    }
    for context in woken { run(in: context) }
    if hasWork {
      job.schedule { [weak self] _ in
        self?.prepare()
        return nil
      }
    }
  }

  /// Lets a context bring its instances up to date; it must have been noted as woken.
  private func run(in context: any RealmContext) {
    let identity = context.identity
    context.run { [weak self] in self?.deliver(identity) }
  }

  /// Finds what happened, and wakes the contexts.
  private func prepare() {
    let residents = state.withLock { state in
      defer { state.behind = [] }
      if state.isClosed { return [Resident]() }
      return state.residents.values.filter { state.behind.contains($0.context.identity) }
    }
    guard let coordinator = coordinator(of: residents),
      let snapshot = try? coordinator.value.database.snapshot()
    else { return }
    let views = ViewCache(snapshot, coordinator.value)
    for (identity, residents) in Dictionary(grouping: residents, by: \.context.identity) {
      guard let context = residents.first?.context, context.isAlive else { continue }
      var prepared: InstanceObservers.Prepared = [:]
      for tracker in residents.flatMap(\.trackers.values) {
        guard let view = views.view(for: tracker.layout) else { continue }
        prepared[ObjectIdentifier(tracker)] = tracker.outcome(in: view, views.comparisons)
      }
      let round = Round(snapshot: snapshot, prepared: prepared)
      let (mustRun, old) = state.withLock { state -> (Bool, Round?) in
        // Nobody may be there any more who would take it.
        guard !state.isClosed,
          state.residents.values.contains(where: { $0.context.identity == identity })
        else { return (false, nil) }
        let old = state.rounds.updateValue(round, forKey: identity)
        return (state.woken.insert(identity).inserted, old)
      }
      withExtendedLifetime(old) {}
      if mustRun { run(in: context) }
    }
  }

  /// Keeps the database open meanwhile; nil when all are gone.
  private func coordinator(of residents: [Resident]) -> CoordinatorUse? {
    for resident in residents {
      if let coordinator = resident.entry.coordinator { return CoordinatorUse(coordinator) }
    }
    return nil
  }

  /// Brings the instances of a context to the newest version, all of them before the first observer is
  /// told; called in the context.
  private func deliver(_ context: ContextIdentity) {
    let (round, entries) = state.withLock { state in
      state.woken.remove(context)
      let residents = state.residents.values.filter { $0.context.identity == context }
      return (state.rounds.removeValue(forKey: context), residents.map(\.entry))
    }
    let instances = entries.compactMap(\.value).filter(\.isCurrent)
    guard let first = instances.first,
      let snapshot = round?.snapshot ?? (try? first.coordinator.database.snapshot())
    else { return }
    let moved = instances.map { $0.follow(snapshot) }
    let start = DatabaseEvents.now
    for (instance, hasMoved) in zip(instances, moved) {
      instance.tell(snapshot.version, round?.prepared ?? [:], hasMoved: hasMoved)
    }
    if let round {
      DatabaseEvents.tell(since: start, first.configuration.path) {
        .observersTold(
          count: round.prepared.count, version: snapshot.version, nanoseconds: $0)
      }
    }
  }
}

/// Keeps a database open for a while.
private struct CoordinatorUse: ~Copyable {
  let value: Coordinator

  /// Takes over a user of `coordinator`.
  init(_ coordinator: Coordinator) { value = coordinator }

  deinit { value.release() }
}

/// One version, frozen for each set of classes that is asked for.
private final class ViewCache {
  private let snapshot: Snapshot
  private let coordinator: Coordinator
  private var views: [ObjectIdentifier: FrozenView?] = [:]
  let comparisons = ComparisonCache()

  init(_ snapshot: Snapshot, _ coordinator: Coordinator) {
    self.snapshot = snapshot
    self.coordinator = coordinator
  }

  /// The version with the classes of `layout`; nil when they do not fit it.
  func view(for layout: SchemaLayout) -> FrozenView? {
    let key = ObjectIdentifier(layout.classSet)
    if let known = views[key] { return known }
    let view = RealmInstance.frozen(snapshot, layout, coordinator).map { FrozenView($0) }
    views[key] = view
    return view
  }
}
