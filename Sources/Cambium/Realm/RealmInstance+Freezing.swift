import CambiumCore

extension RealmInstance {
  /// The frozen instance of the version that is seen; in a transaction of the one before it.
  func freeze() -> RealmInstance {
    if isFrozen { return self }
    stopInGroup(
      "What those have changed is in no version that could be frozen: freeze it in a read.")
    return frozen(keptIn: &frozen)
  }

  /// The same for observers: an instance of their own, which no program can invalidate.
  var observedView: FrozenView { FrozenView(frozen(keptIn: &observed)) }

  private func frozen(keptIn known: inout InstanceTable.Entry) -> RealmInstance {
    let snapshot = currentSnapshot
    if let instance = known.value, unsafe instance.snapshot === snapshot { return instance }
    let instance = frozen(of: snapshot)
    known = InstanceTable.Entry(instance)
    return instance
  }

  private func frozen(of snapshot: Snapshot) -> RealmInstance {
    // There may be classes that the Realm was not opened with.
    if foreignGeneration != 0, unsafe comparedLayout.generation != layout.stored.layoutGeneration,
      let instance = RealmInstance.frozen(snapshot, layout, coordinator)
    {
      return instance
    }
    coordinator.retain()
    return RealmInstance(
      coordinator: coordinator, configuration: configuration, context: nil, layout: layout,
      snapshot: snapshot)
  }

  /// The live instance of the calling context; a live one gives itself.
  func thaw() -> RealmInstance {
    guard isFrozen else {
      verify()
      return self
    }
    return Self.live(configuration, classSet, coordinator)
  }

  /// The live instance of the calling context, opened if there is none; stops when that fails.
  static func live(
    _ configuration: Realm.Configuration, _ classes: ClassSet, _ coordinator: Coordinator
  ) -> RealmInstance {
    if let live = coordinator.currentInstance(classes) { return live }
    do {
      return try RealmInstance.open(configuration, classes, in: CallingContext.current)
    } catch {
      fatalError(error.message)
    }
  }
}
