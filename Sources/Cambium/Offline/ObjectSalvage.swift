import CambiumCore

/// Makes indexes and backlinks of a salvaged store anew, and takes out links to lost objects.
///
/// Works on what the catalog says, without the program's classes, inside the transaction that wrote
/// the classes' tables.
///
/// Pointers: keys of a map are copied into an array, which is lent while they are stored again.
package struct ObjectSalvage {
  private let transaction: Transaction
  private var losses: [SalvageReport.Loss] = []

  package init(transaction: Transaction) { self.transaction = transaction }

  /// Whether what stands under `name` follows from the objects.
  package static func isDerived(_ name: String) -> Bool {
    name.hasPrefix("index/") || name.hasPrefix("backlinks/")
  }

  /// Does it; returns which links are lost.
  package mutating func run() throws(StoreError) -> [SalvageReport.Loss] {
    for name in try transaction.names(withPrefix: StoredName.tablePrefix) {
      guard let table = try transaction.editTable(name) else { continue }
      for column in table.record.columns {
        guard let property = StoredProperty(attributes: column.attributes) else { continue }
        if property.type == .object, let target = property.objectClassName {
          try mendLinks(className(name), table, column, property, to: target)
        } else if property.type == .any {
          try mendValues(className(name), table, column, property)
        }
      }
    }
    try removeOrphans()
    try buildIndexes()
    let features = try StoredFeatures(of: transaction, path: "").union(.current)
    try transaction.setValue(StoredName.features, features.bytes)
    return losses
  }

  private func className(_ tableName: String) -> String {
    String(tableName.dropFirst(StoredName.tablePrefix.count))
  }

  // MARK: Embedded objects

  /// Takes out embedded objects whose owners are lost: nothing leads to them.
  private mutating func removeOrphans() throws(StoreError) {
    let rows = EmbeddedRows(transaction: transaction)
    let names = try transaction.names(withPrefix: StoredName.tablePrefix)
    var counts: [(name: String, table: TableEditor, count: Int)] = []
    for name in names where try rows.areObjects(of: className(name)) {
      if let table = try transaction.editTable(name) { counts.append((name, table, table.count)) }
    }
    for (name, table, _) in counts {
      let owners = try transaction.editKeyTree(StoredName.backlinks(className(name)))
      for key in try table.allKeys() {
        if try Backlinks.links(in: owners.tree, BacklinkGroup.prefix(target: key)).isEmpty {
          try rows.remove(key, of: className(name))
        }
      }
    }
    // What an orphan owned went with it.
    for (name, table, count) in counts where table.count < count {
      losses.append(
        SalvageReport.Loss(
          name: name, keys: "embedded objects", rowCount: count - table.count,
          reason: "the objects in which they lived are lost"))
    }
  }

  // MARK: Indexes

  private func buildIndexes() throws(StoreError) {
    for name in try transaction.names(withPrefix: StoredName.tablePrefix) {
      guard let table = try transaction.editTable(name) else { continue }
      for column in table.record.columns {
        guard let property = StoredProperty(attributes: column.attributes) else { continue }
        // An integer primary key that is always there is the object's key.
        let isKey = property.isPrimaryKey && property.type == .int && !property.isOptional
        if (property.isIndexed || property.isPrimaryKey) && !isKey {
          try buildIndex(className(name), table, column, isSigned: property.type == .date)
        }
      }
    }
  }

  private func buildIndex(
    _ className: String, _ table: TableEditor, _ column: ColumnDescriptor, isSigned: Bool
  ) throws(StoreError) {
    let tree = try transaction.editKeyTree(StoredName.index(className, column.id))
    try table.buildIndex(
      of: column.id, isSigned: isSigned, keys: try table.allKeys(), into: tree)
  }

  // MARK: Links

  private mutating func mendLinks(
    _ className: String, _ table: TableEditor, _ column: ColumnDescriptor,
    _ property: StoredProperty, to targetName: String
  ) throws(StoreError) {
    let target = try transaction.editTable(StoredName.table(targetName))
    var backlinks: BacklinkEditor?
    if target != nil {
      backlinks = try BacklinkEditor(transaction, toClass: targetName)
    }
    var lostCount = 0
    for key in try table.allKeys() {
      let links = try links(of: key, table, column)
      var kept: [Int64?] = []
      for link in links {
        guard let link else {
          kept.append(nil)
          continue
        }
        if try target?.editor(of: target?.record.columns.first?.id ?? 0).contains(key: link)
          ?? false
        {
          kept.append(link)
          try backlinks?.add(
            Backlink(target: link, table: table.record.id, column: column.id, source: key))
        } else if property.isMap {
          // The key stays.
          kept.append(nil)
        }
      }
      let lost = links.lazy.filter { $0 != nil }.count - kept.lazy.filter { $0 != nil }.count
      if lost > 0 {
        lostCount += lost
        try replace(kept, key, table, column, property)
      }
    }
    try backlinks?.settle()
    guard lostCount > 0 else { return }
    losses.append(
      SalvageReport.Loss(
        name: StoredName.table(className), keys: "links of property \(column.name)",
        rowCount: nil, reason: "\(lostCount) objects of \(targetName) to which they led are lost"))
  }

  /// Takes lost objects out of values of any type, and notes the links that are left.
  private mutating func mendValues(
    _ className: String, _ table: TableEditor, _ column: ColumnDescriptor,
    _ property: StoredProperty
  ) throws(StoreError) {
    let described = property.property(named: column.name)
    var targets: [UInt32: (table: TableEditor, backlinks: BacklinkEditor)] = [:]
    for name in try transaction.names(withPrefix: StoredName.tablePrefix) {
      guard let target = try transaction.editTable(name) else { continue }
      targets[target.record.id] = (
        target, try BacklinkEditor(transaction, toClass: self.className(name))
      )
    }
    var lostCount = 0
    for key in try table.allKeys() {
      let cell = try table.editor(of: column.id).value(key: key, column: column.id) ?? .null
      let links = try StoredElements.anyLinks(in: cell, described, transaction.source)
      var lost: Set<StoredAnyLink> = []
      for link in links {
        guard let (target, backlinks) = targets[link.table],
          try target.editor(of: target.record.columns.first?.id ?? 0).contains(key: link.key)
        else {
          lost.insert(link)
          lostCount += 1
          continue
        }
        try backlinks.add(
          Backlink(target: link.key, table: table.record.id, column: column.id, source: key))
      }
      if !lost.isEmpty { try removeLinks(to: lost, key, table, column, property) }
    }
    for (_, backlinks) in targets.values { try backlinks.settle() }
    guard lostCount > 0 else { return }
    losses.append(
      SalvageReport.Loss(
        name: StoredName.table(className), keys: "links of property \(column.name)",
        rowCount: nil, reason: "\(lostCount) objects to which they led are lost"))
  }

  private func removeLinks(
    to lost: Set<StoredAnyLink>, _ key: Int64, _ table: TableEditor, _ column: ColumnDescriptor,
    _ property: StoredProperty
  ) throws(StoreError) {
    let cell = try table.editor(of: column.id).value(key: key, column: column.id) ?? .null
    guard property.isArray || property.isSet || property.isMap else {
      var value = StoredAny(cell) ?? .none
      _ = value.removeLinks(to: lost)
      return try value.withStoreCell { cell throws(StoreError) in
        _ = try table.update(key: key, column: column.id, value: cell)
      }
    }
    // In a list that it were, links would be taken out; in a map they become null.
    var values: [StoredAny] = []
    try StoredElements(cell, .bytes, transaction.source)?.forEach { element in
      var value = StoredAny(element) ?? .none
      let wasLost = value.removeLinks(to: lost) && value == .none
      if !wasLost || property.isMap { values.append(value) }
    }
    let cells = NestedElements(.list(identifier: 0, values))
    defer { withExtendedLifetime(cells) {} }
    let (bytes, ranges) = try keys(of: key, table, column, .bytes)
    try unsafe bytes.withBytes { bytes throws(StoreError) in
      let keys = ranges.map {
        unsafe ColumnValue.bytes(UnsafeRawBufferPointer(rebasing: bytes[$0]))
      }
      try store(cells.cells, keys: property.isMap ? keys : nil, .bytes, key, table, column)
    }
  }

  /// The targets of one object's property; nil for null elements of a list.
  private func links(
    of key: Int64, _ table: TableEditor, _ column: ColumnDescriptor
  ) throws(StoreError) -> [Int64?] {
    guard let cell = try table.editor(of: column.id).value(key: key, column: column.id) else {
      return []
    }
    return try StoredElements.links(in: cell, transaction.source)
  }

  private func replace(
    _ links: [Int64?], _ key: Int64, _ table: TableEditor, _ column: ColumnDescriptor,
    _ property: StoredProperty
  ) throws(StoreError) {
    guard column.type == .bytes else {
      _ = try table.update(key: key, column: column.id, value: .null)
      return
    }
    let elements = links.map { link in link.map { ColumnValue.int($0) } ?? .null }
    guard property.isMap else { return try store(elements, keys: nil, .int, key, table, column) }
    let (bytes, ranges) = try keys(of: key, table, column, .int)
    try unsafe bytes.withBytes { bytes throws(StoreError) in
      let keys = ranges.map {
        unsafe ColumnValue.bytes(UnsafeRawBufferPointer(rebasing: bytes[$0]))
      }
      try store(elements, keys: keys, .int, key, table, column)
    }
  }

  private func store(
    _ elements: [ColumnValue], keys: [ColumnValue]?, _ type: ColumnType, _ key: Int64,
    _ table: TableEditor, _ column: ColumnDescriptor
  ) throws(StoreError) {
    try StoredList.withCell(of: elements, keys: keys, type, in: transaction.context) {
      cell throws(StoreError) in
      _ = try table.update(key: key, column: column.id, value: cell)
    }
  }

  /// The keys of an object's map, one behind the other.
  private func keys(
    of key: Int64, _ table: TableEditor, _ column: ColumnDescriptor, _ type: ColumnType
  ) throws(StoreError) -> (bytes: [UInt8], ranges: [Range<Int>]) {
    var bytes: [UInt8] = []
    var ranges: [Range<Int>] = []
    let cell = try table.editor(of: column.id).value(key: key, column: column.id) ?? .null
    try unsafe StoredElements(cell, type, transaction.source)?.forEachKey { key, _ in
      ranges.append(bytes.count..<bytes.count + key.count)
      unsafe bytes += key
      return true
    }
    return (bytes, ranges)
  }
}
