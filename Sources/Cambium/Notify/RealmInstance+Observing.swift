import CambiumCore

extension RealmInstance {
  // MARK: Registering

  /// Stops unless this Realm can be observed here and now.
  func checkObservable() {
    guard !isFrozen else {
      fatalError("Frozen Realms do not change and do not have change notifications.")
    }
    verify()
    stopInGroup("What those have changed is in no version to begin at: observe outside of a write.")
    guard !configuration.readOnly else {
      fatalError("Read-only Realms do not change and do not have change notifications.")
    }
    guard context?.canBeWoken ?? false else {
      fatalError("Can only add notification blocks from within runloops.")
    }
  }

  /// Registers an observer of the Realm as a whole.
  func observe(_ tell: @escaping (Realm.Notification, RealmInstance) -> Void) -> ObservationToken {
    checkObservable()
    return register(Observation(.realm(tell)))
  }

  /// Registers a loop over changes, which `raise` tells that the Realm has moved or was invalidated.
  func observe(loop raise: @escaping () -> Void) -> ObservationToken {
    checkObservable()
    return register(Observation(.loop(raise)))
  }

  /// Registers an observer of a collection, which is told the elements as they are first.
  func observe(
    _ core: ResultsCore, keyPaths: [String]?, byKeys: Bool = false, inSections: Bool = false,
    _ tell: @escaping (ChangeTracker.News) -> Void
  ) -> ObservationToken {
    checkObservable()
    let tracker = tracker(of: core, keyPaths: keyPaths, byKeys: byKeys, inSections: inSections)
    let token = register(Observation(.subject(tracker, tell)))
    coordinator.notifier.wake(self)
    return token
  }

  /// Registers an observer of an object, which must be there.
  func observe(
    _ object: ObjectBase, keyPaths: [String]?, _ tell: @escaping (ChangeTracker.News) -> Void
  ) -> ObservationToken {
    checkObservable()
    return register(Observation(.subject(tracker(of: object, keyPaths: keyPaths), tell)))
  }

  /// Tracks a collection, whose elements are news at first; `byKeys` the map of which they are the values,
  /// `inSections` also what may bring them to others.
  func tracker(
    of core: ResultsCore, keyPaths: [String]?, byKeys: Bool = false, inSections: Bool = false
  ) -> ChangeTracker {
    checkUnchanged()
    core.verify()
    let watched = core.access.map {
      WatchedPaths(
        keyPaths, from: $0.stored, stored, depth: WatchedPaths.defaultDepth, inSections: inSections)
    }
    return ChangeTracker(
      byKeys ? .entries(core.identity) : .collection(core.identity),
      watched ?? .everything(depth: 0), layout, from: nil)
  }

  /// Tracks an object from the version on that is seen.
  func tracker(of object: ObjectBase, keyPaths: [String]?) -> ChangeTracker {
    checkUnchanged()
    let access = object.classAccess
    object.requireRow(access)
    let watched = WatchedPaths(keyPaths, from: access.stored, stored, depth: 0)
    return ChangeTracker(
      .object(object.managedRow(in: access).identity), watched, layout, from: observedView)
  }

  func checkUnchanged() {
    guard unsafe session?.hasChanged != true else {
      fatalError("Cannot create asynchronous query after making changes in a write transaction.")
    }
    unsafe session?.noteTouches()
  }

  private func register(_ observation: Observation) -> ObservationToken {
    // An invalidated Realm sees no version, from which on changes could be told.
    if isInvalidated { _ = currentSnapshot }
    observers.add(observation)
    if let tracker = observation.tracker { coordinator.notifier.add(tracker, of: number) }
    return ObservationToken(observation, of: self)
  }

  /// Lets go of an observer that has ended: of what it keeps at once, of its block in the context.
  ///
  /// May be called from anywhere.
  func didEnd(_ observation: Observation) {
    if let tracker = observation.tracker {
      coordinator.notifier.remove(tracker, of: number)
      tracker.end()
    }
    observers.noteEnd()
    if isCurrent { return observers.drop(observation) }
    // Of a context that is gone there is nobody left who could be calling it.
    guard let context, context.isAlive else { return observers.sweep() }
    let entry = InstanceTable.Entry(self)
    context.run { entry.value?.observers.sweep() }
  }

  // MARK: Following

  /// Moves to `newest`, if the Realm refreshes by itself; whether it did.
  func follow(_ newest: Snapshot) -> Bool {
    guard unsafe session == nil, autorefresh.load(ordering: .relaxed), !observers.isDelivering,
      !configuration.readOnly, let snapshot = unsafe snapshot, snapshot.version < newest.version
    else { return false }
    return reading { () throws(StoreError) in
      if try obstacle(in: newest) != nil { return false }
      advance(to: newest)
      return true
    }
  }

  /// Tells the observers what happened until the version that is seen, of which `prepared` was found
  /// before, and, where the Realm does not follow, that `newest` is there.
  func tell(_ newest: Version, _ prepared: InstanceObservers.Prepared, hasMoved: Bool) {
    guard unsafe session == nil else { return }
    guard let snapshot = unsafe snapshot else {
      // Whoever reads anything now sees the newest version.
      return observers.deliver(self, hasMoved: true, includesInitial: false)
    }
    if !autorefresh.load(ordering: .relaxed), snapshot.version < newest {
      observers.requireRefresh(self, for: newest)
    }
    observers.deliver(self, hasMoved: hasMoved, includesInitial: true, prepared: prepared)
  }

  /// The version of `snapshot` with the classes of `layout`; nil when they do not fit it, or when it
  /// cannot be read.
  ///
  /// Evaluations give up when `interruption` asks for it.
  static func frozen(
    _ snapshot: Snapshot, _ layout: SchemaLayout, _ coordinator: Coordinator,
    _ interruption: Interruption? = nil
  ) -> RealmInstance? {
    let found = catching { () throws(StoreError) in
      try coordinator.layout(of: layout.classSet, layout.stored, in: snapshot)
    }
    guard case .success(.success(let layout)) = found else { return nil }
    coordinator.retain()
    return RealmInstance(
      coordinator: coordinator, configuration: coordinator.configuration, context: nil,
      layout: layout, snapshot: snapshot, interruption: interruption)
  }

  /// The version at which the write transaction began; nil when the store fails.
  var frozenBase: RealmInstance? {
    unsafe snapshot.flatMap { RealmInstance.frozen($0, layout, coordinator) }
  }

  /// The observations behind tokens that a commit is to pass over; stops at tokens of other Realms.
  func observations(of tokens: [NotificationToken]) -> [Observation] {
    tokens.compactMap { token in
      let token = (token as? DeferredToken)?.registered ?? token
      guard let token = token as? ObservationToken else { return nil }
      guard token.instance === self else {
        fatalError(
          "Incorrect Realm: only notifications for the Realm being modified can be skipped.")
      }
      return token.observation
    }
  }
}
