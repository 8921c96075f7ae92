import CambiumCore

/// How the classes of a program differ from those in a file.
struct SchemaComparison {
  /// One difference of a class that is in the file.
  enum Change {
    case added(Int)
    case removed(ColumnDescriptor)
    case retyped(Int, ColumnDescriptor)
    case madeOptional(Int, ColumnDescriptor)
    case madeRequired(Int, ColumnDescriptor)
    case primaryKey(from: String?, to: String?)
    /// The objects come to live inside of others, or cease to.
    case embedding(Bool)
  }

  /// A class that is in the file, with all that differs.
  struct ClassChange {
    var description: ClassDescription
    var table: Table
    var changes: [Change] = []
    /// Properties whose index has to be made or dropped.
    var indexes: [(index: Int, column: ColumnDescriptor)] = []

    /// Whether the primary key becomes another property, or one of another type.
    var isRekeyed: Bool {
      changes.contains { change in
        switch change {
        case .primaryKey: true
        case .retyped(let index, _), .madeOptional(let index, _), .madeRequired(let index, _):
          index == description.primaryKeyIndex
        case .added, .removed, .embedding: false
        }
      }
    }
  }

  /// The version the file was last given; nil when it never was.
  let version: UInt64?
  /// Classes the file does not have.
  private(set) var newClasses: [ClassDescription] = []
  /// Classes it has.
  private(set) var knownClasses: [ClassChange] = []

  init(_ classes: ClassSet, _ view: some ReadTransaction) throws(StoreError) {
    version = try Self.version(view)
    for description in classes.descriptions {
      if let table = try view.table(StoredName.table(description.name)) {
        knownClasses.append(try Self.compare(description, table))
      } else {
        newClasses.append(description)
      }
    }
  }

  static func version(_ view: some ReadTransaction) throws(StoreError) -> UInt64? {
    guard let bytes = try view.value(StoredName.schemaVersion) else { return nil }
    guard bytes.count == 8 else {
      throw .damaged(Damage(.catalog, "the schema version has \(bytes.count) bytes"))
    }
    return bytes.enumerated().reduce(0) { $0 | UInt64($1.element) << UInt64($1.offset * 8) }
  }

