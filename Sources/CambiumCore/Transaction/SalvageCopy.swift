/// Writes one name after the other into a new database.
struct SalvageCopy {
  let transaction: WriteTransaction
  let progress: (Int) -> Void
  var report = SalvageReport()
  private var rowCount = 0
  private var tableNumbers: Set<UInt32> = []
  /// Why the best candidate of the name at hand could not be read.
  private var reason: Damage?

  init(transaction: WriteTransaction, progress: @escaping (Int) -> Void) {
    self.transaction = transaction
    self.progress = progress
  }

  /// Writes what `catalog` knows under `name`, from the first candidate whose tree can be read at
  /// all; false when there is none, and then nothing was written.
  mutating func take(_ name: String, from catalog: SalvageCatalog) throws(StoreError) -> Bool {
    reason = nil
    for candidate in catalog.candidates[Catalog.key(name)] ?? [] {
      do throws(StoreError) {
        switch candidate.entry {
        case .keyTree(let root): try takeKeyTree(name, root, candidate)
        case .table(let roots): try takeTable(name, roots, candidate, catalog)
        case .value(let bytes):
          try transaction.setValue(name, bytes)
          note(name, nil, 1, candidate)
        case .deadRoot, .tableDescription: continue
        }
        try transaction.spillIfNeeded()
        return true
      } catch {
        guard let damage = error.damage(at: .none) else { throw error }
        if reason == nil { reason = damage }
      }
    }
    return false
  }

