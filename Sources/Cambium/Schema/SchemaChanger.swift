import CambiumCore

/// Adds classes, properties and indexes to a file, and takes them away.
struct SchemaChanger {
  let transaction: Transaction

  func apply(_ comparison: SchemaComparison) throws(StoreError) {
    for description in comparison.newClasses { try create(description) }
    for change in comparison.knownClasses { try apply(change) }
  }

  private func create(_ description: ClassDescription) throws(StoreError) {
    var columns = [
      ColumnDescriptor(
        type: .int, isNullable: false, name: StoredProperty.createdName,
        attributes: StoredProperty.created)
    ]
    for property in description.properties.map(\.property) where !property.isComputed {
      columns.append(
        ColumnDescriptor(
          type: property.columnType, isNullable: property.isColumnNullable,
          name: property.columnName, attributes: StoredProperty(property).attributes))
    }
    _ = try transaction.createTable(
      StoredName.table(description.name), columns: columns,
      attributes: StoredClassAttributes(isEmbedded: description.objectSchema.isEmbedded).attributes)
  }

  private func apply(_ change: SchemaComparison.ClassChange) throws(StoreError) {
    if change.changes.isEmpty, change.indexes.isEmpty { return }
    let name = StoredName.table(change.description.name)
    let isRekeyed = change.isRekeyed
    if isRekeyed, change.table.count == 0 {
      for column in change.table.record.columns { try dropIndex(change.description, column.id) }
      _ = try transaction.drop(name)
      try create(change.description)
      return
    }
    guard let table = try transaction.editTable(name) else { return }
    if isRekeyed { try removePrimaryKey(change.description, table) }
    for item in change.changes { try apply(item, change.description, table) }
    if isRekeyed { try removePrimaryKey(change.description, table) }
    for (index, column) in change.indexes {
      let property = change.description.properties[index].property
      table.setAttributes(StoredProperty(property).attributes, ofColumn: column.id)
      if property.isIndexed {
        try buildIndex(change.description, index, column.id, table)
      } else {
        try dropIndex(change.description, column.id)
      }
    }
  }

  private func apply(
    _ change: SchemaComparison.Change, _ description: ClassDescription, _ table: TableEditor
  ) throws(StoreError) {
    switch change {
    case .added(let index): try add(description, index, table)
    case .removed(let column): try remove(description, column, table)
    case .retyped(let index, let column), .madeRequired(let index, let column):
      try remove(description, column, table)
      try add(description, index, table)
    case .madeOptional(let index, let column):
      try widen(description, index, column, table)
    case .embedding(let isEmbedded):
      table.attributes = StoredClassAttributes(isEmbedded: isEmbedded).attributes
    case .primaryKey: break
    }
  }

  // MARK: Primary keys

  /// Makes all properties ordinary ones, until the migration is over.
  private func removePrimaryKey(
    _ description: ClassDescription, _ table: TableEditor
  ) throws(StoreError) {
    for column in table.record.columns {
      guard var stored = StoredProperty(attributes: column.attributes), stored.isPrimaryKey else {
        continue
      }
      stored.isPrimaryKey = false
      table.setAttributes(stored.attributes, ofColumn: column.id)
      try dropIndex(description, column.id)
      guard stored.isIndexed,
        let index = description.properties.firstIndex(where: {
          $0.property.columnName == column.name
        })
      else { continue }
      try buildIndex(description, index, column.id, table)
    }
  }

  /// Makes the class's primary key one, after its values were checked.
  func finishPrimaryKey(_ description: ClassDescription) throws(StoreError) {
    guard let index = description.primaryKeyIndex,
      let table = try transaction.editTable(StoredName.table(description.name))
    else { return }
    let property = description.properties[index].property
    guard let column = table.record.column(named: property.columnName) else { return }
    table.setAttributes(StoredProperty(property).attributes, ofColumn: column.id)
    try dropIndex(description, column.id)
    if property.type == .int, !property.isOptional { return }
    try buildIndex(description, index, column.id, table)
  }

  // MARK: Classes

