import CambiumCore

/// A column of a property that the class does not have: another program has added it since the Realm
/// was opened.
///
/// New rows have its default. Its index, its links and its lists are kept true all the same, because
/// whoever knows the property relies on them.
struct ForeignColumn {
  let id: UInt16
  /// Where its cell is among the table's columns.
  let position: Int
  let property: Property
  let hasIndex: Bool

  /// The columns among `columns` that `stored` does not know.
  static func columns(
    of columns: [ColumnDescriptor], besides stored: StoredClass
  ) -> [ForeignColumn] {
    columns.enumerated().compactMap { position, column in
      guard column.id != stored.createdColumn, !stored.columns.contains(column.id),
        let property = StoredProperty(attributes: column.attributes)
      else { return nil }
      return ForeignColumn(
        id: column.id, position: position, property: property.property(named: column.name),
        hasIndex: property.hasIndex)
    }
  }
  /// Whether its wide values have a signed high word.
  var isSigned: Bool { property.type == .date }
}

extension WriteSession {
  /// Enters a new row with its defaults into the indexes of foreign columns.
  func insertForeignEntries(_ key: Int64, _ editor: ClassEditor) throws(StoreError) {
    for column in editor.plan.foreign where column.hasIndex {
      try foreignIndex(column, editor)
        .insertEntry(of: editor.plan.defaults[column.position], isSigned: column.isSigned, key)
    }
  }

  /// Takes a row that is about to go out of the indexes of foreign columns, and out of the backlinks
  /// of what they link to.
  func dropForeignEntries(_ key: Int64, _ editor: ClassEditor) throws(StoreError) {
    for column in editor.plan.foreign {
      let cells = editor.table.editor(of: column.id)
      if column.hasIndex, let cell = try cells.value(key: key, column: column.id) {
        try foreignIndex(column, editor).removeEntry(of: cell, isSigned: column.isSigned, key)
      }
      if column.property.type == .object || column.property.type == .any {
        try dropForeignLinks(key, column, editor)
      }
    }
  }

  /// Empties the indexes of foreign columns.
  func clearForeignIndexes(_ editor: ClassEditor) throws(StoreError) {
    for column in editor.plan.foreign where column.hasIndex {
      try foreignIndex(column, editor).removeAll()
    }
  }

  private func foreignIndex(
    _ column: ForeignColumn, _ editor: ClassEditor
  ) throws(StoreError) -> KeyTreeEditor {
    try transaction.editKeyTree(StoredName.index(editor.access.stored.name, column.id))
  }

  private func dropForeignLinks(
    _ key: Int64, _ column: ForeignColumn, _ editor: ClassEditor
  ) throws(StoreError) {
    let table = editor.table.record.id
    try CollectionEditor(
      session: self, table: editor.table, key: key, column: column.id, type: .int,
      hasKeys: column.property.isMap
    ).close()
    guard let cell = try editor.table.editor(of: column.id).value(key: key, column: column.id)
    else { return }
    if column.property.type == .any {
      for link in try StoredElements.anyLinks(in: cell, column.property, transaction.source) {
        let backlink = Backlink(target: link.key, table: table, column: column.id, source: key)
        try removeLink(backlink, toTable: link.table)
      }
      return
    }
    let targets = try StoredElements.links(in: cell, transaction.source).compactMap(\.self)
    guard !targets.isEmpty, let name = column.property.objectClassName else { return }
    for target in targets {
      let link = Backlink(target: target, table: table, column: column.id, source: key)
      try EmbeddedRows(transaction: transaction, session: self).removeLink(link, to: name)
    }
  }
}
