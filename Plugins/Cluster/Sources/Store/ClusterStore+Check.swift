import CambiumCore
import Synchronization

extension ClusterStore {
  /// Sizes and pins.
  ///
  /// The total is what all blocks take when they are full, and the log; free is what the newest version and
  /// the pins of this process do not need of them. What other processes have pinned is not known.
  public func statistics() throws(StoreError) -> StoreStatistics {
    try withOpenState { state in
      let header = state.header
      let used = (state.nextAddress - layout.block(of: state.nextAddress) * layout.unitCount)
      let isLastCounted = state.ownership?.table.entries[layout.block(of: state.nextAddress)] != nil
      let blocks = state.ownership.map { UInt64($0.table.entries.count) } ?? header.blockCount
      let whole = isLastCounted ? blocks - 1 : blocks
      let total =
        Int(whole * layout.unitCount + (isLastCounted ? used : 0)) * Extent.unitByteCount
        + header.logEnd
      let pending = Int(state.ledger.pendingUnitCount) * Extent.unitByteCount
      let live = Int(header.liveUnitCount) * Extent.unitByteCount
      return StoreStatistics(
        totalByteCount: total, freeByteCount: max(0, total - header.logEnd - live - pending),
        pendingByteCount: pending, newestVersion: state.newest.version,
        durableVersion: state.replicated, pinnedVersions: state.ledger.pinnedVersions)
    }
  }

  /// Pins the newest version in the cluster, with the table of its blocks.
  ///
  /// A finding for each block in which the version needs more or less than the table says. As long as the
  /// audit is there, pages come from the cluster, even those that are on a local disk.
  /// Throws `StoreError.poisoned(path:)` when this process shows versions that the cluster may not have.
  public func audit() throws(StoreError) -> StoreAudit {
    if isForked { throw .forked(path: path) }
    if !options.isReadOnly { try sync() }
    let mark = AuditMark(self)
    while true {
      // Also by what has failed meanwhile.
      if state.withLock({ $0.isPoisoned }) { throw .poisoned(path: path) }
      var found = try ownTable()
      if found == nil { found = try foreignTable() }
      guard let (pin, table) = found else { continue }
      return StoreAudit(of: pin) { [layout] reachable in
        withExtendedLifetime(mark) { Self.findings(table, layout, reachable: reachable) }
      }
    }
  }

  /// The newest version and its table, if this process owns the writer lock.
  private func ownTable() throws(StoreError) -> (Pin, BlockTable)? {
    let found = try withOpenState { state throws(StoreError) -> (Head, BlockTable)? in
      guard var table = state.ownership?.table else { return nil }
      for commit in state.pending where commit.isVisible {
        try table.apply(commit.record.changes, commit.record.head.version)
      }
      guard state.newest.version >= state.replicated else { return nil }
      state.ledger.hold(state.newest.version, .pin)
      return (state.newest, table)
    }
    return found.map { (makePin($0.0), $0.1) }
  }

  /// The newest version and its table, as other machines have left them; nil when they commit meanwhile.
  private func foreignTable() throws(StoreError) -> (Pin, BlockTable)? {
    try refresh()
    let pin = try pin()
    guard let image = try reader.read(after: nil) else { return nil }
    guard image.header.newestVersion == pin.head.version else { return nil }
    let table: BlockTable
    do throws(StoreError) { table = try self.table(of: image) } catch {
      // A record that was replaced meanwhile is gone.
      let later = try reader.read(after: nil)
      if later?.header.token != image.header.token { return nil }
      throw error
    }
    return (pin, table)
  }

  private static func findings(
    _ table: BlockTable, _ layout: BlockLayout, reachable: [Extent]
  ) -> [String] {
    var needed: [UInt64: UInt64] = [:]
    for extent in reachable {
      layout.forEachPart(of: extent) { needed[$0.block, default: 0] += $0.unitCount }
    }
    var findings: [String] = []
    for block in Set(needed.keys).union(table.entries.keys).sorted() {
      let said = UInt64(table.entries[block]?.liveUnitCount ?? 0)
      let found = needed[block] ?? 0
      if said != found {
        findings.append(
          "block \(block): \(found * 64) bytes are reachable, the table says \(said * 64)")
      }
    }
    return findings
  }
}

/// Says that an audit is under way while it is there.
private final class AuditMark: Sendable {
  private let store: ClusterStore

  init(_ store: ClusterStore) {
    self.store = store
    store.auditCount.add(1, ordering: .relaxed)
  }

  deinit { store.auditCount.subtract(1, ordering: .relaxed) }
}
