import CambiumCore

// Values of any type may be, or hold, objects of any class, which a link names by the number of its table.
extension WriteSession {
  /// Notes a link to an object of the class with that number.
  func addLink(_ link: Backlink, toTable table: UInt32) throws(StoreError) {
    guard let target = unsafe realm.access(ofTable: table) else { return }
    try backlinks(to: target.index).add(link)
  }

  /// Forgets a link to an object of the class with that number.
  func removeLink(_ link: Backlink, toTable table: UInt32) throws(StoreError) {
    guard let target = unsafe realm.access(ofTable: table) else { return }
    try removeLink(link, to: target.index)
  }

  /// Brings the links from a property of any type up to date, which is about to hold `cell`.
  func updateAnyLinks(
    _ key: Int64, _ access: ClassAccess, _ index: Int, _ cell: ColumnValue
  ) throws(StoreError) {
    let place = CollectionPlace(access: access, key: key, index: index)
    let old = unsafe realm.withCell(access, key, index) { StoredAny.links(in: $0) }
    for link in old { try removeLink(place.backlink(to: link.key), toTable: link.table) }
    for link in StoredAny.links(in: cell) {
      try addLink(place.backlink(to: link.key), toTable: link.table)
    }
  }

  /// Notes the links of a new row from properties of any type and collections of them.
  func insertAnyLinks(
    _ key: Int64, _ access: ClassAccess, _ editor: ClassEditor
  ) throws(StoreError) {
    for index in editor.plan.anyValues {
      let place = CollectionPlace(access: access, key: key, index: index)
      let links =
        unsafe access.description.properties[index].property.isCollection
        ? row.anyLinks.filter { $0.position == editor.plan.positions[index] }.map(\.link)
        : unsafe StoredAny.links(in: row.cells[editor.plan.positions[index]])
      for link in links { try addLink(place.backlink(to: link.key), toTable: link.table) }
    }
  }

  /// Takes links to objects that are about to go out of a property of any type, or a collection of them.
  func dropAnyLinks(
    to targets: Set<StoredAnyLink>, of key: Int64, _ column: ColumnDescriptor,
    _ property: StoredProperty, _ table: TableEditor
  ) throws(StoreError) {
    guard !property.isArray, !property.isSet, !property.isMap else {
      let collection = CollectionEditor(
        session: self, table: table, key: key, column: column.id, type: .bytes,
        hasKeys: property.isMap)
      let (removed, changed) = try collection.removeLinks(to: targets)
      touch(table.record.id) { rows in
        guard property.isArray else { return rows.assign(column.id, key) }
        rows.edit(TouchedRows.CollectionKey(column: column.id, owner: key)) { edits in
          for position in changed { edits.assign(position) }
          for position in removed.reversed() { edits.remove(position..<position + 1) }
        }
      }
      return
    }
    touch(table.record.id) { $0.assign(column.id, key) }
    guard let cell = try table.editor(of: column.id).value(key: key, column: column.id),
      var value = StoredAny(cell), value.removeLinks(to: targets)
    else { return }
    try value.withStoreCell { cell throws(StoreError) in
      _ = try table.update(key: key, column: column.id, value: cell)
    }
  }
}
