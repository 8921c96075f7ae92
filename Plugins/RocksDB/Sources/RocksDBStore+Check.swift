#if RocksDB
  import CambiumCore

  /// Pointers: keys are lent for each call by the iterator that stands on them.
  extension RocksDBStore {
    /// Sizes and pins.
    ///
    /// The total is what all files of the folder take; free is what neither the newest version nor a
    /// pin needs, which compaction gives back: deleted pages, and logs of what is in other files too.
    public func statistics() throws(StoreError) -> StoreStatistics {
      try withOpenState { state, database in
        let total = StoreFolder(path: database.folder).byteCount
        let pending = Int(state.ledger.pendingUnitCount) * Extent.unitByteCount
        return StoreStatistics(
          totalByteCount: total,
          freeByteCount: max(0, total - state.newest.pageByteCount - pending),
          pendingByteCount: pending, newestVersion: state.newest.head.version,
          durableVersion: state.durable, pinnedVersions: state.ledger.pinnedVersions)
      }
    }

    /// Pins the newest version, with the pages that RocksDB holds for it.
    ///
    /// They are read when they are compared with what the version reaches: a finding for each page that is
    /// missing or that nothing reaches, and for damage to RocksDB's files.
    public func audit() throws(StoreError) -> StoreAudit {
      let (newest, view) = try withOpenState { state, database in
        let version = state.newest.head.version
        state.ledger.hold(version, .pin)
        return (state.newest, state.views[version] ?? database.snapshot())
      }
      return StoreAudit(of: makePin(newest.head)) { reachable in
        Self.findings(of: newest, view, reachable: reachable)
      }
    }

    private static func findings(
      of version: HeadRecord, _ view: RocksSnapshot, reachable: [Extent]
    ) -> [String] {
      var findings = Findings(reachable: reachable)
      do throws(RocksFailure) {
        try unsafe view.source.forEachKey(from: [], at: view) { key in
          guard let extent = unsafe StoredKey.extent(key) else { return false }
          // Behind that are pages of the running write.
          if extent.address < version.nextAddress { findings.take(extent) }
          return true
        }
      } catch {
        findings.add("RocksDB says '\(error.text)'")
      }
      findings.end()
      let byteCount = reachable.reduce(0) { $0 + $1.byteCount }
      if version.pageCount != reachable.count || version.pageByteCount != byteCount {
        findings.add(
          "\(reachable.count) pages of \(byteCount) bytes are reachable, the head speaks of "
            + "\(version.pageCount) of \(version.pageByteCount)")
      }
      return findings.list
    }
  }

  /// Compares pages as they lie with those that are reachable, both in the order of their addresses.
  private struct Findings {
    private let reachable: [Extent]
    private var position = 0
    private var count = 0
    private(set) var list: [String] = []
    private static let limit = 100

    init(reachable: [Extent]) {
      self.reachable = reachable.sorted { ($0.address, $0.unitCount) < ($1.address, $1.unitCount) }
    }

    mutating func add(_ finding: String) {
      count += 1
      if count <= Self.limit { list.append(finding) }
    }

    private static func describe(_ extent: Extent) -> String {
      "the page at byte \(extent.byteOffset) (\(extent.byteCount) bytes)"
    }

    mutating func take(_ extent: Extent) {
      while position < reachable.count, reachable[position].address < extent.address {
        add("\(Self.describe(reachable[position])) is reachable and not there")
        position += 1
      }
      if position < reachable.count, reachable[position] == extent {
        position += 1
      } else {
        add("\(Self.describe(extent)) is there and not reachable")
      }
    }

    mutating func end() {
      for extent in reachable.dropFirst(position) {
        add("\(Self.describe(extent)) is reachable and not there")
      }
      if count > Self.limit { list.append("and \(count - Self.limit) more findings") }
    }
  }
#endif
