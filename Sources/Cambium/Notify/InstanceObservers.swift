import CambiumCore
import Synchronization

/// The observers of one Realm instance.
///
/// Belongs to the instance's context, except where said otherwise.
final class InstanceObservers: @unchecked Sendable {
  // Unchecked: what other threads may touch is atomic, or the notifier's.

  /// Those of a frozen instance, which has none.
  static let none = InstanceObservers()

  private var observations: [Observation] = []
  /// Whether blocks are being called.
  private(set) var isDelivering = false
  /// Whether an observer has ended that is still here.
  private let hasEnded = Atomic(false)
  /// How many are here still whose block was let go.
  private var droppedCount = 0
  /// The version for which a refresh was said to be required last.
  private var requiredVersion: Version = 0
  /// The observers of the Realm who have to be told of a version to which a block has moved it.
  private var owed: [Observation] = []

  var isEmpty: Bool { observations.isEmpty }

  func add(_ observation: Observation) {
    sweep()
    observations.append(observation)
  }

  /// Lets go of the blocks of observers that have ended.
  func sweep() {
    if isDelivering || !hasEnded.exchange(false, ordering: .acquiringAndReleasing) { return }
    let ended = observations.filter { !$0.isActive }
    observations.removeAll { !$0.isActive }
    droppedCount = 0
    for observation in ended { observation.drop() }
  }

  /// Lets go of the block of an observer that has ended, which was noted; of the observer with the next that are looked
  /// through, or with many others.
  func drop(_ observation: Observation) {
    if isDelivering { return }
    observation.drop()
    droppedCount += 1
    if 2 * droppedCount >= observations.count { sweep() }
  }

  /// Notes that an observer has ended; may be called from anywhere.
  func noteEnd() { hasEnded.store(true, ordering: .releasing) }

  /// Ends the observers of everything that was read, and has the loops over changes look, which end.
  func endSubjects(_ instance: RealmInstance) {
    for case .loop(let raise)? in observations.filter(\.isActive).map(\.kind) { raise() }
    for observation in observations where observation.tracker != nil && observation.end() {
      instance.didEnd(observation)
    }
  }

  // MARK: Delivering

  /// What somebody has prepared elsewhere.
  typealias Prepared = [ObjectIdentifier: ChangeTracker.Outcome]

  /// Tells the observers what happened until the version that is seen.
  ///
  /// `hasMoved` says that the instance has just come to see another version. Those who wait for their
  /// first call are told only if `includesInitial`. Does nothing inside of a block.
  func deliver(
    _ instance: RealmInstance, hasMoved: Bool, includesInitial: Bool, prepared: Prepared = [:]
  ) {
    if isDelivering {
      if hasMoved { tellLater(instance) }
      return
    }
    sweep()
    if observations.isEmpty { return }
    isDelivering = true
    let told = hasMoved ? observations : owed
    owed = []
    Self.tellOfRealm(told, instance, .didChange)
    tell(observations, instance, includesInitial: includesInitial, prepared: prepared)
    isDelivering = false
    sweep()
  }

  /// Tells those of `observations`, inside of a block, whose turn in the round is still to come: a write is
  /// to pass over them, and over nothing else.
  func deliverAhead(to observations: [Observation], _ instance: RealmInstance) {
    if isDelivering { tell(observations, instance, includesInitial: false) }
  }

  private func tell(
    _ observations: [Observation], _ instance: RealmInstance, includesInitial: Bool,
    prepared: Prepared = [:]
  ) {
    let comparisons = ComparisonCache()
    var view: FrozenView?
    for observation in observations where observation.isActive {
      guard case .subject(let tracker, let tell)? = observation.kind, !instance.isInvalidated,
        includesInitial || tracker.version != nil
      else { continue }
      guard tracker.isBehind(instance.version) || tracker.version == nil else { continue }
      // One view serves all, unless a block has moved the Realm.
      let current: FrozenView
      if let view, view.version == instance.version {
        current = view
      } else {
        current = instance.observedView
        view = current
      }
      tracker.deliver(current, prepared[ObjectIdentifier(tracker)], comparisons, tell)
    }
  }

  /// Tells the observers of the Realm as a whole after a commit of this instance, which began at `base`.
  ///
  /// Those of `skipping` are told nothing, now and later. But who was not told yet what led to `base` is
  /// told of both as one change: inside of a block, of a commit whose beginning did not say whom to skip.
  func didCommit(_ instance: RealmInstance, from base: Version, skipping: [Observation]) {
    for observation in skipping {
      guard case .subject(let tracker, let tell)? = observation.kind, tracker.version == base
      else { continue }
      tracker.skip(to: instance, tell)
    }
    if isDelivering { return tellLater(instance, except: skipping) }
    sweep()
    if observations.isEmpty { return }
    isDelivering = true
    Self.tellOfRealm(observations, instance, .didChange, except: skipping)
    isDelivering = false
    sweep()
  }

  /// Has the observers of the Realm told in the context's next turn: a block has moved it.
  private func tellLater(_ instance: RealmInstance, except: [Observation] = []) {
    for observation in observations where observation.tracker == nil {
      if !except.contains(where: { $0 === observation }),
        !owed.contains(where: { $0 === observation })
      {
        owed.append(observation)
      }
    }
    instance.coordinator.notifier.wake(instance)
  }

  /// Says once for each version that there is a newer one.
  ///
  /// Not a round: a block may move the Realm, which tells its observers in a round of its own.
  func requireRefresh(_ instance: RealmInstance, for version: Version) {
    if isDelivering || observations.isEmpty || version == requiredVersion { return }
    requiredVersion = version
    Self.tellOfRealm(observations, instance, .refreshRequired)
  }

  /// Tells those of `observations` who look at the Realm as a whole.
  private static func tellOfRealm(
    _ observations: [Observation], _ instance: RealmInstance, _ notification: Realm.Notification,
    except: [Observation] = []
  ) {
    for observation in observations where observation.isActive {
      if except.contains(where: { $0 === observation }) { continue }
      switch observation.kind {
      case .realm(let tell)?: tell(notification, instance)
      case .loop(let raise)?: raise()
      case .subject?, nil: break
      }
    }
  }
}

extension ChangeTracker {
  /// Tells what happened until `view`, the version that the Realm sees, if anything did.
  fileprivate func deliver(
    _ view: FrozenView, _ prepared: Outcome?, _ comparisons: ComparisonCache,
    _ tell: (News) -> Void
  ) {
    var outcome = prepared.flatMap { prepared in
      prepared.version == view.version && accept(prepared) ? prepared : nil
    }
    if outcome == nil, let found = self.outcome(in: view, comparisons), accept(found) {
      outcome = found
    }
    if let news = outcome?.news { tell(news) }
  }

  /// Passes over what happened until the version that `instance` sees.
  fileprivate func skip(to instance: RealmInstance, _ tell: (News) -> Void) {
    guard let outcome = outcome(in: instance.observedView, ComparisonCache()),
      accept(outcome), outcome.news != nil
    else { return }
    tell(.skipped)
  }
}
