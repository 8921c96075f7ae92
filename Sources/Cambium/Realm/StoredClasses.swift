import CambiumCore

/// The classes of a database as it describes them itself, for who has none of them.
extension Realm.Configuration {
  /// The program's classes; nil where the database's own are wanted.
  var declaredClasses: ClassSet? {
    usesStoredClasses ? nil : ClassRegistry.classes(objectTypes)
  }
}

extension Coordinator {
  /// A configuration with the classes to open it with: `declared`, or those of the newest version, and
  /// its schema version.
  func resolve(
    _ configuration: Realm.Configuration, _ declared: ClassSet?
  ) throws(RLMError) -> (Realm.Configuration, ClassSet) {
    if let declared { return (configuration, declared) }
    let result = catching { () throws(StoreError) in
      let snapshot = try database.snapshot()
      let set = try storedClasses(at: snapshot.layoutGeneration()) { () throws(StoreError) in
        try ClassSet(storedIn: snapshot)
      }
      return (set, try SchemaComparison.version(snapshot))
    }
    switch result {
    case .success(let (set, version)):
      var configuration = configuration
      configuration.schemaVersion = version ?? configuration.schemaVersion
      return (configuration, set)
    case .failure(let error): throw RLMError(error, path: configuration.path)
    }
  }
}

extension ClassSet {
  /// The classes of a version, as its catalog describes them.
  convenience init(storedIn view: some ReadTransaction) throws(StoreError) {
    var descriptions: [ClassDescription] = []
    for name in try view.names(withPrefix: StoredName.tablePrefix) {
      guard let record = try view.table(name)?.record else { continue }
      descriptions.append(ClassDescription(storedAs: name, record))
    }
    self.init(dynamic: descriptions)
  }
}
