import Synchronization

/// Lets changes that callers hand over as blocks share one transaction.
///
/// Who comes while nobody leads waits for the writer lock, takes all blocks that wait by then, runs
/// one after the other in one transaction, publishes it, gives the lead to the next one who waits, and
/// makes the version durable for all of them. The others sleep until their block's fate is known.
final class WriteCombiner: Sendable {
  typealias Body = @Sendable (Transaction) throws -> Void

  private let queue = LeaderQueue<Body, any Error>()
  /// No more blocks share a transaction.
  private static let largestCount = 256

  /// Runs `body`, perhaps with others, and returns when it is durable.
  func run(_ body: @escaping Body, in database: Database) throws {
    if let waiter = queue.join(body), case .end(let failure) = waiter.wait() {
      if let failure { throw failure }
      return
    }
    try lead(body, database)
  }

  /// How many wait besides who leads.
  var waitingCount: Int { queue.waitingCount }

  /// Does the work of all who wait, and the caller's own.
  private func lead(_ own: @escaping Body, _ database: Database) throws {
    // Until it is this one's turn others may come.
    let transaction = Result { try database.beginWrite() }
    let others = queue.take(limit: Self.largestCount - 1)
    let version = (try? transaction.get()).flatMap { publish([own] + others.map(\.work), $0) }
    queue.passLead()
    if let version {
      let failure = failure(toMakeDurable: version, database)
      for other in others { other.end(failure) }
      if let failure { throw failure }
      return
    }
    // One of them has failed: each on its own, so that it concerns nobody else.
    let failure = alone(own, database)
    for other in others { other.end(alone(other.work, database)) }
    if let failure { throw failure }
  }

  /// Publishes what all of `bodies` do; nil when one of them failed, and then none was done.
  private func publish(_ bodies: [Body], _ transaction: Transaction) -> Version? {
    do {
      for body in bodies {
        try body(transaction)
        try transaction.spillIfNeeded()
      }
      return try transaction.publish(.relaxed, []).head.version
    } catch {
      transaction.rollback()
      return nil
    }
  }

  private func failure(toMakeDurable version: Version, _ database: Database) -> (any Error)? {
    do {
      try database.store.makeDurable(version)
      return nil
    } catch {
      return error
    }
  }

  /// Runs a block in a transaction of its own; its error, if there is one.
  private func alone(_ body: Body, _ database: Database) -> (any Error)? {
    do {
      let transaction = try database.beginWrite()
      // One that is not committed is rolled back.
      defer { transaction.rollback() }
      try body(transaction)
      try transaction.commitTogether()
      return nil
    } catch {
      return error
    }
  }
}

extension Database {
  /// Runs `body` in a transaction and returns when its changes are durable; with others that wait at
  /// the same time it may share the transaction, and with it the version.
  ///
  /// For many callers with small changes: what is written and synced once is what all of them changed.
  /// `body` may run on another caller's thread, and it runs again, alone, when somebody it shares with
  /// fails: it must change nothing but the transaction, and neither end it nor keep it. What it throws
  /// is thrown here, and then it has changed nothing. Blocks run one after the other, each on what
  /// those before it have done. After a failed sync all of them throw, and the store is poisoned.
  public func writeTogether(
    _ body: @escaping @Sendable (Transaction) throws -> Void
  ) throws {
    try combiner.run(body, in: self)
  }
}
