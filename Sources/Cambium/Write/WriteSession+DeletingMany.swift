import CambiumCore

extension WriteSession {
  /// How many objects go at once: what was written for them is written ahead in between.
  private static let deletionBatchCount = 1 << 16

  /// Deletes many objects of a class: what ``delete(_:_:)`` does to each of them, tree by tree and in
  /// the order of each tree.
  func delete(_ keys: [Int64], _ access: ClassAccess) {
    if keys.count < 4 {
      for key in keys { delete(key, access) }
      return
    }
    let batches = Self.batches(of: keys)
    var count = 0
    for batch in batches {
      count += attempt(0) { () throws(StoreError) in try unlink(batch, access) }
      spillIfNeeded()
    }
    let isCleared = attempt(false) { () throws(StoreError) in
      let editor = try editor(access)
      guard count == editor.table.count else { return false }
      for index in editor.plan.indexed { try editor.index(index).removeAll() }
      try editor.table.removeAll()
      return true
    }
    for batch in isCleared ? [] : batches {
      attempt { () throws(StoreError) in try removeRows(batch, access) }
      spillIfNeeded()
    }
    access.noteChange(.objects)
    deleteOrphans()
  }

  /// The keys in ascending order, each once.
  private static func batches(of keys: [Int64]) -> [ArraySlice<Int64>] {
    var unique: [Int64] = []
    unique.reserveCapacity(keys.count)
    for key in keys.sorted() where unique.last != key { unique.append(key) }
    return stride(from: 0, to: unique.count, by: deletionBatchCount).map {
      unique[$0..<min($0 + deletionBatchCount, unique.count)]
    }
  }

  /// Takes the links from and to objects away; returns how many of the objects there are.
  private func unlink(
    _ keys: ArraySlice<Int64>, _ access: ClassAccess
  ) throws(StoreError) -> Int {
    let editor = try editor(access)
    var doomed = try doomedRows(keys, editor)
    if doomed.isEmpty { return 0 }
    for object in doomed { editor.noteDeletion(of: object.key, created: object.created) }
    touch(access.stored.tableID) { rows in
      for object in doomed { rows.delete(object.key) }
    }
    let keys = doomed.map(\.key)
    for index in access.layout.collections {
      for key in keys {
        try dropCollection(at: CollectionPlace(access: access, key: key, index: index))
      }
    }
    if !editor.plan.foreign.isEmpty {
      for key in keys { try dropForeignEntries(key, editor) }
    }
    // Closing a collection writes to its row.
    if !access.layout.collections.isEmpty || !editor.plan.foreign.isEmpty {
      doomed = try doomedRows(keys[...], editor)
    }
    try dropOutgoingLinks(doomed, access, editor)
    try dropIncomingLinks(keys, access)
    return keys.count
  }

  /// Removes rows that nothing links to any more, with their index entries.
  private func removeRows(_ keys: ArraySlice<Int64>, _ access: ClassAccess) throws(StoreError) {
    let editor = try editor(access)
    let doomed = try doomedRows(keys, editor)
    if doomed.isEmpty { return }
    try dropIndexEntries(doomed, access, editor)
    try editor.table.remove(keys: doomed.map(\.key))
  }

  /// An object that is to be deleted, and where it is while no row changes.
  private struct Doomed {
    var key: Int64
    var created: Int64
    var position: RowPosition
  }

  /// Finds the objects with these ascending keys, of which none occurs twice, leaving out those that are gone.
  private func doomedRows(
    _ keys: ArraySlice<Int64>, _ editor: ClassEditor
  ) throws(StoreError) -> [Doomed] {
    guard let tree = editor.table.table.groups.first else { return [] }
    var found: [Doomed] = []
    found.reserveCapacity(keys.count)
    var leaf: ColumnLeaf?
    for key in keys {
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
    for index in editor.plan.indexed {
      let entries = KeySorter(capacity: doomed.count, byteCount: doomed.count * 24)
      let isSigned = access.layout.shapes[index].type == .date
      try forEachCell(of: doomed, editor, index) { key, cell in
        IndexKey.add(cell, isSigned: isSigned, key, to: entries)
      }
      entries.sort()
      try editor.index(index).remove(entries)
    }
  }

  private func dropOutgoingLinks(
    _ doomed: [Doomed], _ access: ClassAccess, _ editor: ClassEditor
  ) throws(StoreError) {
    for index in editor.plan.links {
      guard let targetClass = access.targets[index] else { continue }
      var links: [Backlink] = []
      try forEachCell(of: doomed, editor, index) { key, cell in
        guard let target = cell.link else { return }
        links.append(
          Backlink(
            target: target, table: access.stored.tableID, column: access.stored.columns[index],
            source: key))
      }
      if links.isEmpty { continue }
      try backlinks(to: targetClass).remove(links)
      noteOrphans(links.lazy.map(\.target), ofClass: targetClass)
    }
    for index in editor.plan.anyValues
    where !access.description.properties[index].property.isCollection {
      var links: [(source: Int64, link: StoredAnyLink)] = []
      try forEachCell(of: doomed, editor, index) { key, cell in
        for link in StoredAny.links(in: cell) { links.append((key, link)) }
      }
      for (source, link) in links {
        let place = CollectionPlace(access: access, key: source, index: index)
        try removeLink(place.backlink(to: link.key), toTable: link.table)
      }
    }
  }

  private func forEachCell(
    of doomed: [Doomed], _ editor: ClassEditor, _ index: Int, _ body: (Int64, ColumnValue) -> Void
  ) throws(StoreError) {
    let access = editor.access
    let property = access.description.properties[index].property
    let column = access.stored.columns[index]
    guard let tree = editor.table.table.tree(of: column) else { return }
    let isElsewhere = access.layout.head(index).flags & _PersistedHead.laterGroup != 0
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
