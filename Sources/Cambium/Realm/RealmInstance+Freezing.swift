import CambiumCore

extension RealmInstance {
  /// The frozen instance of the version that is seen; in a transaction of the one before it.
  func freeze() -> RealmInstance {
    if isFrozen { return self }
    stopInGroup(
      "What those have changed is in no version that could be frozen: freeze it in a read.")
    let snapshot = currentSnapshot
    if let known = frozen.value, unsafe known.snapshot === snapshot { return known }
    if foreignGeneration != 0, unsafe comparedLayout.generation != layout.stored.layoutGeneration,
      let instance = RealmInstance.frozen(snapshot, layout, coordinator)
    {
      // There may be classes that the Realm was not opened with.
      frozen = InstanceTable.Entry(instance)
      return instance
    }
    coordinator.retain()
    let instance = RealmInstance(
      coordinator: coordinator, configuration: configuration, context: nil, layout: layout,
      snapshot: snapshot)
    frozen = InstanceTable.Entry(instance)
    return instance
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