  static func bytes(ofVersion version: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: version >> UInt64($0 * 8)) }
  }

  private static func compare(
    _ description: ClassDescription, _ table: Table
  ) throws(StoreError) -> ClassChange {
    var change = ClassChange(description: description, table: table)
    guard let attributes = StoredClassAttributes(attributes: table.record.attributes) else {
      throw .damaged(
        Damage(.catalog, "the attributes of class '\(description.name)' are unreadable"))
    }
    if attributes.isEmbedded != description.objectSchema.isEmbedded {
      change.changes.append(.embedding(description.objectSchema.isEmbedded))
    }
    var remaining: [String: ColumnDescriptor] = [:]
    var storedKey: String?
    for column in table.record.columns where column.name != StoredProperty.createdName {
      guard let stored = StoredProperty(attributes: column.attributes) else {
        throw .damaged(
          Damage(.catalog, "column '\(column.name)' of class '\(description.name)' is unreadable"))
      }
      remaining[column.name] = column
      if stored.isPrimaryKey { storedKey = column.name }
    }
    for (index, property) in description.properties.enumerated() {
      let property = property.property
      if property.isComputed { continue }
      guard let column = remaining.removeValue(forKey: property.columnName),
        let stored = StoredProperty(attributes: column.attributes)
      else {
        change.changes.append(.added(index))
        continue
      }
      compare(index, property, stored, column, &change)
    }
    for column in remaining.values.sorted(by: { $0.id < $1.id }) {
      change.changes.append(.removed(column))
    }
    comparePrimaryKey(storedKey, &change)
    return change
  }

  private static func compare(
    _ index: Int, _ property: Property, _ stored: StoredProperty, _ column: ColumnDescriptor,
    _ change: inout ClassChange
  ) {
    var wanted = StoredProperty(property)
    let isOptional = wanted.isOptional
    wanted.isOptional = stored.isOptional
    wanted.isIndexed = stored.isIndexed
    wanted.isPrimaryKey = stored.isPrimaryKey
    if wanted != stored {
      change.changes.append(.retyped(index, column))
    } else if property.type != .object, isOptional, !stored.isOptional {
      change.changes.append(.madeOptional(index, column))
    } else if property.type != .object, !isOptional, stored.isOptional {
      change.changes.append(.madeRequired(index, column))
    } else if property.isIndexed != stored.isIndexed, !property.isPrimaryKey {
      change.indexes.append((index, column))
    }
  }

  private static func comparePrimaryKey(_ stored: String?, _ change: inout ClassChange) {
    let key = change.description.primaryKeyIndex.map {
      change.description.properties[$0].property.columnName
    }
    if key != stored { change.changes.append(.primaryKey(from: stored, to: key)) }
  }

  // MARK: What it says

  /// Whether the file is just as the program wants it, apart from indexes.
  var isEqual: Bool { newClasses.isEmpty && knownClasses.allSatisfy(\.changes.isEmpty) }

  /// Classes with objects whose primary key changes.
  var rekeyedClasses: [ClassDescription] {
    knownClasses.filter { $0.isRekeyed && $0.table.count > 0 }.map(\.description)
  }

  /// Whether embedded objects lose places, or come to be embedded.
  func changesEmbedding(_ classes: ClassSet) -> Bool {
    let embedded = Set(classes.descriptions.filter(\.objectSchema.isEmbedded).map(\.name))
    return knownClasses.contains { change in
      change.changes.contains { item in
        switch item {
        case .embedding(let isEmbedded): isEmbedded
        case .removed(let column), .retyped(_, let column):
          StoredProperty(attributes: column.attributes)?.objectClassName.map(embedded.contains)
            ?? false
        case .added, .madeOptional, .madeRequired, .primaryKey: false
        }
      }
    }
  }

  /// Whether any index has to be made or dropped.
  var hasIndexChanges: Bool { knownClasses.contains { !$0.indexes.isEmpty } }

  /// Every difference that needs a migration, a line each.
  var lines: [String] {
    knownClasses.flatMap { change in change.changes.map { Self.line($0, change.description) } }
  }

  /// The same for what a file that is only read cannot bear: properties that it lacks or has
  /// otherwise.
  var linesForReading: [String] {
    knownClasses.flatMap { change in
      change.changes.compactMap { item in
        if case .removed = item { nil } else { Self.line(item, change.description) }
      }
    }
  }

  private static func line(_ change: Change, _ description: ClassDescription) -> String {
    let prefix = { (name: String) in "- Property '\(description.name).\(name)' has been " }
    let property = { (index: Int) in description.properties[index].property }
    switch change {
    case .added(let index): return prefix(property(index).name) + "added."
    case .removed(let column): return prefix(column.name) + "removed."
    case .madeOptional(let index, _): return prefix(property(index).name) + "made optional."
    case .madeRequired(let index, _): return prefix(property(index).name) + "made required."
    case .primaryKey(let old, let new): return primaryKeyLine(description, from: old, to: new)
    case .embedding(let isEmbedded): return embeddingLine(description, isEmbedded)
    case .retyped(let index, let column):
      return prefix(property(index).name)
        + "changed from '<\(typeText(column))>' to '<\(property(index).typeText)>'."
    }
  }

  static func primaryKeyLine(
    _ description: ClassDescription, from old: String?, to new: String?
  ) -> String {
    let prefix = "- Primary Key for class '\(description.name)' has "
    guard let old else { return prefix + "been added." }
    guard let new else { return prefix + "been removed." }
    return prefix + "changed from '\(old)' to '\(new)'."
  }

  static func embeddingLine(_ description: ClassDescription, _ isEmbedded: Bool) -> String {
    let (old, new) = isEmbedded ? ("TopLevel", "Embedded") : ("Embedded", "TopLevel")
    return "- Class '\(description.name)' has been changed from '\(old)' to '\(new)'."
  }

  static func typeText(_ column: ColumnDescriptor) -> String {
    StoredProperty(attributes: column.attributes)?.property(named: "").typeText ?? ""
  }
}
