import CambiumCore

/// A transaction that blocks share: each has a write session of its own, one after the other, and what it has
/// changed can be undone without the others.
///
/// Belongs to the context of its Realm.
final class SharedWrite {
  let transaction: Transaction
  /// What the blocks that have ended leave to those behind them.
  var legacy: WriteSession.Legacy?
  /// Where the block that runs has begun; nil for the first one, with which everything is undone.
  var savepoint: Transaction.Savepoint?
  /// What has become of the transaction; nil while it goes on.
  private(set) var outcome: Result<Void, StoreError>?
  /// With more in it a savepoint would take as long as a commit.
  private static let changedByteLimit = 2 << 20

  init(_ transaction: Transaction) { self.transaction = transaction }

  /// Whether it is small enough for one more block.
  var hasRoom: Bool { outcome == nil && transaction.changedByteCount < Self.changedByteLimit }

  /// Notes that it was committed, or undone.
  func end(_ result: Result<Void, StoreError>) {
    if case .failure = result { for birth in legacy?.births ?? [] { birth.cancel() } }
    outcome = result
  }
}
