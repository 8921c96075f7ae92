import CambiumCore

/// Embedded objects of classes that the program need not know, by what the catalog says.
///
/// Pointers: a session names its Realm, which outlives it.
struct EmbeddedRows {
  let transaction: Transaction
  /// Edits the objects of classes that its Realm knows, of which accessors must learn.
  var session: WriteSession?

  /// Whether the class is in the file, and its objects live inside of others.
  func areObjects(of className: String) throws(StoreError) -> Bool {
    guard let table = try transaction.table(StoredName.table(className)) else { return false }
    return StoredClassAttributes(attributes: table.record.attributes)?.isEmbedded ?? false
  }

  private struct Row {
    var key: Int64
    var className: String
  }

  /// Removes an object with its index entries, its links, and the objects that live in it, however deep.
  ///
  /// The link that led to it is gone already.
  func remove(_ key: Int64, of className: String) throws(StoreError) {
    var rows = [Row(key: key, className: className)]
    // A row that is gone leads no further: in a crafted file objects may live in one another.
    while let row = rows.popLast() { try remove(row, &rows) }
  }

  /// Removes one object, and adds those that lived in it to `rows`.
  private func remove(_ row: Row, _ rows: inout [Row]) throws(StoreError) {
    let (key, className) = (row.key, row.className)
    var gone: [(link: Backlink, target: String)] = []
    guard let table = try transaction.editTable(StoredName.table(className)) else { return }
    for column in table.record.columns {
      guard let property = StoredProperty(attributes: column.attributes),
        let cell = try table.editor(of: column.id).value(key: key, column: column.id)
      else { continue }
      if property.hasIndex {
        try transaction.editKeyTree(StoredName.index(className, column.id))
          .removeEntry(of: cell, isSigned: property.type == .date, key)
      }
      if property.type == .any {
        let described = property.property(named: column.name)
        for link in try StoredElements.anyLinks(in: cell, described, transaction.source) {
          guard let target = try self.className(ofTable: link.table) else { continue }
          let backlink = Backlink(
            target: link.key, table: table.record.id, column: column.id, source: key)
          gone.append((backlink, target))
        }
      }
      guard property.type == .object, let target = property.objectClassName else { continue }
      for case let link? in try StoredElements.links(in: cell, transaction.source) {
        let backlink = Backlink(
          target: link, table: table.record.id, column: column.id, source: key)
        gone.append((backlink, target))
      }
    }
    try table.remove(key: key)
    for (link, target) in gone { try removeLink(link, to: target, &rows) }
  }

  /// The name of the class with that number; nil when there is none.
  func className(ofTable table: UInt32) throws(StoreError) -> String? {
    for name in try transaction.names(withPrefix: StoredName.tablePrefix) {
      if try transaction.table(name)?.record.id == table {
        return String(name.dropFirst(StoredName.tablePrefix.count))
      }
    }
    return nil
  }

  /// Forgets a link to an object of a class, and removes one that lives in that place.
  func removeLink(_ link: Backlink, to className: String) throws(StoreError) {
    var rows: [Row] = []
    try removeLink(link, to: className, &rows)
    for row in rows { try remove(row.key, of: row.className) }
  }

  private func removeLink(
    _ link: Backlink, to className: String, _ rows: inout [Row]
  ) throws(StoreError) {
    if let session, let index = unsafe session.realm.classSet.index(named: className) {
      return try session.removeLink(link, to: index)
    }
    // What only takes links away gathers nothing, so it need not be kept.
    try BacklinkEditor(transaction, toClass: className).remove(link)
    if try areObjects(of: className) { rows.append(Row(key: link.target, className: className)) }
  }
}
