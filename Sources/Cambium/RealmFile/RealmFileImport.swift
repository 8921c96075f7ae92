#if RealmFile
  import CambiumCore
  internal import CambiumRealmFile

  /// Brings the objects of a `.realm` file into a Realm that has its classes and no objects of them, in one
  /// transaction.
  ///
  /// Reads the file once, from class to class. A link needs no second look: what its target is called here
  /// follows from the file. Memory is taken for a part of each column of one leaf, and for the transaction's
  /// budget.
  struct RealmFileImport {
    // Exclusivity is not checked: the Realm and its transaction have one user here, and no access to them
    // is held over a call.
    let file: RealmFile
    let schema: RealmFileSchema
    let realm: RealmInstance
    /// Told how far it is; throws to end it.
    let progress: (Realm.ImportProgress) throws -> Void

    /// The classes here, by their numbers in the file; nil for those that are left out.
    static func targets(
      _ file: RealmFile, _ schema: RealmFileSchema, _ realm: RealmInstance
    ) -> [ClassAccess?] {
      var targets: [ClassAccess?] = Array(repeating: nil, count: file.classes.count)
      for place in schema.places { targets[place] = realm.access(named: file.classes[place].name) }
      return targets
    }

    /// Imports in the running transaction of the Realm.
    ///
    /// Throws `Realm.Error`, `RealmFileError`, or what ``progress`` throws; the transaction has to be
    /// cancelled then.
    func run() throws {
      guard let session = unsafe realm.session else { return }
      let targets = Self.targets(file, schema, realm)
      let cells = RealmFileCells(file: file, targets: targets, session: session)
      for place in schema.places {
        guard let access = targets[place] else { continue }
        try run(place, access, cells, session)
      }
      try storeErrors { () throws(StoreError) in
        if let version = file.schemaVersion {
          try session.transaction.setValue(
            StoredName.schemaVersion, SchemaComparison.bytes(ofVersion: version))
        }
        session.settle()
      }
      for place in schema.places {
        guard let access = targets[place] else { continue }
        try checkPrimaryKeys(place, access, session)
        if access.stored.isEmbedded { try checkOwners(access, session) }
      }
      if let failure = unsafe session.failure {
        throw RLMError(failure, path: realm.configuration.path)
      }
    }

    private func run(
      _ place: Int, _ access: ClassAccess, _ cells: RealmFileCells, _ session: WriteSession
    ) throws {
      let type = file.classes[place]
      var state = Realm.ImportProgress(
        stage: .importing, className: type.name, completed: 0, total: type.objectCount)
      try progress(state)
      let columns = RealmFileColumn.columns(access, type, file)
      let key = access.stored.isKeyPrimaryKey ? type.primaryKey : nil
      try file.forEachLeaf(of: place) { leaf in
        let windows = columns.map { RealmFileWindow(leaf, $0.source) }
        let keys = key.map { RealmFileWindow(leaf, $0) }
        let editor = try storeErrors { () throws(StoreError) in try session.editor(access) }
        for (index, objectKey) in leaf.keys.enumerated() {
          var rowKey = objectKey
          if let keys, case .int(let value) = try keys.value(index) { rowKey = value }
          session.beginRow(rowKey, access, editor)
          for (column, window) in zip(columns, windows) {
            unsafe session.row.position = editor.plan.positions[column.index]
            let value = try window.value(index)
            if column.isCollection {
              try cells.appendCollection(value, of: column, to: session.row)
            } else {
              try cells.append(value, of: column, to: session.row)
            }
          }
          guard try endRow(rowKey, access, editor, session) else {
            throw duplicate("\(rowKey)", access)
          }
          session.spill()
        }
        state.completed += leaf.keys.count
        try progress(state)
      }
      guard state.completed == type.objectCount else {
        throw damage(
          type.name, "there are \(state.completed) objects where \(type.objectCount) are promised")
      }
    }

    /// Puts the row into its table, with all its index entries; false when the key is taken.
    private func endRow(
      _ key: Int64, _ access: ClassAccess, _ editor: ClassEditor, _ session: WriteSession
    ) throws -> Bool {
      try storeErrors { () throws(StoreError) in
        if let index = access.stored.primaryKeyIndex, editor.plan.isIndexed[index] {
          try unsafe editor.insertEntry(
            index, session.row.cells[editor.plan.positions[index]], key)
        }
        return try session.endRow(key, access, editor)
      }
    }

    // MARK: What has to hold

    /// Two objects with the same primary key lie side by side in its index.
    private func checkPrimaryKeys(
      _ place: Int, _ access: ClassAccess, _ session: WriteSession
    ) throws {
      guard let index = access.stored.primaryKeyIndex, !access.stored.isKeyPrimaryKey else {
        return
      }
      let name = access.stored.indexName(index)
      let hasDuplicate = try storeErrors { () throws(StoreError) in
        guard let tree = try session.transaction.keyTree(name) else { return false }
        var cursor = tree.cursor()
        var isValid = try cursor.seekFirst()
        var last: [UInt8] = []
        while isValid {
          let form = Array(cursor.key.dropLast(8))
          if form == last { return true }
          last = form
          isValid = try cursor.next()
        }
        return false
      }
      if hasDuplicate { throw duplicate(nil, access) }
    }

    /// Every embedded object has one owner; those that nothing holds are gone for programs, and go here.
    private func checkOwners(_ access: ClassAccess, _ session: WriteSession) throws {
      let found = try storeErrors { () throws(StoreError) -> (orphans: [Int64], isShared: Bool) in
        guard let rows = access.currentTable()?.groups.first else { return ([], false) }
        // Both are walked side by side: the rows, and the links that lead to them.
        var keys = RowKeys(rows)
        var orphans: [Int64] = []
        var isShared = false
        var last: Int64?
        if let tree = try session.transaction.keyTree(StoredName.backlinks(access.stored.name)) {
          try Backlinks.forEach(in: tree, []) { group, run throws(StoreError) in
            isShared = run.count > 1 || last == group.target
            last = group.target
            while let key = try keys.next(below: group.target) { orphans.append(key) }
            _ = try keys.next(below: group.target &+ 1)
            return !isShared
          }
        }
        while let key = try keys.next(below: .max) { orphans.append(key) }
        return (orphans, isShared)
      }
      if found.isShared { throw damage(access.stored.name, "an embedded object has two owners") }
      session.delete(found.orphans, access)
    }

    /// The keys of a table's rows, ascending.
    private struct RowKeys {
      private var cursor: ColumnLeafCursor
      private var isValid: Bool?
      private var row = 0

      init(_ tree: ColumnTree) { cursor = tree.leafCursor() }

      /// The next key, if it is below `limit`.
      mutating func next(below limit: Int64) throws(StoreError) -> Int64? {
        var isValid: Bool
        if let known = self.isValid { isValid = known } else { isValid = try cursor.first() }
        while isValid, row >= cursor.leaf.rowCount {
          isValid = try cursor.next()
          row = 0
        }
        self.isValid = isValid
        guard isValid else { return nil }
        let key = cursor.leaf.key(at: row)
        guard key < limit else { return nil }
        row += 1
        return key
      }
    }

    private func duplicate(_ value: String?, _ access: ClassAccess) -> RLMError {
      damage(
        "\(access.stored.name).\(access.stored.objectSchema.primaryKeyProperty?.name ?? "")",
        value.map { "two objects have the primary key \($0)" }
          ?? "two objects have the same primary key")
    }

    private func damage(_ place: String, _ what: String) -> RLMError {
      RLMError(damageIn: place, what, path: file.path)
    }

    /// Runs `body`; its error concerns the Realm that is written.
    private func storeErrors<Result>(
      _ body: () throws(StoreError) -> Result
    ) throws(RLMError) -> Result {
      do throws(StoreError) {
        return try body()
      } catch {
        throw RLMError(error, path: realm.configuration.path)
      }
    }
  }
#endif
