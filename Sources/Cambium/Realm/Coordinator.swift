import CambiumCore
import Foundation
import Synchronization

/// Everything that the Realm instances of one database share in this process.
///
/// May be used from any thread. There is one per database; the last instance that goes closes it.
final class Coordinator: Sendable {
  /// The versions and the writer's queue.
  let database: Database
  /// How it was first opened; later openings must agree.
  let configuration: Realm.Configuration
  /// Brings instances to new versions and tells their observers.
  let notifier: Notifier
  /// Whether commits keep what they have touched: others than this process's Realms may see them.
  let recordsTouches: Bool
  /// Tells the notifier of commits of others.
  private let watch: CommitWatch
  private let slot: Slot
  private let state = Mutex(State())

  private struct State {
    var userCount = 0
    /// The context of the instance that is in a write transaction.
    var writer: (any RealmContext)?
    var instances: [InstanceKey: Resident] = [:]
    var layouts: [ObjectIdentifier: SchemaLayout] = [:]
    /// The classes that the database describes, and the layout of its tables for which it does.
    var storedClasses: (set: ClassSet, generation: UInt64)?
  }

  private struct InstanceKey: Hashable {
    var context: ContextIdentity
    var classes: ObjectIdentifier
  }

  /// An instance, and the context to which it belongs.
  private struct Resident {
    let entry: InstanceTable.Entry
    let context: any RealmContext
  }

  private init(configuration: Realm.Configuration, slot: Slot) throws(RLMError) {
    self.configuration = configuration
    self.slot = slot
    let database = try Launch(configuration: configuration).open()
    let notifier = Notifier()
    self.database = database
    self.notifier = notifier
    recordsTouches = !configuration.isInMemory
    watch = database.watchCommits { [weak notifier] version in notifier?.didSee(version) }
  }

  // MARK: One per database

  /// The place of a database in this process; outlives its coordinators.
  private final class Slot: Sendable {
    let coordinator = Mutex<Coordinator?>(nil)
  }

  private static let slots = Mutex<[String: Slot]>([:])

  private static func slot(_ identity: String) -> Slot {
    slots.withLock { slots in
      if let slot = slots[identity] { return slot }
      let slot = Slot()
      slots[identity] = slot
      return slot
    }
  }

