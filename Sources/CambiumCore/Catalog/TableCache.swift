import Synchronization

/// The tables of the newest version as far as this database has met them, so that a transaction does
/// not read and parse a description that has not changed.
///
/// What is kept speaks of exactly one version. A transaction that began at it uses it and, once it is
/// committed, moves it on; anybody else begins anew.
final class TableCache: Sendable {
  /// A table's roots with all that follows from its description.
  struct Entry: Sendable {
    var record: TableRecord
    var layouts: [ColumnLayout]
    var roots: [TreeRoot]

    init(record: TableRecord, layouts: [ColumnLayout], roots: [TreeRoot]) {
      self.record = record
      self.layouts = layouts
      self.roots = roots
    }

    init(_ table: Table) {
      record = table.record
      layouts = table.record.groups.indices.map { table.record.layout(of: $0) }
      roots = table.groups.map(\.root)
    }
  }

  private struct State {
    var version: Version = 0
    var epoch: UInt64 = 0
    var entries: [ExactName: Entry] = [:]
  }

  private let state = Mutex(State())

  /// The table under `name` in the version of `head`, if it is known.
  func entry(_ name: String, in head: Head) -> Entry? {
    state.withLock { state in
      guard state.version == head.version, state.epoch == head.epoch else { return nil }
      return state.entries[ExactName(name)]
    }
  }

  /// Moves on to what a transaction that began at `base` has committed; `change` puts in what it has
  /// made of its tables.
  func advance(
    from base: Head, to version: Version, epoch: UInt64,
    _ change: (inout [ExactName: Entry]) -> Void
  ) {
    state.withLock { state in
      if state.version != base.version || state.epoch != base.epoch { state.entries = [:] }
      state.version = version
      state.epoch = epoch
      change(&state.entries)
    }
  }
}
