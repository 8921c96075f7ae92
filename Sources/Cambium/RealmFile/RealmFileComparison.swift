#if RealmFile
  import CambiumCore
  internal import CambiumRealmFile

  /// Compares what was imported with the `.realm` file, object by object and value by value.
  ///
  /// Reads both anew: the file, and the version that was committed. What it expects of a value is said here
  /// a second time, by itself.
  ///
  /// Pointers: the bytes of cells are lent by the leaf that is read, for the length of a call.
  final class RealmFileComparison {
    // Exclusivity is not checked: the Realm has one user here, who only reads.
    let file: RealmFile
    let schema: RealmFileSchema
    let realm: RealmInstance
    /// Told how far it is; throws to end it.
    let progress: (Realm.ImportProgress) throws -> Void
    /// The classes here, by their numbers in the file; nil for those that are left out.
    let targets: [ClassAccess?]

    init(
      _ file: RealmFile, _ schema: RealmFileSchema, _ realm: RealmInstance,
      progress: @escaping (Realm.ImportProgress) throws -> Void
    ) {
      self.file = file
      self.schema = schema
      self.realm = realm
      self.progress = progress
      targets = RealmFileImport.targets(file, schema, realm)
    }

    /// How many objects each class has, in the order of the schema; throws at the first difference.
    func run() throws -> [Int] {
      try schema.places.map { place in
        guard let access = targets[place] else { throw difference("the class is not there", place) }
        return try run(place, access)
      }
    }

    private func run(_ place: Int, _ access: ClassAccess) throws -> Int {
      let type = file.classes[place]
      var state = Realm.ImportProgress(
        stage: .comparing, className: type.name, completed: 0, total: type.objectCount)
      try progress(state)
      let columns = RealmFileColumn.columns(access, type, file)
      guard columns.count == type.properties.count else {
        throw difference("a property is not there", place)
      }
      let key = access.stored.isKeyPrimaryKey ? type.primaryKey : nil
      var found = 0
      try file.forEachLeaf(of: place) { leaf in
        let windows = columns.map { RealmFileWindow(leaf, $0.source) }
        let keys = key.map { RealmFileWindow(leaf, $0) }
        for (index, objectKey) in leaf.keys.enumerated() {
          var rowKey = objectKey
          if let keys, case .int(let value) = try keys.value(index) { rowKey = value }
          guard let row = access.seek(rowKey) else {
            // Nothing holds it, so that no program could reach it; who holds one is asked for it.
            if access.stored.isEmbedded { continue }
            throw difference("object \(objectKey) is not there", place)
          }
          found += 1
          for (column, window) in zip(columns, windows) {
            guard try isEqual(window.value(index), column, row, rowKey, access) else {
              throw difference(
                "'\(column.property.name)' of object \(objectKey) is not what the file has", place)
            }
          }
        }
        state.completed += leaf.keys.count
        try progress(state)
      }
      guard found == access.count else {
        throw difference("there are \(access.count) objects where \(found) belong", place)
      }
      return found
    }

    private func isEqual(
      _ value: RealmFileValue, _ column: RealmFileColumn, _ row: RowPosition,
      _ key: Int64, _ access: ClassAccess
    ) throws -> Bool {
      let id = access.stored.columns[column.index]
      let result: Result<Bool, any Error> = realm.reading { () throws(StoreError) in
        guard let table = access.currentTable(), let tree = table.tree(of: id) else {
          return .success(false)
        }
        // All columns of the first group stand in one row.
        let isFirst = access.layout.head(column.index).flags & _PersistedHead.laterGroup == 0
        guard let position = isFirst ? row : try tree.seek(key) else { return .success(false) }
        return try position.leaf.withCell(
          id, column.columnType, position.row, tree, isNullable: column.isColumnNullable
        ) { cell in
          Result { try self.isEqual(value, cell, column, tree.source) }
        }
      }
      return try result.get()
    }

    private func isEqual(
      _ value: RealmFileValue, _ cell: ColumnValue, _ column: RealmFileColumn, _ source: PageSource
    ) throws -> Bool {
      guard column.isCollection else { return try isEqual(value, cell, column) }
      guard let elements = StoredElements(cell, column.elementType, source) else { return false }
      switch value {
      case .list(var values):
        if column.type == .object { values = try values.filter { try leads($0) } }
        if column.property.isSet { return try isEqual(set: values, elements, column) }
        guard values.count == elements.count else { return false }
        return try allEqual(elements, values, column)
      case .dictionary(let entries):
        let entries = Self.sorted(entries)
        guard entries.count == elements.count else { return false }
        var areEqual = true
        try unsafe elements.forEachKey { key, position in
          unsafe areEqual = key.elementsEqual(entries[position].key)
          return areEqual
        }
        return try areEqual && allEqual(elements, entries.map(\.value), column)
      default: return false
      }
    }

    private func allEqual(
      _ elements: StoredElements, _ values: [RealmFileValue], _ column: RealmFileColumn
    ) throws -> Bool {
      var result: Result<Bool, any Error> = .success(true)
      try elements.forEach { cell, position throws(StoreError) in
        result = Result { try isEqual(values[position], cell, column) }
        if case .success(true) = result { return true }
        return false
      }
      return try result.get()
    }

    /// Sets have an order of their own, and each value once: what the file tells apart and a set here does not,
    /// such as 1 and 1.0, is one.
    private func isEqual(
      set values: [RealmFileValue], _ elements: StoredElements, _ column: RealmFileColumn
    ) throws -> Bool {
      var expected: Set<[UInt8]?> = []
      for value in values { expected.insert(try scalar(value)?.orderedKey) }
      guard expected.count == elements.count else { return false }
      var areEqual = true
      try elements.forEach { cell, _ throws(StoreError) in
        let stored = StoredAny(cell, of: column.type, targetTable(column))
        areEqual = expected.remove(stored.orderedKey) != nil
        return areEqual
      }
      return areEqual
    }

    private func targetTable(_ column: RealmFileColumn) -> UInt32 {
      column.target.flatMap { targets[$0]?.stored.tableID } ?? 0
    }

    private func difference(_ what: String, _ place: Int) -> RLMError {
      RLMError(
        .fail,
        "What was imported from '\(file.path)' is not the same: in class '\(file.classes[place].name)' "
          + "\(what). Nothing was kept; report it with the file, if it may be shown.",
        path: realm.configuration.path)
    }
  }
#endif
