extension Database {
  /// Walks every page of the newest version and proves checksums, order, counts and heights, and
  /// that reachable, free and pending extents partition the store.
  ///
  /// Others may commit meanwhile, and it needs no right to write: what is proved is the version that was
  /// the newest one when this began.
  ///
  /// Damage is reported, not thrown: the walk goes on where it can. `progress` is called now and then
  /// with the number of bytes walked so far. Throws only when the store cannot be read at all.
  public func verify(
    progress: ((Int) -> Void)? = nil
  ) throws(StoreError) -> VerificationReport {
    let audit = try store.audit()
    var verifier = Verifier(
      snapshot: unseenSnapshot(audit.pin), walksDeadRoots: audit.hasDeadRoots, progress: progress)
    verifier.run()
    let extents = verifier.sortedExtents()
    if verifier.report.findings.isEmpty {
      // Extents of damaged trees are unknown, so the partition is only proved for sound ones.
      for finding in try audit.findings(reachable: extents) { verifier.note(finding) }
    }
    return verifier.report
  }

  /// Walks every page of the newest version: what was found, and the extents of all pages, sorted by
  /// address.
  ///
  /// The store's own bookkeeping is not looked at.
  package func walkNewest(
    progress: ((Int) -> Void)? = nil
  ) throws(StoreError) -> (report: VerificationReport, extents: [Extent]) {
    var verifier = Verifier(snapshot: unseenSnapshot(try store.pin()), progress: progress)
    verifier.run()
    let extents = verifier.sortedExtents()
    return (verifier.report, extents)
  }

  /// The extents of all pages of the version that `snapshot` sees, sorted by address.
  package func extents(of snapshot: Snapshot) -> [Extent] {
    var verifier = Verifier(snapshot: snapshot, progress: nil)
    verifier.run()
    return verifier.sortedExtents()
  }

  /// A version of which every page is read from the store and checked, whatever this database has seen
  /// of it.
  private func unseenSnapshot(_ pin: Pin) -> Snapshot {
    let source = PageSource(
      pin: pin, store: store, codec: codec, trust: TrustTable(), cache: PageCache(byteCount: 0))
    return Snapshot(pin: pin, source: source)
  }
}

/// One walk over a version; collects findings and extents.
struct Verifier {
  private let snapshot: Snapshot
  private let walksDeadRoots: Bool
  private let progress: ((Int) -> Void)?
  private(set) var extents: [Extent] = []
  /// Every page that was reached, where they are wanted.
  private(set) var references: [PageReference]?
  /// Where the pages begin that were reached.
  private var addresses: Set<UInt64> = []
  /// The numbers of those that lie in memory.
  private var numbers: Set<Int> = []
  /// How many bytes of pages there can be, where the store knows it.
  private let byteLimit: Int
  private var walkedByteCount = 0
  private var lastReported = 0
  private static let progressByteCount = 4 << 20
  /// How many findings there are; only the first of them are kept.
  private var findingCount = 0
  private static let findingLimit = 1_000
  private(set) var report: VerificationReport

  init(
    snapshot: Snapshot, keepsReferences: Bool = false, walksDeadRoots: Bool = true,
    progress: ((Int) -> Void)?
  ) {
    self.snapshot = snapshot
    self.walksDeadRoots = walksDeadRoots
    references = keepsReferences ? [] : nil
    self.progress = progress
    let readable = snapshot.source.readableByteCount
    byteLimit = readable > 0 ? readable : .max
    report = VerificationReport(version: snapshot.version)
  }

  mutating func run() {
    let catalog = snapshot.catalog
    walk("catalog", .catalog, [catalog.tree.root])
    if !report.findings.isEmpty { return }
    do throws(StoreError) {
      try catalog.forEachEntry(withPrefix: []) { key, entry throws(StoreError) in
        let name = String(decoding: key, as: UTF8.self)
        switch entry {
        case .keyTree(let root): walk(name, .keyTree, [root])
        case .deadRoot(let root):
          if walksDeadRoots { walk("dead root \(report.trees.count)", .deadRoot, [root]) }
        case .table:
          do throws(StoreError) { try walkTable(name) } catch { note("table '\(name)': \(error)") }
        case .value, .tableDescription: break
        }
      }
    } catch {
      note("catalog: \(error)")
    }
  }

