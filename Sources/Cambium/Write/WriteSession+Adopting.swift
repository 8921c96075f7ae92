import CambiumCore

extension WriteSession {
  /// The key of `object`; an unmanaged one becomes managed and gets its row when ``drain()`` comes
  /// to it.
  func adopt(_ object: ObjectBase) -> Int64 {
    if object.isManaged {
      let key = keyOfManaged(object)
      checkIsFree(object, "Can't set link to existing managed embedded object")
      return key
    }
    guard let access = unsafe realm.access(of: type(of: object)) else {
      stopAtForeignClass(type(of: object).className())
    }
    return attempt(0) { () throws(StoreError) in try adopt(object, access) }
  }

  /// The key of `object`, which is added without an update policy if it is unmanaged.
  func adoptPlainly(_ object: ObjectBase) -> Int64 {
    unsafe policy = .error
    return adopt(object)
  }

  private func keyOfManaged(_ object: ObjectBase) -> Int64 {
    if unsafe object.generation == ObjectBase.queuedGeneration, unsafe object.instance === realm {
      return unsafe object.key
    }
    guard let instance = unsafe object.instance, !object.isGone else {
      fatalError("Adding a deleted or invalidated object to a Realm is not permitted")
    }
    guard unsafe instance === realm else {
      fatalError(
        "Object is already managed by another Realm. Use create instead to copy it into this Realm."
      )
    }
    return unsafe object.key
  }

  private func adopt(
    _ object: ObjectBase, _ access: ClassAccess
  ) throws(StoreError) -> Int64 {
    let editor = try editor(access)
    var key: Int64?
    if let primaryKey = editor.plan.primaryKey {
      let primaryKeyIndex = primaryKey.property
      let cell = primaryKeyCell(of: object, primaryKey)
      let existing = try existingKey(access, editor, primaryKeyIndex, cell)
      if let existing {
        guard unsafe policy != .error else {
          stopAtExistingKey(object, access, primaryKeyIndex)
        }
        if let created = creation(of: existing, access, editor) {
          access.bind(object, key: existing, created: created)
          // The row may have to come yet.
          unsafe object.generation = ObjectBase.queuedGeneration
          unsafe queue.append(Adoption(object: object, access: access, isNew: false))
          return existing
        }
      }
      if access.stored.isKeyPrimaryKey, case .int(let value) = cell {
        key = value
      } else {
        let generated = try editor.table.generateKey()
        key = generated
        try editor.insertEntry(primaryKeyIndex, cell, generated)
      }
    }
    let newKey: Int64
    if let key { newKey = key } else { newKey = try editor.table.generateKey() }
    access.bind(object, key: newKey, created: editor.newCreation(of: newKey))
    unsafe object.generation = ObjectBase.queuedGeneration
    unsafe queue.append(Adoption(object: object, access: access, isNew: true))
    return newKey
  }

  // An object that waits for its row has its creation already.
  private func creation(of key: Int64, _ access: ClassAccess, _ editor: ClassEditor) -> Int64? {
    editor.creation(of: key) ?? editor.newCreation(of: key)
  }

  private func primaryKeyCell(of object: ObjectBase, _ taker: WritePlan.Taker) -> ColumnValue {
    keyRow.beginOne()
    if unsafe object.extra != nil, let unfit = unsafe object.extra?.unfitValues[taker.property] {
      unfit._rlmWithScalarCell { keyRow.append($0) }
    } else {
      unsafe taker.wrapper.peek(object.storage + taker.offset, to: keyRow)
    }
    return unsafe keyRow.cells[0]
  }

  /// The key of the object with that primary key; nil when there is none.
  private func existingKey(
    _ access: ClassAccess, _ editor: ClassEditor, _ index: Int, _ cell: ColumnValue
  ) throws(StoreError) -> Int64? {
    if access.stored.isKeyPrimaryKey, case .int(let key) = cell {
      if editor.table.isUnused(key) { return isQueued(key, access) ? key : nil }
      if editor.creation(of: key) != nil { return key }
      return isQueued(key, access) ? key : nil
    }
    guard let form = editor.indexForm(index, cell) else { return nil }
    return try PrimaryKeyIndex.find(form, in: try editor.index(index).tree) { key in
      unsafe realm.cellEquals(access, key, index, cell)
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

  // MARK: Classes

  /// Stops unless `object` is of the class that a property links to: a key leads to one table, and its
  /// subclasses have others.
  ///
  /// Objects of other Realms are refused when they are adopted.
  func check(_ object: ObjectBase, isOf target: ClassAccess) {
    if object.isManaged {
      guard unsafe object.instance === realm else { return }
      let access = object.classAccess
      if access !== target { stopAtWrongClass(access.stored.name, target) }
    } else if type(of: object) != target.description.type {
      guard let access = unsafe realm.access(of: type(of: object)) else {
        stopAtForeignClass(type(of: object).className())
      }
      stopAtWrongClass(access.stored.name, target)
    }
  }

  /// The same for what is to be an element of a collection, if it is an object.
  @inline(__always) func check<Element>(
    _ element: Element, isOf target: ClassAccess?, in collectionName: @autoclosure () -> String
  ) {
    // The values of a map may be null.
    guard let target, let object = element as? ObjectBase else { return }
    check(object, isOf: target)
    checkIsFree(
      object, "Cannot add an existing managed embedded object to a \(collectionName()).")
  }

  /// The same for several.
  func check<Element>(
    _ elements: [Element], areOf target: ClassAccess?, in collectionName: @autoclosure () -> String
  ) {
    if target == nil { return }
    for element in elements { check(element, isOf: target, in: collectionName()) }
  }

  func stopAtWrongClass(_ name: String, _ target: ClassAccess) -> Never {
    fatalError("Can't set object of type '\(name)' to property of type '\(target.stored.name)'")
  }

  func stopAtForeignClass(_ name: String) -> Never { unsafe realm.stopAtForeignClass(name) }
}
