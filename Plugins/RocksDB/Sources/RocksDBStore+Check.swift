#if RocksDB
  import CambiumCore

  extension RocksDBStore {
    /// Sizes and pins.
    ///
    /// The total is what all files of the folder take; free is what neither the newest version nor a
    /// pin needs, which compaction gives back: deleted pages, and logs of what is in other files too.
    public func statistics() throws(StoreError) -> StoreStatistics {
      let total = StoreFolder(path: path).byteCount
      return try withOpenState { state, _ in
        let pending = Int(state.ledger.pendingUnitCount) * Extent.unitByteCount
        return StoreStatistics(
          totalByteCount: total,
          freeByteCount: max(0, total - state.newest.pageByteCount - pending),
          pendingByteCount: pending, newestVersion: state.newest.head.version,
          durableVersion: state.durable, pinnedVersions: state.ledger.pinnedVersions)
      }
    }

    /// Reads all that the newest version holds, and compares it with the pages that it reaches; a
    /// finding for each page that is missing or that nothing reaches, and for damage to RocksDB's files.
    public func check(reachable: [Extent]) throws(StoreError) -> [String] {
      let (newest, view) = try withOpenState { state, database in
        (state.newest, state.views[state.newest.head.version] ?? database.snapshot())
      }
      var findings = Findings(reachable: reachable)
      do throws(RocksFailure) {
        try view.source.forEachKey(from: [], at: view) { key in
          guard let extent = StoredKey.extent(key) else { return false }
          // Behind that are pages of the running write.
          if extent.address < newest.nextAddress { findings.take(extent) }
          return true
        }
      } catch {
        findings.add("RocksDB says '\(error.text)'")
      }
      findings.end()
      let byteCount = reachable.reduce(0) { $0 + $1.byteCount }
      if newest.pageCount != reachable.count || newest.pageByteCount != byteCount {
        findings.add(
          "\(reachable.count) pages of \(byteCount) bytes are reachable, the head speaks of "
            + "\(newest.pageCount) of \(newest.pageByteCount)")
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
