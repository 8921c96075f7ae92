import CambiumCore
import CambiumFile

/// Makes a file hold a program's classes, or says why it cannot.
struct SchemaApplication {
  private let classes: ClassSet
  private let configuration: Realm.Configuration
  private let coordinator: Coordinator
  private let context: any RealmContext

  private var database: Database { coordinator.database }

  /// How `classes` are stored in the coordinator's database once they are there.
  ///
  /// Writes only when something has to change. Throws `.schemaMismatch` when the difference needs a
  /// migration, `.fail` when the file has a higher schema version.
  static func apply(
    _ classes: ClassSet, _ configuration: Realm.Configuration, _ coordinator: Coordinator,
    _ context: any RealmContext
  ) throws(RLMError) -> StoredSchema {
    let application = SchemaApplication(
      classes: classes, configuration: configuration, coordinator: coordinator,
      context: context)
    let result = catching { () throws(StoreError) in try application.run() }
    switch result {
    case .success(.success(let schema)): return schema
    case .success(.failure(let error)): throw error
    case .failure(let error): throw RLMError(error, path: configuration.path)
    }
  }

  private func run() throws(StoreError) -> Result<StoredSchema, RLMError> {
    let snapshot = try database.snapshot()
    let features = try StoredFeatures(of: snapshot, path: configuration.path)
    let comparison = try SchemaComparison(classes, snapshot)
    if configuration.readOnly {
      if let error = refusalForReading(comparison) { return .failure(error) }
      return .success(try Self.storedSchema(classes, snapshot))
    }
    if isSettled(comparison), features.isSuperset(of: .current) {
      return .success(try Self.storedSchema(classes, snapshot))
    }
    guard !coordinator.isWriterHere else {
      fatalError(
        "The Realm at path '\(configuration.path)' is being written or migrated here, and opening it with "
          + "these classes has to write to it, too. Inside of a migration block use the Migration, not a Realm."
      )
    }
    if !features.isSuperset(of: .current) { return try run(try transactionForUpgrade()) }
    return try run(try database.beginWrite())
  }

  /// A transaction of which the backup of a file will have all pages: who has one cannot have others store theirs.
  private func transactionForUpgrade() throws(StoreError) -> Transaction {
    while true {
      let transaction = try database.beginWrite()
      guard database.store is FileStore, !transaction.beganWithAllPagesStored else {
        return transaction
      }
      transaction.rollback()
      try database.sync()
    }
  }

  // Compared again: somebody may have been faster.
  private func run(
    _ transaction: Transaction
  ) throws(StoreError) -> Result<StoredSchema, RLMError> {
    let features = try StoredFeatures(of: transaction, path: configuration.path)
    var comparison = try SchemaComparison(classes, transaction)
    let isCurrent = features.isSuperset(of: .current)
    if isSettled(comparison), isCurrent {
      transaction.rollback()
      return .success(try Self.storedSchema(classes, try database.snapshot()))
    }
    if !isCurrent, comparison.version != nil, configuration.disableFormatUpgrade {
      transaction.rollback()
      return .failure(
        error(
          .fileFormatUpgradeRequired,
          "The Realm file format must be allowed to be upgraded in order to proceed."))
    }
    if configuration.deleteRealmIfMigrationNeeded, needsReset(comparison) {
      Logger.log(
        .warn, "Deleting the contents of '\(configuration.path)', which has other classes.")
      for name in try transaction.names(withPrefix: "") { _ = try transaction.drop(name) }
      comparison = try SchemaComparison(classes, transaction)
    } else if let error = refusal(comparison) {
      transaction.rollback()
      return .failure(error)
    }
    let base = try database.snapshot()
    if !isCurrent {
      if comparison.version != nil { try keepBackup(of: features, transaction) }
      try BacklinkEditor.group(transaction)
    }
    try SchemaChanger(transaction: transaction).apply(comparison)
    for line in comparison.lines { Logger.log(.detail, "'\(configuration.path)': \(line)") }
    if let version = comparison.version, version < configuration.schemaVersion {
      let versions = "schema version \(version) to \(configuration.schemaVersion)"
      let start = DatabaseEvents.now
      defer {
        DatabaseEvents.tell(since: start, configuration.path) {
          .migrated(from: version, to: configuration.schemaVersion, nanoseconds: $0)
        }
      }
      Logger.log(.info, "Migrating '\(configuration.path)' from \(versions).")
      defer { Logger.log(.info, "The migration of '\(configuration.path)' has ended.") }
      coordinator.noteWriter(context)
      defer { coordinator.noteWriter(nil) }
      let migration = MigrationRun(
        classes: classes, coordinator: coordinator, configuration: configuration,
        context: context, transaction: transaction,
        rekeyed: Set(comparison.rekeyedClasses.map(\.name)),
        changesEmbedding: comparison.changesEmbedding(classes))
      if let duplicate = try migration.run(from: base, version: version) {
        transaction.rollback()
        return .failure(error(.fail, duplicate.message))
      }
    }
    let wanted = features.union(StoredFeatures(classes)).union(.current)
    // Storing an equal value changes nothing.
    try transaction.setValue(StoredName.features, wanted.bytes)
    try transaction.setValue(
      StoredName.schemaVersion, SchemaComparison.bytes(ofVersion: configuration.schemaVersion))
    return .success(
      try Self.storedSchema(
        classes, try transaction.commit(durability: configuration.durability)))
  }

