/// Writes one name after the other into a new database.
///
/// What is written under a name is opened first: the pages that all else hangs on are read, and which
/// rows are whole is known. From then on nothing is tried again. Damage that is met while copying
/// leaves out what it hits and is reported; every other error, and any of the destination, ends it all.
///
/// Pointers: none is followed to count the keys of a tree; their number stands in its root.
struct SalvageCopy {
  let transaction: Transaction
  let progress: (Int) -> Void
  var report = SalvageReport()
  private var rowCount = 0
  private var tableNumbers: Set<UInt32> = []
  /// Why the best candidate of the name at hand could not be opened.
  private var reason: Damage?

  init(transaction: Transaction, progress: @escaping (Int) -> Void) {
    self.transaction = transaction
    self.progress = progress
  }

  /// Writes what `catalog` knows under `name`, from the first candidate that can be opened; false
  /// when there is none, and then nothing was written.
  mutating func take(_ name: String, from catalog: SalvageCatalog) throws(StoreError) -> Bool {
    reason = nil
    for candidate in catalog.candidates[Catalog.key(name)] ?? [] {
      guard let content = try open(candidate, name, catalog) else { continue }
      let (role, count) = try write(content, name)
      report.saved.append(
        SalvageReport.Saved(name: name, role: role, rowCount: count, origin: candidate.origin))
      if let origin = candidate.origin, let reason {
        report.losses.append(
          SalvageReport.Loss(
            name: name, keys: "all changes since \(origin)", rowCount: nil, reason: "\(reason)"))
      }
      rowCount += count
      progress(rowCount)
      try transaction.spillIfNeeded()
      return true
    }
    return false
  }

  /// The same, for the last time: without success the name is reported as lost.
  mutating func takeOrReport(_ name: String, from catalog: SalvageCatalog) throws(StoreError) {
    if try take(name, from: catalog) { return }
    report.losses.append(
      SalvageReport.Loss(
        name: name, keys: "all", rowCount: expectedCount(name, catalog),
        reason: reason.map { "\($0)" } ?? "nothing that can be read"))
  }

  private func expectedCount(_ name: String, _ catalog: SalvageCatalog) -> Int? {
    switch catalog.candidates[Catalog.key(name)]?.first?.entry {
    case .keyTree(let root): root.count
    case .table(let table): table.roots.first?.count
    default: nil
    }
  }

  // MARK: Opening

  /// What a candidate leads to.
  private enum Content {
    case keyTree(KeyTree)
    case table(TableRecord, SalvageRows)
    case value([UInt8])
  }

  /// Reads a candidate as far as it takes to write it; nil, with a ``reason``, when it leads nowhere.
  private mutating func open(
    _ candidate: SalvageCatalog.Candidate, _ name: String, _ catalog: SalvageCatalog
  ) throws(StoreError) -> Content? {
    do throws(StoreError) {
      switch candidate.entry {
      case .keyTree(let root):
        guard root.kind == .key else {
          throw .damaged(Damage(.catalog, "the entry names a tree of another kind"))
        }
        if !root.isEmpty {
          _ = try candidate.source.page(root.reference, PageRole(root).kind)
        }
        return .keyTree(KeyTree(root: root, source: candidate.source))
      case .table(let roots): return try open(roots, candidate.source, name, catalog)
      case .value(let bytes): return .value(bytes)
      case .deadRoot, .tableDescription: return nil
      }
    } catch {
      guard let damage = error.damage(at: .none) else { throw error }
      if reason == nil { reason = damage }
      return nil
    }
  }

  private func open(
    _ roots: CatalogEntry.TableRoots, _ source: PageSource, _ name: String,
    _ catalog: SalvageCatalog
  ) throws(StoreError) -> Content {
    guard let description = description(of: name, groupCount: roots.roots.count, catalog) else {
      throw .damaged(Damage(.catalog, "the table's description cannot be read"))
    }
    for root in roots.roots where !root.isEmpty {
      _ = try source.page(root.reference, PageRole(root).kind)
    }
    let rows = try SalvageRows(roots.roots.map { ColumnTree(root: $0, source: source) })
    var record = TableRecord(
      id: roots.id, nextKey: roots.nextKey, nextColumn: roots.nextColumn,
      groups: description.groups, attributes: description.attributes)
    if let last = rows.lastKey, last < .max { record.nextKey = max(record.nextKey, last + 1) }
    if let last = record.columns.map(\.id).max(), last < .max {
      record.nextColumn = max(record.nextColumn, last + 1)
    }
    return .table(record, rows)
  }

