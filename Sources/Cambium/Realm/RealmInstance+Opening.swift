import CambiumCore

extension RealmInstance {
  /// The instance of a context: the one that is alive, or a new one.
  static func open(
    _ configuration: Realm.Configuration, in context: any RealmContext
  ) throws(RLMError) -> RealmInstance {
    configuration.check()
    return try open(configuration, configuration.declaredClasses, in: context)
  }

  /// The instance of a context with these classes; nil for those that the database describes.
  static func open(
    _ wanted: Realm.Configuration, _ declared: ClassSet?, in context: any RealmContext
  ) throws(RLMError) -> RealmInstance {
    let coordinator = try Coordinator.shared(wanted)
    do throws(RLMError) {
      let (configuration, classes) = try coordinator.resolve(wanted, declared)
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

  /// Opens the database and sees to it that it has the configuration's classes, for who opens an instance
  /// next; it stays open as long as what is returned.
  ///
  /// Takes as long as the file and a migration do. Called on any thread, on which the migration runs.
  static func prepare(_ configuration: Realm.Configuration) throws(RLMError) -> OpenDatabase {
    configuration.check()
    let database = OpenDatabase(try Coordinator.shared(configuration))
    let (configuration, classes) = try database.coordinator.resolve(
      configuration, configuration.declaredClasses)
    // What others do not share is said in the context that opens the instance.
    if difference(configuration, from: database.coordinator) == nil {
      _ = try layout(of: classes, configuration, database.coordinator, ThreadContext.current)
    }
    return database
  }

  /// Whether the context has an instance, which is opened again at once.
  ///
  /// Never waits: who opens the database elsewhere may have to compact or migrate it.
  static func isOpen(_ configuration: Realm.Configuration, in context: any RealmContext) -> Bool {
    guard let coordinator = Coordinator.currentNow(configuration) else { return false }
    defer { coordinator.release() }
    guard let (_, classes) = try? coordinator.resolve(configuration, configuration.declaredClasses)
    else { return false }
    return coordinator.instance(context.identity, classes) != nil
  }

  private static func make(
    _ configuration: Realm.Configuration, _ context: any RealmContext, _ classes: ClassSet,
    _ coordinator: Coordinator
  ) throws(RLMError) -> RealmInstance {
    let (layout, snapshot) = try layout(of: classes, configuration, coordinator, context)
    return RealmInstance(
      coordinator: coordinator, configuration: configuration, context: context, layout: layout,
      snapshot: snapshot)
  }

  /// What the classes are in the newest version, once they are there.
  private static func layout(
    of classes: ClassSet, _ configuration: Realm.Configuration, _ coordinator: Coordinator,
    _ context: any RealmContext
  ) throws(RLMError) -> (SchemaLayout, Snapshot) {
    let stored: StoredSchema
    // A file that is only read may have got classes that it lacked.
    if !configuration.readOnly, let known = coordinator.layout(of: classes) {
      stored = known.stored
    } else {
      stored = try SchemaApplication.apply(classes, configuration, coordinator, context)
    }
    let result = catching { () throws(StoreError) in
      let snapshot = try coordinator.database.snapshot()
      return try coordinator.layout(of: classes, stored, in: snapshot).map { ($0, snapshot) }
    }
    switch result {
    case .success(.success(let found)): return found
    case .success(.failure(let error)): throw error
    case .failure(let error): throw RLMError(error, path: configuration.path)
    }
  }

  private static func check(
    _ configuration: Realm.Configuration, against coordinator: Coordinator,
    in context: any RealmContext
  ) throws(RLMError) {
    guard let error = mismatch(configuration, coordinator) else { return }
    if coordinator.hasInstance(in: context.identity) { fatalError(error.message) }
    throw error
  }

  /// What to say when the database was opened with other options, which all who use it share.
  static func mismatch(
    _ configuration: Realm.Configuration, _ coordinator: Coordinator
  ) -> RLMError? {
    difference(configuration, from: coordinator).map {
      RLMError(
        .fail, "Realm at path '\(configuration.path)' already opened with different \($0)",
        path: configuration.path)
    }
  }

  /// The first option in which `configuration` differs from how the database was opened, of those that
  /// all its instances must share.
  private static func difference(
    _ configuration: Realm.Configuration, from coordinator: Coordinator
  ) -> String? {
    let first = coordinator.configuration
    if configuration.readOnly != first.readOnly { return "read permissions" }
    if configuration.isInMemory != first.isInMemory { return "inMemory settings" }
    if configuration.encryptionKey != first.encryptionKey { return "encryption key" }
    if configuration.deleteRealmIfMigrationNeeded != first.deleteRealmIfMigrationNeeded {
      return "schema mode"
    }
    // Whoever takes the classes as they are takes their version, too.
    if configuration.usesStoredClasses || first.usesStoredClasses { return nil }
    return configuration.schemaVersion == first.schemaVersion ? nil : "schema version"
  }
}

/// Keeps a database open until somebody has an instance of it.
final class OpenDatabase: Sendable {
  let coordinator: Coordinator

  /// Takes over a user of `coordinator`.
  init(_ coordinator: Coordinator) { self.coordinator = coordinator }

  deinit { coordinator.release() }
}
