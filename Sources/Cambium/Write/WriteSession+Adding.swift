import CambiumCore

extension WriteSession {
  /// Adds an object and all it links to, handling primary keys that are taken as `policy` says.
  func add(_ object: ObjectBase, _ policy: Realm.UpdatePolicy) {
    self.policy = policy
    skipsEqualValues = policy == .modified
    _ = adopt(object)
    drain()
    self.policy = .error
    skipsEqualValues = false
  }

  /// The key of `object`; an unmanaged one becomes managed and gets its row when ``drain()`` comes
  /// to it.
  func adopt(_ object: ObjectBase) -> Int64 {
    if object.isManaged { return keyOfManaged(object) }
    guard let access = realm.access(of: type(of: object)) else {
      stopAtForeignClass(type(of: object).className())
    }
    return attempt(0) { () throws(StoreError) in try adopt(object, access) }
  }

  private func keyOfManaged(_ object: ObjectBase) -> Int64 {
    if object.generation == ObjectBase.queuedGeneration, object.instance === realm {
      return object.key
    }
    guard let instance = object.instance, !object.isGone else {
      fatalError("Adding a deleted or invalidated object to a Realm is not permitted")
    }
    guard instance === realm else {
      fatalError(
        "Object is already managed by another Realm. Use create instead to copy it into this Realm."
      )
    }
    return object.key
  }

  private func adopt(
    _ object: ObjectBase, _ access: ClassAccess
  ) throws(StoreError) -> Int64 {
    let editor = try editor(access)
    var key: Int64?
    if let primaryKeyIndex = access.stored.primaryKeyIndex {
      let cell = primaryKeyCell(of: object, access, primaryKeyIndex)
      let existing = try existingKey(access, editor, primaryKeyIndex, cell)
      if let existing {
        guard policy != .error else {
          stopAtExistingKey(object, access, primaryKeyIndex)
        }
        if let created = creation(of: existing, access, editor) {
          access.bind(object, key: existing, created: created)
          // The row may have to come yet.
          object.generation = ObjectBase.queuedGeneration
          queue.append(Adoption(object: object, access: access, isNew: false))
          return existing
        }
      }
      if access.stored.isKeyPrimaryKey, case .int(let value) = cell {
        key = value
        queuedKeys.insert(QueuedKey(classIndex: access.index, key: value))
      } else {
        let generated = try editor.table.generateKey()
        key = generated
        if let form = editor.indexForm(primaryKeyIndex, cell) {
          _ = try editor.index(primaryKeyIndex).set(IndexKey.key(form, generated), [])
        }
      }
    }
    let newKey: Int64
    if let key { newKey = key } else { newKey = try editor.table.generateKey() }
    access.bind(object, key: newKey, created: editor.newCreation(of: newKey))
    object.generation = ObjectBase.queuedGeneration
    queue.append(Adoption(object: object, access: access, isNew: true))
    return newKey
  }

  // An object that waits for its row has its creation already.
  private func creation(of key: Int64, _ access: ClassAccess, _ editor: ClassEditor) -> Int64? {
    editor.creation(of: key) ?? editor.newCreation(of: key)
  }

  private func primaryKeyCell(
    of object: ObjectBase, _ access: ClassAccess, _ index: Int
  ) -> ColumnValue {
    let property = access.description.properties[index]
    keyRow.begin([.null])
    keyRow.position = 0
    if let unfit = object.extra?.unfitValues[index] {
      unfit._rlmWithScalarCell { keyRow.append($0) }
      return keyRow.cells[0]
    }
    property.wrapper.peek(object.storage + property.offset, to: keyRow)
    return keyRow.cells[0]
  }

  /// The key of the object with that primary key; nil when there is none.
  private func existingKey(
    _ access: ClassAccess, _ editor: ClassEditor, _ index: Int, _ cell: ColumnValue
  ) throws(StoreError) -> Int64? {
    if access.stored.isKeyPrimaryKey, case .int(let key) = cell {
      if editor.creation(of: key) != nil { return key }
      return queuedKeys.contains(QueuedKey(classIndex: access.index, key: key)) ? key : nil
    }
    guard let form = editor.indexForm(index, cell) else { return nil }
    return try PrimaryKeyIndex.find(form, in: try editor.index(index).tree) { key in
      realm.cellEquals(access, key, index, cell)
    }
  }

  private func stopAtExistingKey(
    _ object: ObjectBase, _ access: ClassAccess, _ index: Int
  ) -> Never {
    let value = access.description.properties[index].dynamicValue(of: object)
    fatalError(
      "Attempting to create an object of type '\(access.stored.name)' with an existing primary key "
        + "value '\(value.map { "\($0)" } ?? "(null)")'.")
  }

  /// Gives every adopted object its row.
  func drain() {
    if isDraining || queue.isEmpty { return }
    isDraining = true
    while queueStart < queue.count {
      let adoption = queue[queueStart]
      queueStart += 1
      if adoption.isNew {
        attempt { () throws(StoreError) in try insert(adoption.object, adoption.access) }
      } else {
        update(adoption.object, adoption.access)
      }
      spill()
    }
    queue.removeAll(keepingCapacity: true)
    queueStart = 0
    if !queuedKeys.isEmpty { queuedKeys.removeAll(keepingCapacity: queuedKeys.count <= 64) }
    isDraining = false
  }

