import CambiumCore

/// Runs a migration block between the change of the schema and the commit.
struct MigrationRun {
  // Exclusivity is not checked: a migration has one user, and each access to the Realm or its
  // transaction ends before the next.
  let classes: ClassSet
  let coordinator: Coordinator
  let configuration: Realm.Configuration
  let context: any RealmContext
  let transaction: Transaction
  /// Classes whose primary key changes, which is an ordinary property until the block has run.
  let rekeyed: Set<String>
  /// Whether embedded objects may have lost their places, or have several.
  let changesEmbedding: Bool

  /// Runs the configuration's block, if there is one, and puts primary keys in order; what is wrong with
  /// them, or nil.
  ///
  /// Whoever called commits the transaction, or rolls it back when this throws or finds something.
  func run(
    from snapshot: Snapshot, version: UInt64
  ) throws(StoreError) -> PrimaryKeyChange.Duplicate? {
    if configuration.migrationBlock == nil, rekeyed.isEmpty, !changesEmbedding { return nil }
    let new = try newRealm(snapshot)
    guard let session = unsafe new.session else { return nil }
    defer { new.endMigration() }
    unsafe session.isMigrating = true
    if let block = configuration.migrationBlock {
      let old = try oldRealm(snapshot)
      let migration = Migration(old: old, new: new, session: session, declared: classes)
      migration.creation.substituting { block(migration, version) }
      old.endMigration()
    }
    let duplicate = finishKeys(new, session)
    if changesEmbedding || configuration.migrationBlock != nil {
      EmbeddingChange(realm: new, session: session).run()
    }
    session.settle()
    if let failure = unsafe session.failure { throw failure }
    if duplicate == nil {
      let changer = SchemaChanger(transaction: transaction)
      for description in classes.descriptions where rekeyed.contains(description.name) {
        try changer.finishPrimaryKey(description)
      }
    }
    return duplicate
  }

  private func finishKeys(
    _ new: RealmInstance, _ session: WriteSession
  ) -> PrimaryKeyChange.Duplicate? {
    let change = PrimaryKeyChange(realm: new, session: session)
    for access in new.declaredClasses {
      guard let place = classes.index(named: access.stored.name),
        let index = classes.descriptions[place].primaryKeyIndex,
        unsafe rekeyed.contains(access.stored.name) || session.assignedKeys.contains(access.index)
      else { continue }
      let property = classes.descriptions[place].properties[index].property
      let isKey = property.type == .int && !property.isOptional
      if let duplicate = change.run(access, index, isKey: isKey) { return duplicate }
    }
    return nil
  }

  // MARK: The two sides

  private func oldRealm(_ snapshot: Snapshot) throws(StoreError) -> RealmInstance {
    let layout = try layout(of: ClassSet(storedIn: snapshot), in: snapshot)
    coordinator.retain()
    return RealmInstance(
      coordinator: coordinator, configuration: configuration, context: nil, layout: layout,
      snapshot: snapshot)
  }

  private func newRealm(_ snapshot: Snapshot) throws(StoreError) -> RealmInstance {
    let descriptions = classes.descriptions.map { description in
      ClassDescription(
        dynamic: description.name,
        description.properties.map { property in
          var property = property.property
          if rekeyed.contains(description.name) { property.isPrimaryKey = false }
          return property
        }, isEmbedded: description.objectSchema.isEmbedded)
    }
    let layout = try layout(of: ClassSet(dynamic: descriptions), in: transaction)
    coordinator.retain()
    return RealmInstance(
      coordinator: coordinator, configuration: configuration, context: context, layout: layout,
      snapshot: snapshot, transaction: transaction)
  }

  private func layout(
    of classes: ClassSet, in view: some ReadTransaction
  ) throws(StoreError) -> SchemaLayout {
    // Classes that nobody declares keep their objects, whose links lead to what moves.
    try SchemaLayout(
      classes, SchemaApplication.storedSchema(classes, view), in: view, needsAll: true)
  }
}