  private func description(
    of name: String, groupCount: Int, _ catalog: SalvageCatalog
  ) -> CatalogEntry.TableDescription? {
    for candidate in catalog.candidates[Catalog.descriptionKey(name)] ?? [] {
      if case .tableDescription(let description) = candidate.entry,
        description.groups.count == groupCount,
        groupCount == 1 || description.groups.allSatisfy({ !$0.isEmpty })
      {
        return description
      }
    }
    return nil
  }

  // MARK: Writing

  /// Writes what was opened; how many rows that are.
  private mutating func write(
    _ content: Content, _ name: String
  ) throws(StoreError) -> (TreeReport.Role?, Int) {
    switch content {
    case .value(let bytes):
      try transaction.setValue(name, bytes)
      return (nil, 1)
    case .keyTree(let tree):
      let editor = try transaction.editKeyTree(name)
      try tree.salvage(into: editor) { keys, count, damage in
        report.losses.append(
          SalvageReport.Loss(name: name, keys: keys, rowCount: count, reason: "\(damage)"))
      }
      return unsafe (.keyTree, editor.tree.count)
    case .table(var record, let rows):
      record.id = takeNumber(record.id)
      let editor = try transaction.adoptTable(name, record)
      report.losses += rows.losses(name)
      for (group, tree) in rows.trees.enumerated() {
        try copy(group, tree, rows, record, into: editor, name)
      }
      return (.table, editor.count)
    }
  }

  /// Writes the rows that are whole of one column group.
  private mutating func copy(
    _ group: Int, _ tree: ColumnTree, _ rows: SalvageRows, _ record: TableRecord,
    into editor: TableEditor, _ name: String
  ) throws(StoreError) {
    let columns = record.groups[group]
    // The only group of a table may be without columns.
    let target = editor.editor(of: columns.first?.id ?? 0)
    let owned = SalvageOwnedTrees(table: name, source: tree.source, context: transaction.context)
    var lostParts = 0
    var surprise: Damage?
    try TreeWalk(tree.root, tree.source).salvage(
      { page throws(StoreError) in
        let leaf = ColumnLeaf(page)
        try target.append(
          rowsOf: leaf, of: tree, where: { rows.isKept(leaf.key(at: $0)) },
          mapping: { row, column, root throws(StoreError) in
            let label = columns.first { $0.id == column }?.name ?? ""
            let place = "\(Salvage.describe(Array(label.utf8))) in row \(leaf.key(at: row))"
            return try owned.copy(root, of: place)
          },
          duplicate: { key throws(StoreError) in
            report.losses.append(
              SalvageReport.Loss(
                name: name, keys: "\(key)", rowCount: 1, reason: "key \(key) occurs twice"))
          })
      },
      lost: { part, damage in
        if !rows.isKnownAsLost(part, lostParts, group: group) { surprise = damage }
        lostParts += 1
      })
    report.losses += owned.losses
    // A medium that gives other bytes each time; groups may disagree now.
    if let surprise { throw .damaged(surprise) }
  }

  // MARK: Numbers

  /// A number that no other table has; `wanted`, if that is one.
  private mutating func takeNumber(_ wanted: UInt32) -> UInt32 {
    var number = wanted
    if number == .max || tableNumbers.contains(number) {
      number = 1
      while tableNumbers.contains(number) { number += 1 }
    }
    tableNumbers.insert(number)
    return number
  }

  /// Goes on numbering tables behind all that are or were there.
  func numberTables(_ catalog: SalvageCatalog) throws(StoreError) {
    var next = (tableNumbers.max() ?? 0) + 1
    for candidate in catalog.candidates[Catalog.nextTableKey] ?? [] {
      guard case .value(let bytes) = candidate.entry else { continue }
      var reader = ByteReader(bytes)
      next = max(next, reader.get(UInt32.self) ?? 0)
    }
    try transaction.adoptNextTableNumber(next)
  }
}
