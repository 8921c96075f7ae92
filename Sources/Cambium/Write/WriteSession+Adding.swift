import CambiumCore

extension WriteSession {
  /// Adds an object and all it links to, handling primary keys that are taken as `policy` says.
  func add(_ object: ObjectBase, _ policy: Realm.UpdatePolicy) {
    unsafe self.policy = policy
    unsafe skipsEqualValues = policy == .modified
    _ = adopt(object)
    drain()
    unsafe self.policy = .error
    unsafe skipsEqualValues = false
  }

  /// Gives every adopted object its row.
  func drain() {
    if unsafe isDraining || queue.isEmpty { return }
    unsafe isDraining = true
    while unsafe queueStart < queue.count {
      let adoption = unsafe queue[queueStart]
      unsafe queueStart += 1
      if adoption.isNew {
        attempt { () throws(StoreError) in try insert(adoption.object, adoption.access) }
      } else {
        update(adoption.object, adoption.access)
      }
      spill()
    }
    clearQueue()
    unsafe isDraining = false
  }

  private func insert(_ object: ObjectBase, _ access: ClassAccess) throws(StoreError) {
    let editor = try editor(access)
    // Borrowed for the whole row: what is read anew each time is counted each time.
    let (row, storage) = unsafe (row, object.storage)
    row.begin(editor.plan.defaults)
    unsafe row.access = access
    let mayBeUnfit = unsafe object.extra != nil
    unsafe editor.plan.takers.withUnsafeBufferPointer { takers in
      var iterator = unsafe takers.makeIterator()
      while let taker = unsafe iterator.next() {
        unsafe row.position = taker.position
        unsafe row.property = taker.property
        if mayBeUnfit, let unfit = object.takeUnfitValue(taker.property) {
          unfit._rlmWithScalarCell { row.append($0) }
          continue
        }
        unsafe taker.wrapper.take(storage + taker.offset, to: row)
      }
    }
    unsafe row.position = editor.plan.createdPosition
    row.append(.int(object.created))
    let isNew = unsafe row.cells.withUnsafeBufferPointer { cells in
      catching { () throws(StoreError) in
        try unsafe editor.table.insert(key: object.key, values: cells)
      }
    }
    unsafe object.generation = 0
    guard try isNew.get() else { throw unsafe Self.isTaken(object.key, access) }
    try unsafe noteInsertion(object.key, access, editor)
    let collections = access.layout.collections
    if collections.isEmpty { return }
    let properties = access.description.properties
    for index in collections {
      unsafe properties[index].collection?.attach(
        storage + properties[index].offset, to: object, index)
    }
  }

  /// Gives a dynamic class a new row under `key` or, when that is nil, under a new one; its key.
  ///
  /// `fill` writes cells, each after setting the row's position; all others have their column's default.
  func insertRow(
    _ access: ClassAccess, key: Int64?, primaryKey: ColumnValue?,
    fill: (_RowWriter, _ positions: [Int]) -> Void = { _, _ in }
  ) throws(StoreError) -> Int64 {
    let editor = try editor(access)
    let newKey: Int64
    if let key { newKey = key } else { newKey = try editor.table.generateKey() }
    beginRow(newKey, access, editor)
    if let primaryKey, let index = access.stored.primaryKeyIndex {
      unsafe row.position = editor.plan.positions[index]
      row.append(primaryKey)
      if editor.plan.isIndexed[index] { try editor.insertEntry(index, primaryKey, newKey) }
    }
    fill(row, editor.plan.positions)
    guard try endRow(newKey, access, editor) else { throw Self.isTaken(newKey, access) }
    return newKey
  }

  /// Begins a row under `key` with the defaults of all columns: whoever calls it sets cells, each after the
  /// row's position, and then calls ``endRow(_:_:_:)``.
  func beginRow(_ key: Int64, _ access: ClassAccess, _ editor: ClassEditor) {
    row.begin(editor.plan.defaults)
    unsafe row.access = access
    unsafe row.position = editor.plan.createdPosition
    row.append(.int(editor.newCreation(of: key)))
  }

  /// Puts the row into its table, with its index entries but that under the primary key, and what its links
  /// ask for; false, and nothing has changed, when the key is taken.
  func endRow(
    _ key: Int64, _ access: ClassAccess, _ editor: ClassEditor
  ) throws(StoreError) -> Bool {
    let isNew = unsafe row.cells.withUnsafeBufferPointer { cells in
      catching { () throws(StoreError) in try unsafe editor.table.insert(key: key, values: cells) }
    }
    guard try isNew.get() else { return false }
    try noteInsertion(key, access, editor)
    return true
  }

  /// Follows up on a new row, which has its index entry under the primary key.
  private func noteInsertion(
    _ key: Int64, _ access: ClassAccess, _ editor: ClassEditor
  ) throws(StoreError) {
    access.noteChange(.objects)
    touch(access.stored.tableID) { $0.insert(key) }
    try insertIndexEntries(key, access, editor)
    try insertBacklinks(key, access, editor)
  }

  private static func isTaken(_ key: Int64, _ access: ClassAccess) -> StoreError {
    .damaged(Damage(.order, "class '\(access.stored.name)' already has a row \(key)"))
  }

  private func insertIndexEntries(
    _ key: Int64, _ access: ClassAccess, _ editor: ClassEditor
  ) throws(StoreError) {
    for index in editor.plan.indexed where index != access.stored.primaryKeyIndex {
      try unsafe editor.insertEntry(index, row.cells[editor.plan.positions[index]], key)
    }
    try insertForeignEntries(key, editor)
  }

  private func insertBacklinks(
    _ key: Int64, _ access: ClassAccess, _ editor: ClassEditor
  ) throws(StoreError) {
    for index in editor.plan.links {
      guard case .int(let target) = unsafe row.cells[editor.plan.positions[index]],
        let targetClass = access.targets[index]
      else { continue }
      try backlinks(to: targetClass).add(
        Backlink(
          target: target, table: access.stored.tableID, column: access.stored.columns[index],
          source: key))
    }
    if !editor.plan.anyValues.isEmpty { try insertAnyLinks(key, access, editor) }
    for (position, targets) in unsafe row.listTargets {
      guard let index = editor.plan.positions.firstIndex(of: position),
        let targetClass = access.targets[index]
      else { continue }
      let backlinks = try backlinks(to: targetClass)
      for target in targets {
        try backlinks.add(
          Backlink(
            target: target, table: access.stored.tableID, column: access.stored.columns[index],
            source: key))
      }
    }
  }

  // The object was bound to a row that exists; its own values are still in its storage.
  private func update(_ object: ObjectBase, _ access: ClassAccess) {
    unsafe object.generation = 0
    let partial = unsafe partials[ObjectIdentifier(object)]
    for (index, property) in access.description.properties.enumerated() {
      if index == access.stored.primaryKeyIndex || property.property.isComputed { continue }
      if let partial, !partial.contains(index) {
        unsafe property.wrapper.discard(object.storage + property.offset)
        continue
      }
      if let unfit = object.takeUnfitValue(index) {
        unfit._rlmWithScalarCell { object.writeCell(access.layout.head(index), $0) }
        continue
      }
      unsafe property.wrapper.takeAssigning(
        object.storage + property.offset, to: object, access.layout.head(index))
    }
  }
}