  private func insert(_ object: ObjectBase, _ access: ClassAccess) throws(StoreError) {
    let editor = try editor(access)
    let storage = object.storage
    let properties = access.description.properties
    row.begin(editor.defaults)
    row.access = access
    for index in properties.indices where editor.positions[index] >= 0 {
      row.position = editor.positions[index]
      row.property = index
      if let unfit = object.takeUnfitValue(index) {
        unfit._rlmWithScalarCell { row.append($0) }
        continue
      }
      properties[index].wrapper.take(storage + properties[index].offset, to: row)
    }
    row.position = editor.createdPosition
    row.append(.int(object.created))
    let isNew = row.cells.withUnsafeBufferPointer { cells in
      catching { () throws(StoreError) in try editor.table.insert(key: object.key, values: cells) }
    }
    object.generation = 0
    guard try isNew.get() else {
      throw .damaged(
        Damage(.order, "class '\(access.stored.name)' already has a row \(object.key)"))
    }
    access.invalidateRows()
    access.noteMembership()
    try insertIndexEntries(object.key, access, editor)
    try insertBacklinks(object.key, access, editor)
    for index in access.collections {
      properties[index].collection?.attach(
        storage + properties[index].offset, to: object, index)
    }
  }

  /// Gives a dynamic class a new row with every property at its column's default, under `key` or, when
  /// that is nil, under a new one; its key.
  func insertBlank(
    _ access: ClassAccess, key: Int64?, primaryKey: ColumnValue?
  ) throws(StoreError) -> Int64 {
    let editor = try editor(access)
    let newKey: Int64
    if let key { newKey = key } else { newKey = try editor.table.generateKey() }
    row.begin(editor.defaults)
    row.position = editor.createdPosition
    row.append(.int(editor.newCreation(of: newKey)))
    if let primaryKey, let index = access.stored.primaryKeyIndex {
      row.position = editor.positions[index]
      row.append(primaryKey)
      if let form = editor.indexForm(index, primaryKey), editor.isIndexed[index] {
        _ = try editor.index(index).set(IndexKey.key(form, newKey), [])
      }
    }
    let isNew = row.cells.withUnsafeBufferPointer { cells in
      catching { () throws(StoreError) in try editor.table.insert(key: newKey, values: cells) }
    }
    guard try isNew.get() else {
      throw .damaged(
        Damage(.order, "class '\(access.stored.name)' already has a row \(newKey)"))
    }
    access.invalidateRows()
    access.noteMembership()
    try insertIndexEntries(newKey, access, editor)
    return newKey
  }

  private func insertIndexEntries(
    _ key: Int64, _ access: ClassAccess, _ editor: ClassEditor
  ) throws(StoreError) {
    for index in editor.indexed where index != access.stored.primaryKeyIndex {
      if let form = editor.indexForm(index, row.cells[editor.positions[index]]) {
        _ = try editor.index(index).set(IndexKey.key(form, key), [])
      }
    }
    try insertForeignEntries(key, editor)
  }

  private func insertBacklinks(
    _ key: Int64, _ access: ClassAccess, _ editor: ClassEditor
  ) throws(StoreError) {
    for index in editor.links {
      guard case .int(let target) = row.cells[editor.positions[index]],
        let targetClass = access.targets[index]
      else { continue }
      try backlinks(to: targetClass).add(
        BacklinkKey(
          target: target, table: access.stored.tableID, column: access.stored.columns[index],
          source: key))
    }
    for (position, targets) in row.listTargets {
      guard let index = editor.positions.firstIndex(of: position),
        let targetClass = access.targets[index]
      else { continue }
      let backlinks = try backlinks(to: targetClass)
      for target in targets {
        try backlinks.add(
          BacklinkKey(
            target: target, table: access.stored.tableID, column: access.stored.columns[index],
            source: key))
      }
    }
  }

  // The object was bound to a row that exists; its own values are still in its storage.
  private func update(_ object: ObjectBase, _ access: ClassAccess) {
    object.generation = 0
    let partial = partials[ObjectIdentifier(object)]
    for (index, property) in access.description.properties.enumerated() {
      if index == access.stored.primaryKeyIndex || property.property.isComputed { continue }
      if let partial, !partial.contains(index) {
        property.wrapper.discard(object.storage + property.offset)
        continue
      }
      if let unfit = object.takeUnfitValue(index) {
        unfit._rlmWithScalarCell { object.writeCell(access.head(index), $0) }
        continue
      }
      property.wrapper.takeAssigning(
        object.storage + property.offset, to: object, access.head(index))
    }
  }

  func stopAtForeignClass(_ name: String) -> Never {
    fatalError(
      "Object type '\(name)' is not managed by the Realm. If using a custom `objectClasses` / "
        + "`objectTypes` array in your configuration, add `\(name)` to the list of `objectClasses` "
        + "/ `objectTypes`.")
  }
}

/// Finds objects by primary keys that are not object keys.
enum PrimaryKeyIndex {
  /// The object whose value has `form`; `matches` decides where the form alone does not tell.
  static func find(
    _ form: [UInt8], in tree: KeyTree, _ matches: (Int64) -> Bool
  ) throws(StoreError) -> Int64? {
    var cursor = tree.cursor()
    var isValid = try cursor.seek(to: form)
    while isValid {
      let key = cursor.key
      guard key.count == form.count + 8, key.starts(with: form) else { return nil }
      if let object = IndexKey.objectKey(key), IndexKey.isExact(form) || matches(object) {
        return object
      }
      isValid = try cursor.next()
    }
    return nil
  }
}
