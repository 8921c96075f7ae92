import CambiumCore

extension WriteSession {
  /// Deletes many objects of a class: what ``delete(_:_:)`` does to each of them, tree by tree and in
  /// the order of each tree.
  func delete(_ keys: [Int64], _ access: ClassAccess) {
    if keys.count < 4 {
      for key in keys { delete(key, access) }
      return
    }
    attempt { () throws(StoreError) in
      let editor = try editor(access)
      var doomed = try doomedRows(keys.sorted(), editor)
      if doomed.isEmpty { return }
      for index in access.collections {
        for object in doomed { try dropList(object.key, access, index) }
      }
      if !editor.foreign.isEmpty {
        for object in doomed { try dropForeignEntries(object.key, editor) }
      }
      // Closing a list writes to its row.
      if !access.collections.isEmpty || !editor.foreign.isEmpty {
        doomed = try doomedRows(doomed.map(\.key), editor)
      }
      try dropOutgoingLinks(doomed, access, editor)
      if try hasBacklinks(to: access.index) {
        for object in doomed { try dropIncomingLinks(object.key, access) }
      }
      if doomed.count == editor.table.count {
        for index in editor.indexed { try editor.index(index).removeAll() }
        try editor.table.removeAll()
      } else {
        // Links that led here may have changed the rows.
        doomed = try doomedRows(doomed.map(\.key), editor)
        try dropIndexEntries(doomed, access, editor)
        try editor.table.remove(keys: doomed.map(\.key))
      }
      for object in doomed { editor.noteDeletion(of: object.key, created: object.created) }
      access.invalidateRows()
      access.noteMembership()
    }
  }

  /// An object that is to be deleted, and where it is while no row changes.
  private struct Doomed {
    var key: Int64
    var created: Int64
    var position: RowPosition
  }

  /// Finds the objects with these ascending keys, leaving out those that are gone.
  private func doomedRows(
    _ keys: [Int64], _ editor: ClassEditor
  ) throws(StoreError) -> [Doomed] {
    guard let tree = editor.table.table.groups.first else { return [] }
    var found: [Doomed] = []
    found.reserveCapacity(keys.count)
    var leaf: ColumnLeaf?
    for key in keys where found.last?.key != key {
      var position: RowPosition?
      if let leaf, let row = leaf.find(key) {
        position = RowPosition(leaf: leaf, row: row, index: -1)
      } else {
        position = try tree.seek(key)
      }
      guard let position else { continue }
      leaf = position.leaf
      found.append(
        Doomed(key: key, created: editor.access.creation(at: position), position: position))
    }
    return found
  }

  private func dropIndexEntries(
    _ doomed: [Doomed], _ access: ClassAccess, _ editor: ClassEditor
  ) throws(StoreError) {
    for index in editor.indexed {
      var entries: [[UInt8]] = []
      entries.reserveCapacity(doomed.count)
      try forEachCell(of: doomed, editor, index) { key, cell in
        if let form = editor.indexForm(index, cell) { entries.append(IndexKey.key(form, key)) }
      }
      entries.sort { $0.lexicographicallyPrecedes($1) }
      let tree = try editor.index(index)
      for entry in entries { _ = try tree.remove(entry) }
    }
  }

  private func dropOutgoingLinks(
    _ doomed: [Doomed], _ access: ClassAccess, _ editor: ClassEditor
  ) throws(StoreError) {
    for index in editor.links {
      guard let targetClass = access.targets[index] else { continue }
      var links: [BacklinkKey] = []
      try forEachCell(of: doomed, editor, index) { key, cell in
        guard let target = cell.link else { return }
        links.append(
          BacklinkKey(
            target: target, table: access.stored.tableID, column: access.stored.columns[index],
            source: key))
      }
      if !links.isEmpty { try backlinks(to: targetClass).removeSingle(links) }
    }
  }

  private func forEachCell(
    of doomed: [Doomed], _ editor: ClassEditor, _ index: Int, _ body: (Int64, ColumnValue) -> Void
  ) throws(StoreError) {
    let access = editor.access
    let property = access.description.properties[index].property
    let column = access.stored.columns[index]
    guard let tree = editor.table.table.tree(of: column) else { return }
    let isElsewhere = access.head(index).flags & PersistedHead.laterGroup != 0
    for object in doomed {
      guard let position = isElsewhere ? try tree.seek(object.key) : object.position else {
        continue
      }
      try position.leaf.withCell(
        column, property.columnType, position.row, tree, isNullable: property.isColumnNullable
      ) { body(object.key, $0) }
    }
  }
}
