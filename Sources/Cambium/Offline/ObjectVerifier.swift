import CambiumCore

/// Proves that what the object layer keeps twice agrees: indexes with the rows they serve, backlinks
/// with the links they mirror, links with the objects they lead to; and that sets are in order.
///
/// Works on what the catalog says, without the program's classes. The trees themselves must be sound;
/// ``Database/verify(progress:)`` proves that.
///
/// Pointers: the walk over a column lends the bytes of a cell and the keys of a map, which are copied.
/// Of an index the count that its root names is read.
package struct ObjectVerifier {
  private let snapshot: Snapshot
  private var findings: [String] = []
  private var linkCounts: [String: Int] = [:]
  private var tables: [String: Table] = [:]
  private static let findingLimit = 1000

  package init(snapshot: Snapshot) { self.snapshot = snapshot }

  /// What is wrong, a line each, at most about a thousand.
  ///
  /// Throws when a page cannot be read.
  package mutating func run() throws(StoreError) -> [String] {
    for name in try snapshot.names(withPrefix: StoredName.tablePrefix) {
      let className = String(name.dropFirst(StoredName.tablePrefix.count))
      tables[className] = try snapshot.table(name)
    }
    for (className, table) in tables.sorted(by: { $0.key < $1.key }) {
      for column in table.record.columns {
        guard let property = StoredProperty(attributes: column.attributes) else { continue }
        try checkIndex(className, table, column, property)
        try checkLinks(className, table, column, property)
        if property.type == .any { try checkValues(className, table, column, property) }
        if property.isSet { try checkSet(className, table, column, property) }
        if property.isMap { try checkMap(className, table, column, property) }
      }
    }
    try checkBacklinkCounts()
    try checkOwners()
    return findings
  }

  private mutating func report(_ finding: @autoclosure () -> String) {
    if findings.count < Self.findingLimit { findings.append(finding()) }
  }

  // MARK: Indexes

  private mutating func checkIndex(
    _ className: String, _ table: Table, _ column: ColumnDescriptor, _ property: StoredProperty
  ) throws(StoreError) {
    guard let index = try snapshot.keyTree(StoredName.index(className, column.id)) else { return }
    let name = "\(className).\(column.name)"
    var missing: [Int64] = []
    try forEachCell(table, column) { key, _, cell throws(StoreError) in
      guard let form = IndexKey.form(of: cell, isSigned: property.type == .date) else { return }
      if try !index.contains(IndexKey.key(form, key)) { missing.append(key) }
    }
    for key in missing { report("\(name): the index lacks object \(key)") }
    if unsafe index.count != table.count {
      report(unsafe "\(name): the index has \(index.count) entries for \(table.count) objects")
    }
    if property.isPrimaryKey { try checkUniqueness(index, name) }
  }

  private mutating func checkUniqueness(_ index: KeyTree, _ name: String) throws(StoreError) {
    var previous: ArraySlice<UInt8> = []
    var cursor = index.cursor()
    var isValid = try cursor.seekFirst()
    while isValid {
      let form = cursor.key.dropLast(8)
      // Of long values the index keeps a hash, which tells them apart too.
      if form == previous { report("\(name): two objects have the same primary key") }
      previous = form
      isValid = try cursor.next()
    }
  }

  // MARK: Sets

  private mutating func checkSet(
    _ className: String, _ table: Table, _ column: ColumnDescriptor, _ property: StoredProperty
  ) throws(StoreError) {
    let order = CellOrder(property.type)
    var found: [Int64] = []
    try forEachCell(table, column) { key, tree, cell throws(StoreError) in
      let type = property.property(named: column.name).elementColumnType
      guard let elements = StoredElements(cell, type, tree.source) else { return }
      var last: ColumnValue?
      // Of bytes a copy: those of a cell end with it.
      var lastBytes: [UInt8] = []
      var isOrdered = true
      try elements.forEach { element, _ in
        if case .bytes(let bytes) = element {
          let now =
            unsafe property.type == .any ? StoredAny(element)?.orderedKey ?? [] : Array(bytes)
          if case .bytes? = last { isOrdered = lastBytes.lexicographicallyPrecedes(now) }
          lastBytes = now
        } else if let last {
          isOrdered = order.compare(last, element) < 0
        }
        last = element
        return isOrdered
      }
      if !isOrdered { found.append(key) }
    }
    for key in found {
      report("\(className).\(column.name): the set of object \(key) is not in order")
    }
  }

  /// The keys of a map are in order, each of them once.
  private mutating func checkMap(
    _ className: String, _ table: Table, _ column: ColumnDescriptor, _ property: StoredProperty
  ) throws(StoreError) {
    var found: [Int64] = []
    let type = property.property(named: column.name).elementColumnType
    try forEachCell(table, column) { key, tree, cell throws(StoreError) in
      guard let elements = StoredElements(cell, type, tree.source) else { return }
      var last: [UInt8]?
      var isOrdered = true
      try unsafe elements.forEachKey { bytes, _ in
        let now = unsafe Array(bytes)
        if let last { isOrdered = last.lexicographicallyPrecedes(now) }
        last = now
        return isOrdered
      }
      if !isOrdered { found.append(key) }
    }
    for key in found {
      report("\(className).\(column.name): the keys of the map of object \(key) are not in order")
    }
  }

  // MARK: Links

  private mutating func checkLinks(
    _ className: String, _ table: Table, _ column: ColumnDescriptor, _ property: StoredProperty
  ) throws(StoreError) {
    guard property.type == .object, let targetName = property.objectClassName else { return }
    let name = "\(className).\(column.name)"
    guard let target = tables[targetName],
      let backlinks = try snapshot.keyTree(StoredName.backlinks(targetName))
    else {
      try checkNoLinks(table, column, name, targetName)
      return
    }
    let tableID = table.record.id
    var found: [String] = []
    var count = 0
    try forEachCell(table, column) { source, tree, cell throws(StoreError) in
      var counts: [Int64: Int] = [:]
      for link in try StoredElements.links(in: cell, tree.source).compactMap(\.self) {
        counts[link, default: 0] += 1
      }
      for (link, linkCount) in counts {
        let backlink = Backlink(
          target: link, table: tableID, column: column.id, source: source)
        count += linkCount
        if try Backlinks.count(in: backlinks, of: backlink) < linkCount {
          found.append("\(name): the link from \(source) to \(link) has no backlink")
        }
        if try target.seek(link) == nil {
          found.append("\(name): the link from \(source) leads to \(link), which does not exist")
        }
      }
    }
    for finding in found { report(finding) }
    linkCounts[targetName, default: 0] += count
  }

  /// The links from values of any type lead to objects that know of them.
  private mutating func checkValues(
    _ className: String, _ table: Table, _ column: ColumnDescriptor, _ property: StoredProperty
  ) throws(StoreError) {
    let name = "\(className).\(column.name)"
    let described = property.property(named: column.name)
    let classes = Dictionary(
      tables.map { ($0.value.record.id, $0.key) }, uniquingKeysWith: { first, _ in first })
    var found: [String] = []
    var counts: [String: Int] = [:]
    try forEachCell(table, column) { source, tree, cell throws(StoreError) in
      if !property.isArray, !property.isSet, !property.isMap, StoredAny(cell) == nil {
        found.append("\(name): the value of object \(source) breaks the format")
      }
      var linkCounts: [StoredAnyLink: Int] = [:]
      for link in try StoredElements.anyLinks(in: cell, described, tree.source) {
        linkCounts[link, default: 0] += 1
      }
      for (link, linkCount) in linkCounts {
        guard let targetName = classes[link.table], let target = tables[targetName] else {
          found.append(
            "\(name): the value of \(source) is of class \(link.table), which is unknown")
          continue
        }
        let backlink = Backlink(
          target: link.key, table: table.record.id, column: column.id, source: source)
        counts[targetName, default: 0] += linkCount
        let backlinks = try snapshot.keyTree(StoredName.backlinks(targetName))
        let known = try backlinks.map { tree throws(StoreError) in
          try Backlinks.count(in: tree, of: backlink)
        }
        if known ?? 0 < linkCount {
          found.append("\(name): the link from \(source) to \(link.key) has no backlink")
        }
        if try target.seek(link.key) == nil {
          found.append(
            "\(name): the link from \(source) leads to \(link.key), which does not exist")
        }
      }
    }
    for finding in found { report(finding) }
    for (name, count) in counts { linkCounts[name, default: 0] += count }
  }

  private mutating func checkNoLinks(
    _ table: Table, _ column: ColumnDescriptor, _ name: String, _ targetName: String
  ) throws(StoreError) {
    var count = 0
    try forEachCell(table, column) { _, tree, cell throws(StoreError) in
      count += try StoredElements.links(in: cell, tree.source).compactMap(\.self).count
    }
    if count > 0 { report("\(name): \(count) links to \(targetName), which has no backlinks") }
  }

  private mutating func checkBacklinkCounts() throws(StoreError) {
    for className in tables.keys.sorted() {
      guard let backlinks = try snapshot.keyTree(StoredName.backlinks(className)) else { continue }
      let expected = linkCounts[className, default: 0]
      do throws(StoreError) {
        let count = try Backlinks.checkedCount(in: backlinks)
        if count != expected { report("\(className): \(count) backlinks for \(expected) links") }
      } catch .damaged(let damage) where damage.rule == .count {
        report("\(className): \(damage.detail)")
      }
    }
  }

  // MARK: Embedded objects

  /// Each embedded object has one owner, which its only backlink leads from.
  private mutating func checkOwners() throws(StoreError) {
    for (className, table) in tables.sorted(by: { $0.key < $1.key }) {
      guard StoredClassAttributes(attributes: table.record.attributes)?.isEmbedded ?? false,
        let rows = table.groups.first
      else { continue }
      let backlinks = try snapshot.keyTree(StoredName.backlinks(className))
      var cursor = rows.leafCursor()
      var isValid = try cursor.first()
      while isValid {
        let leaf = cursor.leaf
        for row in 0..<leaf.rowCount {
          let key = leaf.key(at: row)
          let prefix = BacklinkGroup.prefix(target: key)
          let count = try backlinks.map { tree throws(StoreError) in
            try Backlinks.links(in: tree, prefix).count
          }
          guard count ?? 0 != 1 else { continue }
          report("\(className): the embedded object \(key) has \(count ?? 0) owners")
        }
        isValid = try cursor.next()
      }
    }
  }

  /// Calls `body` with each row's key and its cell in `column`.
  private func forEachCell(
    _ table: Table, _ column: ColumnDescriptor,
    _ body: (Int64, ColumnTree, ColumnValue) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let tree = table.tree(of: column.id) else { return }
    var cursor = tree.leafCursor()
    var isValid = try cursor.first()
    while isValid {
      let leaf = cursor.leaf
      for row in 0..<leaf.rowCount {
        let result = try leaf.withCell(
          column.id, column.type, row, tree, isNullable: column.isNullable
        ) { cell in
          catching { () throws(StoreError) in try body(leaf.key(at: row), tree, cell) }
        }
        try result.get()
      }
      isValid = try cursor.next()
    }
  }
}
