import CambiumCore

/// A set of classes, how they are stored, and the layout of each: all that Realm instances of one
/// schema version share.
///
/// The coordinator keeps one for each set of classes, migrations have their own.
final class SchemaLayout: Sendable {
  /// The classes.
  let classSet: ClassSet
  /// How they are stored.
  let stored: StoredSchema
  /// The layouts, in the order of the set; behind them those of the file's other classes if they are asked for, or
  /// values of any type may be objects of them.
  let classes: [ClassLayout]

  /// Lays out `classSet`, which is stored as `stored` says, by the tables of `view`; of all tables where that
  /// `needsAll`.
  init(
    _ classSet: ClassSet, _ stored: StoredSchema, in view: some ReadTransaction,
    needsAll: Bool = false
  ) throws(StoreError) {
    self.classSet = classSet
    self.stored = stored
    var classes: [ClassLayout] = []
    for (index, description) in classSet.descriptions.enumerated() {
      guard let storedClass = stored[description.name] else {
        preconditionFailure("Class '\(description.name)' has no stored form.")
      }
      classes.append(
        ClassLayout(
          index, description, stored: storedClass,
          record: try view.table(storedClass.tableName)?.record
        ) { classSet.index(named: $0) })
    }
    if needsAll || classSet.hasAnyValues {
      classes += try ForeignClasses.layouts(
        besides: Set(classes.map(\.stored.tableID)), of: classSet, from: classes.count, in: view)
    }
    self.classes = classes
  }
}
