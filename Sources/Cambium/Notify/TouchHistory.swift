import CambiumCore
import Synchronization

/// What a write transaction touches, table by table.
///
/// While somebody observes the database, in full (see ``Notifier``); otherwise as much as goes into a
/// ``TouchRecord``.
struct TransactionTouches: Sendable {
  /// By the numbers of tables.
  private(set) var tables: [UInt32: TouchedRows] = [:]
  /// No more keys of a table are told apart.
  let limit: Int

  init(limit: Int = TouchedRows.largestCount) { self.limit = limit }

  mutating func change(_ table: UInt32, _ body: (inout TouchedRows) -> Void) {
    body(&tables[table, default: TouchedRows(limit: limit)])
  }
}

/// What the latest transactions of this process have touched, for those who ask what happened between two
/// versions.
///
/// Thread-safe.
final class TouchHistory: Sendable {
  private struct Entry {
    let version: Version
    let touches: TransactionTouches
    let count: Int
  }

  private struct State {
    /// In the order of their versions.
    var entries: [Entry] = []
    var keyCount = 0

    /// Forgets versions from this one on.
    mutating func remove(from version: Version) {
      while let last = entries.last, last.version >= version {
        keyCount -= last.count
        entries.removeLast()
      }
    }
  }

  private let state = Mutex(State())
  /// How many keys are remembered, in all transactions together.
  private static let largestKeyCount = 1 << 18
  private static let largestEntryCount = 1024

  /// Remembers what the transaction touched that is about to make `version`.
  func add(_ version: Version, _ touches: TransactionTouches) {
    let count = touches.tables.values.reduce(1) { $0 + $1.count }
    state.withLock { state in
      // A version that was lost with a failed commit is made again.
      state.remove(from: version)
      state.entries.append(Entry(version: version, touches: touches, count: count))
      state.keyCount += count
      guard state.keyCount > Self.largestKeyCount || state.entries.count > Self.largestEntryCount
      else { return }
      // Several at a time, as those that stay are moved.
      var first = 0
      while state.entries.count - first > 1,
        state.keyCount > Self.largestKeyCount / 2
          || state.entries.count - first > Self.largestEntryCount / 2
      {
        state.keyCount -= state.entries[first].count
        first += 1
      }
      state.entries.removeFirst(first)
    }
  }

  /// Forgets a version that was not made after all.
  func remove(_ version: Version) { state.withLock { $0.remove(from: version) } }

  /// What the transactions after `old` up to `new` have touched, by the versions that they made.
  ///
  /// Those are missing that ran in another process, unobserved, or long ago.
  func touches(after old: Version, through new: Version) -> [Version: TransactionTouches] {
    state.withLock { state in
      let found = state.entries.reversed().prefix { $0.version > old }.filter { $0.version <= new }
      return Dictionary(uniqueKeysWithValues: found.map { ($0.version, $0.touches) })
    }
  }
}
