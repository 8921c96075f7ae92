import CambiumCore

// What tools need, which know classes by name only.

extension Realm {
  /// Opens a database, in the calling context, with the classes that it describes itself and those of
  /// `classes` that it lacks, which it gets.
  ///
  /// Throws `.schemaMismatch` when these break a rule of classes, or lack one that they link to.
  package init(
    configuration: Realm.Configuration, adding classes: [ObjectSchema]
  ) throws(RLMError) {
    var configuration = configuration
    configuration.usesStoredClasses = true
    configuration.check()
    let coordinator = try Coordinator.shared(configuration)
    defer { coordinator.release() }
    let (resolved, stored) = try coordinator.resolve(configuration, nil)
    let added = classes.filter { stored.index(named: $0.className) == nil }.map {
      ClassDescription(dynamic: $0.className, $0.allProperties, isEmbedded: $0.isEmbedded)
    }
    let all = added.isEmpty ? stored : ClassSet(dynamic: stored.descriptions + added)
    do { try SchemaValidation.validateNamed(all.schema) } catch {
      throw RLMError(.schemaMismatch, error.message, path: configuration.path)
    }
    self.init(try RealmInstance.open(resolved, all, in: CallingContext.current))
  }
}

extension Realm {
  /// Takes classes out again that were added and have no objects, in a transaction of its own.
  ///
  /// This Realm is of no use afterwards.
  package func remove(classes: [ObjectSchema]) throws(RLMError) {
    let result = catching { () throws(StoreError) in
      let transaction = try instance.coordinator.database.beginWrite()
      for type in classes {
        guard try transaction.table(StoredName.table(type.className))?.count == 0 else { continue }
        try SchemaChanger(transaction: transaction).drop(className: type.className)
      }
      _ = try transaction.commit()
    }
    if case .failure(let error) = result {
      throw RLMError(error, path: instance.configuration.path)
    }
  }
}

// Exclusivity is not checked: the key is loaded, and loading it calls nothing.
extension DynamicObject {
  /// The number of its row, by which objects without a primary key are told apart.
  package var rowKey: Int64 { unsafe key }

  /// The name of its class.
  package var className: String { objectSchema.className }
}

extension Realm {
  /// The object of the class with that name and that row; nil when there is none.
  package func dynamicObject(ofType typeName: String, rowKey: Int64) -> DynamicObject? {
    let access = instance.requiredAccess(named: typeName)
    return access.creation(of: rowKey) == nil ? nil : access.dynamicObject(forKey: rowKey)
  }

  /// Makes an object of a class that is known by name, whose row gets the number `rowKey` if that and all
  /// behind it were never used.
  ///
  /// Takes what ``dynamicCreate(_:value:update:)`` takes; the class has no primary key.
  package func dynamicCreate(
    _ typeName: String, value: [String: Any], rowKey: Int64
  ) -> DynamicObject {
    guard let session = unsafe instance.session else {
      return dynamicCreate(typeName, value: value)
    }
    let access = instance.requiredAccess(named: typeName)
    let creation = DynamicCreation(realm: instance, session: session)
    let object = creation.substituting { creation.object(of: access, value, rowKey: rowKey) }
    session.spillIfNeeded()
    return object
  }

  /// Assigns properties of an object whose class is known by name only, in a transaction.
  ///
  /// Takes what ``dynamicCreate(_:value:update:)`` takes: dictionaries become embedded objects. Stops at values
  /// of a wrong type.
  package func assign(_ values: [(property: Int, value: Any?)], to object: DynamicObject) {
    guard let session = unsafe instance.session else { return }
    DynamicCreation(realm: instance, session: session).substituting {
      for (property, value) in values { object.setValue(value, at: property) }
    }
  }

  /// The object of the class with that name and primary key; nil when there is none, or the key is of
  /// another type.
  package func dynamicObject(ofType typeName: String, primaryKey: Any?) -> DynamicObject? {
    let access = instance.requiredAccess(named: typeName)
    guard let index = access.stored.primaryKeyIndex,
      let key = access.key(forPrimaryKey: primaryKey, index)
    else { return nil }
    return access.dynamicObject(forKey: key)
  }
}
