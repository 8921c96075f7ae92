import CambiumCore

extension WriteSession {
  /// Deletes an object: its row, its index entries, its links, and the links that lead to it.
  func delete(_ key: Int64, _ access: ClassAccess) {
    attempt { () throws(StoreError) in
      let editor = try editor(access)
      guard let created = editor.creation(of: key) else { return }
      for index in editor.plan.indexed {
        let isRemoved = unsafe realm.withCell(access, key, index) { cell in
          catching { () throws(StoreError) in try editor.removeEntry(index, cell, key) }
        }
        try isRemoved.get()
      }
      for (index, property) in access.description.properties.enumerated() {
        if property.property.isLink {
          try updateBacklink(key, access, editor, index, .null)
        } else if property.property.isCollection {
          // Also of values of any type.
          try dropCollection(at: CollectionPlace(access: access, key: key, index: index))
        } else if property.property.type == .any {
          try updateAnyLinks(key, access, index, .null)
        }
      }
      try dropForeignEntries(key, editor)
      try dropIncomingLinks([key], access)
      try editor.table.remove(key: key)
      editor.noteDeletion(of: key, created: created)
      access.noteChange(.objects)
      touch(access.stored.tableID) { $0.delete(key) }
    }
    deleteOrphans()
    spillIfNeeded()
  }

  /// Deletes all objects of all classes of the Realm's schema.
  func deleteAll() {
    attempt { () throws(StoreError) in
      let known = unsafe Set(realm.declaredClasses.map(\.stored.tableName))
      let isWhole = try transaction.names(withPrefix: StoredName.tablePrefix)
        .allSatisfy { known.contains($0) }
      for access in unsafe realm.declaredClasses {
        // A class that this Realm does not know may link to its objects.
        if isWhole { try clear(access) } else { deleteEach(access) }
      }
    }
  }

  private func deleteEach(_ access: ClassAccess) {
    unsafe delete(realm.keys(of: access), access)
  }

  private func clear(_ access: ClassAccess) throws(StoreError) {
    try closeTrees(ofTable: access.stored.tableID)
    let editor = try editor(access)
    try editor.table.removeAll()
    editor.noteClearing()
    for index in editor.plan.indexed { try editor.index(index).removeAll() }
    try clearForeignIndexes(editor)
    if try hasBacklinks(to: access.index) { try backlinks(to: access.index).removeAll() }
    access.noteChange(.objects)
    touch(access.stored.tableID) { $0.becomeMany() }
  }
}
