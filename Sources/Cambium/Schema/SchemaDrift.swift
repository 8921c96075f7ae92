import CambiumCore

/// What others have done to the classes of a Realm that was open meanwhile, as far as the Realm
/// cannot live with it.
///
/// It can live with classes and properties that came, and with indexes that came or went: rows that
/// it adds have defaults in columns that it does not know (``ForeignColumn``), and which columns have
/// an index it asks the version that it reads or changes. All that its own classes say must be as it
/// was, down to the numbers of tables and columns, which accessors and queries hold.
struct SchemaDrift {
  /// The differences, a line each.
  private(set) var lines: [String] = []

  /// Compares `classes`, which lie in tables as `stored` says, with the tables of `view`.
  init(
    _ classes: ClassSet, _ stored: StoredSchema, in view: some ReadTransaction
  ) throws(StoreError) {
    do throws(StoreError) {
      _ = try StoredFeatures(of: view, path: "")
    } catch .unsupportedFeature(_, let bits) {
      lines = [
        "- Features that this library does not know were put to use (bits 0x\(String(bits, radix: 16)))."
      ]
      return
    }
    let comparison = try SchemaComparison(classes, view)
    // A file that is only read may lack classes from the beginning.
    lines = comparison.newClasses.filter { stored[$0.name]?.isStored ?? false }
      .map { "- Class '\($0.name)' has been removed." }
    for change in comparison.knownClasses {
      lines += change.changes.compactMap { Self.line($0, change.description) }
    }
    if lines.isEmpty { try compareNumbers(stored, SchemaApplication.storedSchema(classes, view)) }
  }

  /// The error that says so; nil when there is no difference.
  func error(path: String) -> RLMError? {
    if lines.isEmpty { return nil }
    let text = ["Unsupported schema changes were made by another client or process:"] + lines
    return RLMError(
      .schemaMismatch,
      text.joined(separator: "\n")
        + "\nClose every Realm of '\(path)' in this program, and open it with classes that match.",
      path: path)
  }

  // What comparing calls a change of the file is one that others have taken back.
  private static func line(
    _ change: SchemaComparison.Change, _ description: ClassDescription
  ) -> String? {
    let prefix = { (index: Int) in
      "- Property '\(description.name).\(description.properties[index].property.name)' has been "
    }
    switch change {
    case .removed: return nil
    case .added(let index): return prefix(index) + "removed."
    case .madeOptional(let index, _): return prefix(index) + "made required."
    case .madeRequired(let index, _): return prefix(index) + "made optional."
    case .primaryKey(let new, let old):
      return SchemaComparison.primaryKeyLine(description, from: old, to: new)
    case .embedding(let old): return SchemaComparison.embeddingLine(description, !old)
    case .retyped(let index, let column):
      let old = description.properties[index].property.typeText
      return prefix(index)
        + "changed from '<\(old)>' to '<\(SchemaComparison.typeText(column))>'."
    }
  }

  private mutating func compareNumbers(_ old: StoredSchema, _ new: StoredSchema) {
    for (old, new) in zip(old.classes, new.classes) {
      guard old.tableID == new.tableID, old.createdColumn == new.createdColumn else {
        lines.append(
          "- Class '\(old.name)' has been \(old.isStored ? "removed and added again" : "added").")
        continue
      }
      for (index, property) in old.objectSchema.allProperties.enumerated()
      where old.columns[index] != new.columns[index] {
        lines.append(
          "- Property '\(old.name).\(property.name)' has been removed and added again.")
      }
    }
  }
}
