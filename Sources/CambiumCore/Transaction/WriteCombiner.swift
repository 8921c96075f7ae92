import Synchronization

/// Lets changes that callers hand over as blocks share one transaction.
///
/// Who comes while nobody leads waits for its turn to write, takes all blocks that wait by then, runs
/// one after the other in one transaction, publishes it, gives the lead to the next one who waits, and
/// makes the version durable for all of them. The others sleep until their block's fate is known.
final class WriteCombiner: Sendable {
  /// A block and the thread that waits for it.
  final class Job: Sendable {
    /// What a job is woken for.
    enum Call: Sendable {
      /// Its caller is to lead.
      case lead
      /// It is done, or has failed.
      case end((any Error)?)
    }

    let body: @Sendable (Transaction) throws -> Void
    private let call = Mutex<Call?>(nil)
    private let signal = CommitSignal()

    init(_ body: @escaping @Sendable (Transaction) throws -> Void) { self.body = body }

    fileprivate func wake(_ call: Call) {
      self.call.withLock { $0 = call }
      signal.raise()
    }

    fileprivate func wait() -> Call {
      var taken: Call?
      signal.wait(timeoutNanoseconds: .max) {
        taken = call.withLock { $0 }
        return taken != nil
      }
      call.withLock { $0 = nil }
      return taken ?? .lead
    }
  }

  private struct State {
    var isLed = false
    /// The next leader, if there is one, is not among them.
    var waiting: [Job] = []
  }

  private let state = Mutex(State())
  /// No more blocks share a transaction.
  private static let largestCount = 256

  /// Runs `job`, perhaps with others, and returns when it is durable.
  func run(_ job: Job, in database: Database) throws {
    let leads = state.withLock { state in
      if state.isLed {
        state.waiting.append(job)
        return false
      }
      state.isLed = true
      return true
    }
    if !leads, case .end(let failure) = job.wait() {
      if let failure { throw failure }
      return
    }
    try lead(job, database)
  }

  /// How many wait besides who leads.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Does the work of all who wait, and the caller's own.
  private func lead(_ own: Job, _ database: Database) throws {
    // Until it is this one's turn others may come.
    let transaction = Result { try database.beginWrite() }
    let others = state.withLock { state -> [Job] in
      let others = Array(state.waiting.prefix(Self.largestCount - 1))
      state.waiting.removeFirst(others.count)
      return others
    }
    let version = (try? transaction.get()).flatMap { publish([own] + others, $0) }
    endLead()
    if let version {
      let failure = failure(toMakeDurable: version, database)
      for job in others { job.wake(.end(failure)) }
      if let failure { throw failure }
      return
    }
    // One of them has failed: each on its own, so that it concerns nobody else.
    let failure = alone(own, database)
    for job in others { job.wake(.end(alone(job, database))) }
    if let failure { throw failure }
  }

  /// Publishes what all of `jobs` do; nil when one of them failed, and then none was done.
  private func publish(_ jobs: [Job], _ transaction: Transaction) -> Version? {
    do {
      for job in jobs {
        try job.body(transaction)
        try transaction.spillIfNeeded()
      }
      return try transaction.publish(.relaxed, []).head.version
    } catch {
      transaction.rollback()
      return nil
    }
  }

  /// Gives the lead to the next one who waits.
  private func endLead() {
    let next = state.withLock { state -> Job? in
      state.isLed = !state.waiting.isEmpty
      return state.isLed ? state.waiting.removeFirst() : nil
    }
    next?.wake(.lead)
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
  private func alone(_ job: Job, _ database: Database) -> (any Error)? {
    do {
      let transaction = try database.beginWrite()
      // One that is not committed is rolled back.
      defer { transaction.rollback() }
      try job.body(transaction)
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
    try combiner.run(WriteCombiner.Job(body), in: self)
  }
}
