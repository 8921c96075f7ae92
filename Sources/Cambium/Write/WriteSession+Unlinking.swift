import CambiumCore

extension WriteSession {
  /// Takes objects that are about to go, in ascending order, out of every property that links to them.
  ///
  /// Property by property and source by source: a list is walked once, however many of them it holds.
  func dropIncomingLinks(_ keys: [Int64], _ access: ClassAccess) throws(StoreError) {
    guard try hasBacklinks(to: access.index) else { return }
    var links = try backlinks(to: access.index).takeAll(to: keys)
    if links.isEmpty { return }
    links.sort(by: Backlink.areInOrderOfSources)
    var rest = links[...]
    while let first = rest.first {
      let end = rest.firstIndex { $0.table != first.table || $0.column != first.column }
      try dropLinks(of: rest[..<(end ?? rest.endIndex)], first, toTable: access.stored.tableID)
      rest = rest[(end ?? rest.endIndex)...]
    }
  }

  /// Takes links out of the one property that all of them are of, as `first` is.
  private func dropLinks(
    of links: ArraySlice<Backlink>, _ first: Backlink, toTable target: UInt32
  ) throws(StoreError) {
    guard let name = try tableName(first.table), let table = try transaction.editTable(name),
      let column = table.record.columns.first(where: { $0.id == first.column })
    else { return }
    let sources = unsafe realm.classes.filter { $0.stored.tableID == first.table }
    // Opening the editor makes reads go through it.
    for access in sources { _ = try editor(access) }
    let property = StoredProperty(attributes: column.attributes)
    if let property, property.type == .any {
      let targets = Set(links.map { StoredAnyLink(table: target, key: $0.target) })
      for source in Set(links.map(\.source)).sorted() {
        try dropAnyLinks(to: targets, of: source, column, property, table)
      }
    } else if column.type == .int {
      for link in links {
        try table.update(key: link.source, column: link.column, value: .null)
        touch(first.table) { $0.assign(first.column, link.source) }
      }
    } else {
      var rest = links
      while let source = rest.first?.source {
        let end = rest.firstIndex { $0.source != source } ?? rest.endIndex
        let collection = CollectionEditor(
          session: self, table: table, key: source, column: first.column, type: .int,
          hasKeys: property?.isMap ?? false)
        let positions = try collection.removeLinks(
          to: Set(rest[..<end].map(\.target)), count: rest[..<end].count,
          isSet: property?.isSet ?? false)
        touch(first.table) { rows in
          if collection.hasKeys { return rows.assign(first.column, source) }
          rows.edit(TouchedRows.CollectionKey(column: first.column, owner: source)) { edits in
            for position in positions.reversed() { edits.remove(position..<position + 1) }
          }
        }
        rest = rest[end...]
      }
    }
    for access in sources { access.noteChange(.column(first.column)) }
  }
}
