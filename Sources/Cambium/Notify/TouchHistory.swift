import CambiumCore
import Synchronization

/// What a write transaction touches, table by table.
///
/// Kept only while somebody observes the database: see ``Notifier``.
struct TransactionTouches: Sendable {
  /// By the numbers of tables.
  private(set) var tables: [UInt32: TouchedRows] = [:]

  mutating func change(_ table: UInt32, _ body: (inout TouchedRows) -> Void) {
    body(&tables[table, default: TouchedRows()])
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

  private let entries = Mutex<[Entry]>([])
  /// How many keys are remembered, in all transactions together.
  private static let largestKeyCount = 1 << 18
  private static let largestEntryCount = 1024

  /// Remembers what the transaction touched that is about to make `version`.
  func add(_ version: Version, _ touches: TransactionTouches) {
    let count = touches.tables.values.reduce(1) { $0 + $1.count }
    entries.withLock { entries in
      // A version that was lost with a failed commit is made again.
      entries.removeAll { $0.version >= version }
      entries.append(Entry(version: version, touches: touches, count: count))
      var total = entries.reduce(0) { $0 + $1.count }
      while total > Self.largestKeyCount || entries.count > Self.largestEntryCount,
        entries.count > 1
      {
        total -= entries.removeFirst().count
      }
    }
  }

  /// Forgets a version that was not made after all.
  func remove(_ version: Version) { entries.withLock { $0.removeAll { $0.version >= version } } }

  /// What all transactions after `old` up to `new` have touched, in their order; nil when one of them is
  /// not known, because it ran in another process, unobserved, or long ago.
  func touches(after old: Version, through new: Version) -> [TransactionTouches]? {
    entries.withLock { entries in
      let found = entries.filter { $0.version > old && $0.version <= new }
      guard UInt64(found.count) == UInt64(new &- old) else { return nil }
      return found.map(\.touches)
    }
  }
}
