/// All classes of a snapshot.
struct Schema {
  private static let metadataName = "metadata"
  private static let versionName = "version"

  private(set) var tables: [ClassTable] = []
  private(set) var version: UInt64?

  /// The schema of an empty file.
  init() {}

  /// Reads the tables of classes, and the version that the table `metadata` holds.
  init(
    of root: SnapshotRoot, _ reader: ValueReader, path: String
  ) throws(ReadFault) {
    let walk = reader.makeWalk()
    let found = try root.tables(reader, walk)
    for table in found {
      let isClass = table.name.hasPrefix(ClassTable.namePrefix)
      guard isClass || table.name == Self.metadataName else { continue }
      let name = isClass ? String(table.name.dropFirst(ClassTable.namePrefix.count)) : table.name
      do throws(ReadFault) {
        let parsed = try ClassTable(
          walk.node(at: table.position), name: name, slot: table.slot, reader, walk)
        if isClass { tables.append(parsed) } else { version = try version(in: parsed, reader) }
      } catch {
        throw .file(error.error(path: path, className: name))
      }
    }
    for index in tables.indices { reader.classes[tables[index].key] = index }
    try resolveTargets(reader, path: path)
    if let name = repeatedName {
      throw root.node.damage("two tables have the name '\(ClassTable.namePrefix)\(name)'")
    }
  }

  private var repeatedName: String? {
    var names: Set<String> = []
    return tables.first { !names.insert($0.name).inserted }?.name
  }

  /// Finds the classes that links lead to.
  private mutating func resolveTargets(
    _ reader: ValueReader, path: String
  ) throws(ReadFault) {
    for index in tables.indices {
      for property in tables[index].columns.indices {
        let column = tables[index].columns[property]
        guard column.storage == .link else { continue }
        guard let target = reader.classes[column.targetKey] else {
          let fault = ReadFault.damage("it leads to a class that does not exist", position: nil)
          throw .file(
            fault.error(
              path: path, className: tables[index].name, propertyName: column.name))
        }
        tables[index].columns[property].target = target
      }
    }
  }

  /// The version that the only object of `metadata` has; nil when none was set.
  private func version(
    in table: ClassTable, _ reader: ValueReader
  ) throws(ReadFault) -> UInt64? {
    guard
      let column = table.columns.first(where: {
        $0.name == Self.versionName && $0.storage == .int && $0.collection == .none
      })
    else { return nil }
    let walk = reader.makeWalk()
    var leaves = ObjectLeaves(root: table.objects, .class, walk)
    guard let item = try leaves.next(), item.leaf.objectCount > 0 else { return nil }
    let values = try reader.values(of: column, in: item.leaf, walk)
    guard case .int(let number)? = values.first, number != -1 else { return nil }
    return UInt64(bitPattern: number)
  }
}