  /// The same, for the last time: without success the name is reported as lost.
  mutating func takeOrReport(_ name: String, from catalog: SalvageCatalog) throws(StoreError) {
    if try take(name, from: catalog) {
      if let origin = report.saved.last?.origin, let reason {
        report.losses.append(
          SalvageReport.Loss(
            name: name, keys: "all changes since \(origin)", rowCount: nil, reason: "\(reason)"))
      }
      return
    }
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

  private mutating func note(
    _ name: String, _ role: TreeReport.Role?, _ count: Int, _ candidate: SalvageCatalog.Candidate
  ) {
    report.saved.append(
      SalvageReport.Saved(name: name, role: role, rowCount: count, origin: candidate.origin))
    rowCount += count
    progress(rowCount)
  }

  // MARK: Keys

  private mutating func takeKeyTree(
    _ name: String, _ root: TreeRoot, _ candidate: SalvageCatalog.Candidate
  ) throws(StoreError) {
    guard root.kind == .key else {
      throw .damaged(Damage(.catalog, "the entry names a tree of another kind"))
    }
    let source = candidate.source
    if !root.isEmpty {
      _ = try source.page(root.reference, root.height == 1 ? .keyLeaf : .keyBranch)
    }
    let editor = try transaction.editKeyTree(name)
    var losses: [SalvageReport.Loss] = []
    try KeyTree(root: root, source: source).salvage(
      { page throws(StoreError) in
        let node = KeyNode(page)
        for index in 0..<node.count {
          let key = node.key(index, header: KeyNode.leafCellHeader)
          do throws(StoreError) {
            _ = try editor.set(key, try node.storedValue(index).read(from: source))
          } catch {
            guard let damage = error.damage(at: .none) else { throw error }
            losses.append(
              SalvageReport.Loss(
                name: name, keys: Salvage.describe(key), rowCount: 1, reason: "\(damage)"))
          }
        }
        try transaction.spillIfNeeded()
      },
      lost: { keys, damage in
        losses.append(
          SalvageReport.Loss(
            name: name, keys: Salvage.describe(keys), rowCount: keys.count, reason: "\(damage)"))
      })
    report.losses += losses
    note(name, .keyTree, editor.tree.count, candidate)
  }

  // MARK: Tables

  private mutating func takeTable(
    _ name: String, _ roots: CatalogEntry.TableRoots, _ candidate: SalvageCatalog.Candidate,
    _ catalog: SalvageCatalog
  ) throws(StoreError) {
    guard let description = description(of: name, groupCount: roots.roots.count, catalog) else {
      throw .damaged(Damage(.catalog, "the table's description cannot be read"))
    }
    let trees = roots.roots.map { ColumnTree(root: $0, source: candidate.source) }
    for root in roots.roots where !root.isEmpty {
      _ = try candidate.source.page(
        root.reference, root.height == 1 ? .columnLeaf : .columnBranch)
    }
    let rows = try SalvageRows(trees: trees)
    var record = TableRecord(
      id: roots.id, nextKey: roots.nextKey, nextColumn: roots.nextColumn,
      groups: description.groups, attributes: description.attributes)
    if let last = rows.lastKey, last < .max { record.nextKey = max(record.nextKey, last + 1) }
    if let last = record.columns.map(\.id).max(), last < .max {
      record.nextColumn = max(record.nextColumn, last + 1)
    }
    while !tableNumbers.insert(record.id).inserted || record.id == .max {
      record.id = (tableNumbers.filter { $0 < .max }.max() ?? 0) + 1
    }
    let editor = try transaction.adoptTable(name, record)
    var losses = rows.losses(name)
    for (group, tree) in trees.enumerated() {
      guard let column = record.groups[group].first?.id ?? record.columns.first?.id else {
        continue
      }
      let target = editor.editor(of: column)
      try tree.salvage(
        { leaf throws(StoreError) in
          try target.append(
            rowsOf: leaf, of: tree, where: rows.isKept,
            mapping: { root throws(StoreError) in
              try Self.copyOwned(root, tree.source, transaction.context, name, &losses)
            }, duplicate: { _ throws(StoreError) in })
        }, lost: { _, _ in })
    }
    report.losses += losses
    note(name, .table, editor.count, candidate)
  }

  private func description(
    of name: String, groupCount: Int, _ catalog: SalvageCatalog
  ) -> CatalogEntry.TableDescription? {
    for candidate in catalog.candidates[Catalog.descriptionKey(name)] ?? [] {
      if case .tableDescription(let description) = candidate.entry,
        description.groups.count == groupCount
      {
        return description
      }
    }
    return nil
  }

  /// Writes what can be read of a tree that a row owns; returns the copy's root.
  private static func copyOwned(
    _ root: TreeRoot, _ source: PageSource, _ context: WriteContext, _ name: String,
    _ losses: inout [SalvageReport.Loss]
  ) throws(StoreError) -> TreeRoot {
    guard root.kind != .key, !root.isEmpty else { return .empty(root.kind) }
    let tree = ColumnTree(root: root, source: source)
    let editor = ColumnTreeEditor(
      root: .empty(root.kind), layout: try tree.readableLayout(), context: context)
    var lost: [SalvageReport.Loss] = []
    let rows = try SalvageRows(trees: [tree])
    try tree.salvage(
      { leaf throws(StoreError) in
        try editor.append(
          rowsOf: leaf, of: tree, where: { root.kind == .position || rows.isKept($0) },
          // Only rows of tables own trees.
          mapping: { root throws(StoreError) in .empty(root.kind) },
          duplicate: { _ throws(StoreError) in })
      },
      lost: { rows, damage in
        lost.append(
          SalvageReport.Loss(
            name: name, keys: "elements \(Salvage.describe(rows.keys)) of a collection",
            rowCount: nil, reason: "\(damage)"))
      })
    losses += lost
    return try editor.flush()
  }

  // MARK: Numbers

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

/// Which rows of a table can be read whole, and which cannot.
private struct SalvageRows {
  private var lost: [(LostRows, Damage)] = []
  private var unreadable: [(key: Int64, damage: Damage)] = []
  private var unreadableKeys: Set<Int64> = []
  /// The keys that every group has; nil when there is one group only.
  private var common: [Int64]?
  private(set) var lastKey: Int64?

  init(trees: [ColumnTree]) throws(StoreError) {
    for tree in trees {
      var keys: [Int64] = []
      var lost: [(LostRows, Damage)] = []
      var unreadable: [(key: Int64, damage: Damage)] = []
      var last: Int64?
      try tree.salvage(
        { leaf throws(StoreError) in
          if trees.count > 1 { for row in 0..<leaf.rowCount { keys.append(leaf.key(at: row)) } }
          if leaf.rowCount > 0 { last = max(last ?? .min, leaf.key(at: leaf.rowCount - 1)) }
          try leaf.forEachOutboardRow { row, cell throws(StoreError) in
            guard let value = cell.overflow else { return }
            do throws(StoreError) {
              try value.forEachChunk(in: tree.source) { _ throws(StoreError) in }
            } catch {
              guard let damage = error.damage(at: value.reference) else { throw error }
              unreadable.append((leaf.key(at: row), damage))
            }
          }
        }, lost: { lost.append(($0, $1)) })
      if trees.count > 1 {
        keys.sort()
        common = common.map { Self.intersection($0, keys) } ?? keys
      }
      self.lost += lost
      self.unreadable += unreadable
      lastKey = max(lastKey ?? .min, last ?? .min)
    }
    if lastKey == .min { lastKey = nil }
    unreadableKeys = Set(unreadable.map(\.key))
  }

  private static func intersection(_ left: [Int64], _ right: [Int64]) -> [Int64] {
    var both: [Int64] = []
    var index = 0
    for key in left {
      while index < right.count, right[index] < key { index += 1 }
      if index < right.count, right[index] == key, both.last != key { both.append(key) }
    }
    return both
  }

  /// Whether the row with that key can be read whole.
  func isKept(_ key: Int64) -> Bool {
    if unreadableKeys.contains(key) { return false }
    guard let common else { return true }
    var low = 0
    var high = common.count
    while low < high {
      let middle = (low + high) / 2
      if common[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low < common.count && common[low] == key
  }

  /// What is lost of the table `name`.
  func losses(_ name: String) -> [SalvageReport.Loss] {
    lost.map { rows, damage in
      SalvageReport.Loss(
        name: name, keys: Salvage.describe(rows.keys), rowCount: rows.count, reason: "\(damage)")
    }
      + unreadable.map { key, damage in
        SalvageReport.Loss(name: name, keys: "\(key)", rowCount: 1, reason: "\(damage)")
      }
  }
}

extension ColumnTree {
  /// The columns that any readable leaf stores.
  fileprivate func readableLayout() throws(StoreError) -> ColumnLayout {
    var specs: [UInt16: ColumnSpec] = [:]
    try salvage(
      { leaf throws(StoreError) in
        for id in leaf.columnIDs where specs[id] == nil {
          guard let column = leaf.column(id) else { continue }
          specs[id] = ColumnSpec(id: id, type: column.type, isNullable: column.isNullable)
        }
      }, lost: { _, _ in })
    return ColumnLayout(Array(specs.values))
  }
}