  /// All extents that were reached, by address; reports those that overlap.
  mutating func sortedExtents() -> [Extent] {
    extents.sort { $0.address < $1.address }
    for (left, right) in zip(extents, extents.dropFirst()) where left.end > right.address {
      note(
        "the pages at byte \(left.byteOffset) and byte \(right.byteOffset) overlap")
    }
    return extents
  }

  private mutating func walkTable(_ name: String) throws(StoreError) {
    guard let table = try snapshot.table(name) else { return }
    let before = report.findings.count
    let index = walk(name, .table, table.groups.map(\.root))
    // The columns of a damaged table cannot be summed up.
    guard report.findings.count == before else { return }
    let counts = Set(table.groups.map(\.count))
    if counts.count > 1 {
      note("\(name): column groups have different numbers of rows: \(counts)")
    }
    for group in table.groups.indices {
      let statistics = try table.groups[group].statistics()
      for column in table.record.groups[group] {
        var columnReport = ColumnReport(descriptor: column)
        if let known = statistics.columns[column.id] {
          for (encoding, leaves) in known.leafCounts {
            columnReport.leavesByEncoding["\(encoding)"] = leaves
          }
          columnReport.byteCount = known.byteCount + known.overflowByteCount
        }
        report.trees[index].columns.append(columnReport)
      }
    }
  }

  @discardableResult
  private mutating func walk(
    _ name: String, _ role: TreeReport.Role, _ roots: [TreeRoot]
  ) -> Int {
    var tree = TreeReport(
      name: name, role: role, rowCount: roots.first?.count ?? 0,
      height: Int(roots.map(\.height).max() ?? 0))
    var waiting = roots
    while let root = waiting.popLast() { waiting += walk(root, into: &tree) }
    report.trees.append(tree)
    return report.trees.count - 1
  }

  /// Notes a finding; of a file in which everything is wrong, the first of them.
  mutating func note(_ finding: String) {
    findingCount += 1
    if findingCount <= Self.findingLimit {
      report.findings.append(finding)
    } else {
      report.findings[Self.findingLimit...] = [
        "\(findingCount - Self.findingLimit) more findings are left out"
      ]
    }
  }

  /// Counts a page before it is read.
  ///
  /// Pages that name each other again and again, or share their bytes, would keep the walk busy for as
  /// long as who made the file likes; a page that was reached before is not read again, and nothing is
  /// when there are more bytes of pages than the store has.
  private mutating func reach(_ page: PageReference) throws(StoreError) {
    let isNew =
      page.isDirty
      ? numbers.insert(page.dirtyIndex).inserted : addresses.insert(page.address).inserted
    guard isNew else {
      throw .damaged(Damage(.reference, at: page, "the page is reached a second time"))
    }
    if page.isDirty { return }
    guard page.byteCount <= byteLimit - walkedByteCount else {
      throw .damaged(Damage(.reference, at: page, "pages share bytes: the store has fewer"))
    }
    walkedByteCount += page.byteCount
    if walkedByteCount - lastReported > Self.progressByteCount {
      lastReported = walkedByteCount
      progress?(walkedByteCount)
    }
  }

  /// Walks one tree; returns the trees that its rows own.
  private mutating func walk(_ root: TreeRoot, into tree: inout TreeReport) -> [TreeRoot] {
    var pages: [PageReference] = []
    var owned: [TreeRoot] = []
    var damages: [Damage] = []
    do throws(StoreError) {
      try TreeWalk(root, snapshot.source).verify(
        { page, _ throws(StoreError) in
          try reach(page)
          pages.append(page)
        }, tree: { owned.append($0) }, damage: { damages.append($0) })
    } catch {
      note("\(tree.name): \(error)")
    }
    for page in pages {
      tree.pageCount += 1
      // Pages in memory take nothing of the store.
      if page.isDirty { continue }
      tree.byteCount += page.byteCount
      extents.append(page.extent)
      references?.append(page)
    }
    let name = tree.name
    for damage in damages { note("\(name): \(damage)") }
    return owned
  }
}
