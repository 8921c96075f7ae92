import Synchronization

/// The tables of the newest version as far as this database has met them, so that nobody reads and
/// parses a description that has not changed.
///
/// What is kept speaks of exactly one version: of the newest one that was read or committed here. A
/// transaction that began at it uses it and, once it is committed, moves it on; anybody else begins anew.
final class TableCache: Sendable {
  /// A table's roots with all that follows from its description.
  final class Entry: Sendable {
    let record: TableRecord
    let layouts: [ColumnLayout]
    let roots: [TreeRoot]

    init(record: TableRecord, layouts: [ColumnLayout], roots: [TreeRoot]) {
      self.record = record
      self.layouts = layouts
      self.roots = roots
    }

    convenience init(_ table: Table) {
      self.init(
        record: table.record,
        layouts: table.record.groups.indices.map { table.record.layout(of: $0) },
        roots: table.groups.map(\.root))
    }

    /// The table as `source` reads it.
    func table(_ source: PageSource) -> Table {
      Table(record: record, groups: roots.map { ColumnTree(root: $0, source: source) })
    }
  }

  private struct State {
    var version: Version = 0
    var epoch: UInt64 = 0
    /// A version whose pages lay in memory has other roots once they are stored.
    var root = TreeRoot.empty(.key)
    var entries: [ExactText: Entry] = [:]

    func isOf(_ head: Head) -> Bool {
      version == head.version && epoch == head.epoch && root == head.root
    }

    /// Speaks of another version from now on.
    mutating func follow(_ head: Head) {
      version = head.version
      epoch = head.epoch
      root = head.root
    }

    /// Goes on with another version, of which nothing is known yet.
    mutating func move(to head: Head) {
      follow(head)
      entries.removeAll(keepingCapacity: true)
    }
  }

  private let state = Mutex(State())

  /// The table under `name` in the version of `head`, if it is known.
  func entry(_ name: String, in head: Head) -> Entry? {
    state.withLock { state in
      state.isOf(head) ? state.entries[ExactText(name)] : nil
    }
  }

  /// Notes what was read in the version of `head`, unless a newer one is kept.
  func note(_ entry: Entry, _ name: String, in head: Head) {
    state.withLock { state in
      if !state.isOf(head) {
        if (head.epoch, head.version) < (state.epoch, state.version) { return }
        state.move(to: head)
      }
      state.entries[ExactText(name)] = entry
    }
  }

  /// Moves on to what a transaction that began at `base` has committed; `change` puts in what it has
  /// made of its tables.
  func advance(from base: Head, to head: Head, _ change: (inout [ExactText: Entry]) -> Void) {
    state.withLock { state in
      if !state.isOf(base) { state.entries.removeAll(keepingCapacity: true) }
      state.follow(head)
      change(&state.entries)
    }
  }
}