  /// Leaves a file as it is under another name, before objects get another form in it.
  private func keepBackup(
    of features: StoredFeatures, _ transaction: Transaction
  ) throws(StoreError) {
    // The store has a form of its own, and may have made one when the file was opened.
    guard let file = database.store as? FileStore, !file.hasBackup.load(ordering: .relaxed) else {
      return
    }
    do throws(StoreError) { try file.keepBackup(of: "objects-\(features.rawValue)") } catch {
      transaction.rollback()
      throw error
    }
  }

  private func isSettled(_ comparison: SchemaComparison) -> Bool {
    comparison.isEqual && !comparison.hasIndexChanges
      && comparison.version == configuration.schemaVersion
  }

  private func needsReset(_ comparison: SchemaComparison) -> Bool {
    guard let version = comparison.version else { return false }
    return version != configuration.schemaVersion || !comparison.lines.isEmpty
  }

  // MARK: Refusals

  private func refusal(_ comparison: SchemaComparison) -> RLMError? {
    guard let version = comparison.version else { return nil }
    let wanted = configuration.schemaVersion
    if wanted < version {
      return error(
        .fail, "Provided schema version \(wanted) is less than last set version \(version).")
    }
    // What a raised version brings along is done without asking.
    let lines = wanted > version ? [] : comparison.lines
    if lines.isEmpty { return nil }
    return error(
      .schemaMismatch,
      "Migration is required due to the following errors:\n" + lines.joined(separator: "\n"))
  }

  private func refusalForReading(_ comparison: SchemaComparison) -> RLMError? {
    guard let version = comparison.version else {
      return error(
        .invalidDatabase, "Realm at path '\(configuration.path)' has not been initialized.")
    }
    if version != configuration.schemaVersion {
      return error(
        .fail,
        "Provided schema version \(configuration.schemaVersion) does not equal last set version "
          + "\(version).")
    }
    let lines = comparison.linesForReading
    if lines.isEmpty { return nil }
    return error(
      .schemaMismatch,
      "Migration is required due to the following errors:\n" + lines.joined(separator: "\n"))
  }

  private func error(_ code: RLMError.Code, _ text: String) -> RLMError {
    RLMError(
      code, text.contains(configuration.path) ? text : "\(text) (Realm at '\(configuration.path)')",
      path: configuration.path)
  }

  // MARK: Stored forms

  static func storedSchema(
    _ classes: ClassSet, _ view: some ReadTransaction
  ) throws(StoreError) -> StoredSchema {
    var stored: [StoredClass] = []
    for description in classes.descriptions {
      let record = try view.table(StoredName.table(description.name))?.record
      stored.append(StoredClass(description.objectSchema, storedIn: record))
    }
    return StoredSchema(stored, layoutGeneration: try view.layoutGeneration())
  }
}