  /// The coordinator of the configuration's database, opened if need be, with one user more.
  static func shared(_ configuration: Realm.Configuration) throws(RLMError) -> Coordinator {
    Launch.check(configuration)
    let slot = slot(configuration.identity)
    // Opening and closing take the slot's lock, so that a database is never open twice.
    let result = slot.coordinator.withLock { current -> Result<Coordinator, RLMError> in
      if let coordinator = usable(current) {
        coordinator.retain()
        return .success(coordinator)
      }
      do throws(RLMError) {
        let start = DatabaseEvents.now
        let coordinator = try Coordinator(configuration: configuration, slot: slot)
        coordinator.retain()
        current = coordinator
        DatabaseEvents.tell(since: start, configuration.path) { .opened(nanoseconds: $0) }
        return .success(coordinator)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// The coordinator of the configuration's database with one user more; nil when it is not open.
  static func current(_ configuration: Realm.Configuration) -> Coordinator? {
    slot(configuration.identity).coordinator.withLock { retainUsable($0) }
  }

  /// The same without waiting for who is opening or closing it: nil then.
  static func currentNow(_ configuration: Realm.Configuration) -> Coordinator? {
    slot(configuration.identity).coordinator.withLockIfAvailable { retainUsable($0) } ?? nil
  }

  private static func retainUsable(_ current: Coordinator?) -> Coordinator? {
    let coordinator = usable(current)
    coordinator?.retain()
    return coordinator
  }

  /// Whether the configuration's database is open in this process.
  static func isOpen(_ configuration: Realm.Configuration) -> Bool {
    slot(configuration.identity).coordinator.withLock { usable($0) != nil }
  }

  /// The coordinator, unless its file was deleted or replaced: whoever opens that place now gets what is there.
  private static func usable(_ coordinator: Coordinator?) -> Coordinator? {
    guard let coordinator, coordinator.database.isInPlace else { return nil }
    return coordinator
  }

  /// Counts one user more.
  func retain() { state.withLock { $0.userCount += 1 } }

  /// Counts one user less; the last one closes the database.
  func release() {
    slot.coordinator.withLock { current in
      let isUnused = state.withLock { state in
        state.userCount -= 1
        return state.userCount == 0
      }
      guard isUnused else { return }
      if current === self { current = nil }
      watch.end()
      notifier.close()
      // Whoever goes last has nobody to tell of a failure; what was committed `.full` is durable.
      try? database.close()
    }
  }

  // MARK: Transactions

  /// Notes in which context a write transaction runs, nil for none; called by who holds the writer's
  /// lock.
  func noteWriter(_ context: (any RealmContext)?) { state.withLock { $0.writer = context } }

  /// Whether a write transaction runs in the calling context: waiting for it here would never end.
  var isWriterHere: Bool { state.withLock { $0.writer }?.isCurrent ?? false }

  // MARK: Instances

  /// The instance of a context, if one is alive.
  func instance(_ context: ContextIdentity, _ classes: ClassSet) -> RealmInstance? {
    let key = InstanceKey(context: context, classes: ObjectIdentifier(classes))
    guard let instance = state.withLock({ $0.instances[key] })?.entry.value,
      instance.context?.isAlive ?? false
    else { return nil }
    return instance
  }

  /// The instance of the calling context, if one is alive.
  ///
  /// A thread may have one of its own while it runs a queue, which has one, too: that of the queue then.
  func currentInstance(_ classes: ClassSet) -> RealmInstance? {
    let residents = state.withLock { state in
      state.instances.filter { $0.key.classes == ObjectIdentifier(classes) }.map(\.value)
    }
    // Those of other contexts are not held even for a moment: their last release belongs there.
    let current = residents.filter(\.context.isCurrent).compactMap(\.entry.value)
    return current.first { $0.context?.ownThread == nil } ?? current.first
  }

  /// Whether any live instance belongs to that context.
  func hasInstance(in context: ContextIdentity) -> Bool {
    let instances = state.withLock { $0.instances }
    return instances.contains { $0.key.context == context && !$0.value.entry.isGone }
  }

  /// Remembers the instance of a context.
  func remember(_ instance: RealmInstance) {
    guard let context = instance.context else { return }
    let key = InstanceKey(
      context: context.identity, classes: ObjectIdentifier(instance.classSet))
    notifier.add(instance)
    let resident = Resident(entry: InstanceTable.Entry(instance), context: context)
    let known = state.withLock { $0.instances }
    let gone = known.count < 16 ? [:] : known.filter { $0.value.entry.isGone }
    state.withLock { state in
      for key in gone.keys where state.instances[key]?.entry.isGone ?? false {
        state.instances[key] = nil
      }
      state.instances[key] = resident
    }
  }

  // MARK: Schemas

  /// The classes that the database describes at a layout of its tables, as `read` finds them.
  func storedClasses(
    at generation: UInt64, _ read: () throws(StoreError) -> ClassSet
  ) throws(StoreError) -> ClassSet {
    if let known = state.withLock({ $0.storedClasses }), known.generation == generation {
      return known.set
    }
    let set = try read()
    return state.withLock { state in
      // Somebody may have been faster; instances are told apart by their set.
      if let known = state.storedClasses, known.generation == generation { return known.set }
      state.storedClasses = (set, generation)
      return set
    }
  }

  /// What a set of classes is here, if an instance opened it before.
  func layout(of classes: ClassSet) -> SchemaLayout? {
    state.withLock { $0.layouts[ObjectIdentifier(classes)] }
  }

  /// What a set of classes that is stored as `stored` says is in `snapshot`; the error that says what
  /// others have changed when it cannot be used there.
  ///
  /// All who open it at the same layout of tables get the same.
  func layout(
    of classes: ClassSet, _ stored: StoredSchema, in snapshot: Snapshot
  ) throws(StoreError) -> Result<SchemaLayout, RLMError> {
    let generation = try snapshot.layoutGeneration()
    if let known = layout(of: classes), known.stored.layoutGeneration == generation {
      return .success(known)
    }
    var stored = stored
    if generation != stored.layoutGeneration {
      let drift = try SchemaDrift(classes, stored, in: snapshot)
      if let error = drift.error(path: configuration.path) { return .failure(error) }
      stored = StoredSchema(stored.classes, layoutGeneration: generation)
    }
    let layout = try SchemaLayout(classes, stored, in: snapshot)
    return .success(
      state.withLock { state in
        // Somebody may have been faster.
        if let known = state.layouts[ObjectIdentifier(classes)],
          known.stored.layoutGeneration == generation
        {
          return known
        }
        state.layouts[ObjectIdentifier(classes)] = layout
        return layout
      })
  }
}
