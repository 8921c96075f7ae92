import CambiumCore

/// The classes of a file that a Realm was not opened with, as the catalog describes them.
///
/// Values of any type may be objects of them, which are ``DynamicObject``.
enum ForeignClasses {
  /// Layouts of the classes of `view` whose tables are not among `known`, numbered from `first` on.
  ///
  /// Links among them, and to `declared` classes, which are numbered from 0 on, lead where they lead.
  static func layouts(
    besides known: Set<UInt32>, of declared: ClassSet, from first: Int,
    in view: some ReadTransaction
  ) throws(StoreError) -> [ClassLayout] {
    var found: [(description: ClassDescription, record: TableRecord)] = []
    for name in try view.names(withPrefix: StoredName.tablePrefix) {
      guard let record = try view.table(name)?.record, !known.contains(record.id) else { continue }
      found.append((ClassDescription(storedAs: name, record), record))
    }
    let places = Dictionary(
      found.enumerated().map { ($1.description.name, first + $0) },
      uniquingKeysWith: { first, _ in first })
    return found.enumerated().map { place, item in
      ClassLayout(
        first + place, item.description,
        stored: StoredClass(item.description.objectSchema, storedIn: item.record),
        record: item.record
      ) { name in declared.index(named: name) ?? places[name] }
    }
  }
}

extension RealmInstance {
  /// The class whose table has that number, one that the Realm was not opened with, too; nil when there
  /// is none.
  func access(ofTable table: UInt32) -> ClassAccess? {
    if let known = unsafe classes.first(where: { $0.stored.tableID == table }) { return known }
    // Whoever was there when the Realm was opened is known. Others may have come since.
    if unsafe isFrozen || comparedLayout.generation == foreignGeneration { return nil }
    foreignGeneration = unsafe comparedLayout.generation
    let layouts = reading { () throws(StoreError) in
      try unsafe ForeignClasses.layouts(
        besides: Set(classes.map(\.stored.tableID)), of: classSet, from: unsafe classes.count,
        in: view)
    }
    append(layouts)
    return unsafe classes.first { $0.stored.tableID == table }
  }

  /// The class with that name, also one that the Realm was not opened with, as far as it has met it.
  func anyAccess(named name: String) -> ClassAccess? {
    unsafe access(named: name) ?? classes.last { $0.stored.name == name }
  }
}