  /// Takes a class out of the file that no other class of the program knows.
  func drop(className: String) throws(StoreError) {
    guard let table = try transaction.editTable(StoredName.table(className)) else { return }
    for column in table.record.columns {
      guard let stored = StoredProperty(attributes: column.attributes) else { continue }
      _ = try transaction.drop(StoredName.index(className, column.id))
      if stored.type == .object, let target = stored.objectClassName, target != className {
        try dropBacklinks(from: column.id, table, to: target)
      } else if stored.type == .any {
        for name in try transaction.names(withPrefix: StoredName.tablePrefix) {
          let target = String(name.dropFirst(StoredName.tablePrefix.count))
          if target != className { try dropBacklinks(from: column.id, table, to: target) }
        }
      }
    }
    _ = try transaction.drop(StoredName.backlinks(className))
    _ = try transaction.drop(StoredName.table(className))
  }

  // MARK: Columns

  @discardableResult
  private func add(
    _ description: ClassDescription, _ index: Int, _ table: TableEditor
  ) throws(StoreError) -> UInt16 {
    let property = description.properties[index].property
    let id = try table.addColumn(
      name: property.columnName, type: property.columnType, isNullable: property.isColumnNullable,
      attributes: StoredProperty(property).attributes)
    if StoredProperty(property).isIndexed { try buildIndex(description, index, id, table) }
    return id
  }

  private func remove(
    _ description: ClassDescription, _ column: ColumnDescriptor, _ table: TableEditor
  ) throws(StoreError) {
    try dropIndex(description, column.id)
    if let stored = StoredProperty(attributes: column.attributes) {
      let property = stored.property(named: column.name)
      if property.type == .object, let target = property.objectClassName {
        try dropBacklinks(from: column.id, table, to: target)
      } else if property.type == .any {
        for name in try transaction.names(withPrefix: StoredName.tablePrefix) {
          let className = String(name.dropFirst(StoredName.tablePrefix.count))
          try dropBacklinks(from: column.id, table, to: className)
        }
      }
    }
    try table.removeColumn(column.id)
  }

  /// Makes a property optional with its values kept.
  private func widen(
    _ description: ClassDescription, _ index: Int, _ column: ColumnDescriptor, _ table: TableEditor
  ) throws(StoreError) {
    let property = description.properties[index].property
    if property.isCollection {
      // The form of a list is the same with and without null elements.
      table.setAttributes(StoredProperty(property).attributes, ofColumn: column.id)
      return
    }
    table.renameColumn(column.id, to: "$old")
    let id = try table.addColumn(
      name: property.columnName, type: property.columnType, isNullable: true,
      attributes: StoredProperty(property).attributes)
    for key in try table.allKeys() {
      if let value = try table.editor(of: column.id).value(key: key, column: column.id) {
        try table.update(key: key, column: id, value: value)
        try transaction.spillIfNeeded()
      }
    }
    try dropIndex(description, column.id)
    try table.removeColumn(column.id)
    if StoredProperty(property).isIndexed { try buildIndex(description, index, id, table) }
  }

  private func dropBacklinks(
    from column: UInt16, _ table: TableEditor, to className: String
  ) throws(StoreError) {
    let name = StoredName.backlinks(className)
    guard try transaction.keyTree(name) != nil else { return }
    try BacklinkEditor(transaction, toClass: className)
      .removeAll(from: column, of: table.record.id)
  }

  // MARK: Indexes

  private func buildIndex(
    _ description: ClassDescription, _ index: Int, _ column: UInt16, _ table: TableEditor
  ) throws(StoreError) {
    let tree = try transaction.editKeyTree(StoredName.index(description.name, column))
    let isSigned = description.properties[index].property.type == .date
    try table.buildIndex(
      of: column, isSigned: isSigned, keys: try table.allKeys(), into: tree)
  }

  private func dropIndex(
    _ description: ClassDescription, _ column: UInt16
  ) throws(StoreError) {
    _ = try transaction.drop(StoredName.index(description.name, column))
  }
}
