import CambiumCore

extension RealmInstance {
  /// The instance of a context: the one that is alive, or a new one.
  static func open(
    _ configuration: Realm.Configuration, in context: any RealmContext
  ) throws(RLMError) -> RealmInstance {
    configuration.check()
    return try open(configuration, ClassRegistry.classes(configuration.objectTypes), in: context)
  }

  /// The instance of a context with these classes.
  static func open(
    _ configuration: Realm.Configuration, _ classes: ClassSet, in context: any RealmContext
  ) throws(RLMError) -> RealmInstance {
    let coordinator = try Coordinator.shared(configuration)
    do throws(RLMError) {
      try check(configuration, against: coordinator, in: context)
      if let known = coordinator.instance(context.identity, classes) {
        coordinator.release()
        return known
      }
      let instance = try make(configuration, context, classes, coordinator)
      coordinator.remember(instance)
      return instance
    } catch {
      coordinator.release()
      throw error
    }
  }

  private static func make(
    _ configuration: Realm.Configuration, _ context: any RealmContext, _ classes: ClassSet,
    _ coordinator: Coordinator
  ) throws(RLMError) -> RealmInstance {
    let stored: StoredSchema
    // A file that is only read may have got classes that it lacked.
    if !configuration.readOnly, let known = coordinator.layout(of: classes) {
      stored = known.stored
    } else {
      stored = try SchemaApplication.apply(classes, configuration, coordinator, context)
    }
    let result = catching { () throws(StoreError) in
      let snapshot = try coordinator.database.snapshot()
      return try coordinator.layout(of: classes, stored, in: snapshot).map { layout in
        RealmInstance(
          coordinator: coordinator, configuration: configuration, context: context,
          layout: layout, snapshot: snapshot)
      }
    }
    switch result {
    case .success(.success(let instance)): return instance
    case .success(.failure(let error)): throw error
    case .failure(let error): throw RLMError(error, path: configuration.path)
    }
  }

  /// Options that all instances of a database must share.
  private static func check(
    _ configuration: Realm.Configuration, against coordinator: Coordinator,
    in context: any RealmContext
  ) throws(RLMError) {
    let first = coordinator.configuration
    let difference: String
    if configuration.readOnly != first.readOnly {
      difference = "read permissions"
    } else if configuration.isInMemory != first.isInMemory {
      difference = "inMemory settings"
    } else if configuration.encryptionKey != first.encryptionKey {
      difference = "encryption key"
    } else if configuration.deleteRealmIfMigrationNeeded != first.deleteRealmIfMigrationNeeded {
      difference = "schema mode"
    } else if configuration.schemaVersion != first.schemaVersion {
      difference = "schema version"
    } else {
      return
    }
    let text = "Realm at path '\(configuration.path)' already opened with different \(difference)"
    if coordinator.hasInstance(in: context.identity) { fatalError(text) }
    throw RLMError(.fail, text, path: configuration.path)
  }
}
