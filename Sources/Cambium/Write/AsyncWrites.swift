import CambiumCore
import Synchronization

/// Names an asynchronous write or commit.
public typealias AsyncTransactionId = UInt32

/// The asynchronous writes of one Realm instance: blocks that wait for their turn, in the order in which
/// they came, and commits that wait for the medium.
///
/// Belongs to the instance's context, except where said otherwise. While there is work it keeps the
/// instance.
final class AsyncWrites: @unchecked Sendable {
  // Unchecked: what other threads may touch is the keeper, under its lock.

  /// Those of a frozen instance, which has none.
  static let none = AsyncWrites()

  /// Work for one turn.
  enum Work {
    /// A block, and what follows it.
    case block(() -> Void, commits: Bool, onComplete: ((Error?) -> Void)?)
    /// A task, which is given the turn.
    case task(CheckedContinuation<WriteTurn?, Never>)
  }

  struct Entry {
    let id: AsyncTransactionId
    let work: Work
    /// Whether it outlives an invalidation of the Realm, which is none of its business.
    var isKept = false
  }

  private var lastID: AsyncTransactionId = 0
  var entries = Waiting<Entry>()
  private let commits = AsyncCommits()
  /// The turn that was asked for.
  private var turn: WriteTurn? {
    didSet { watched.withLock { [turn] in $0 = turn } }
  }
  /// The same, for whoever looks after it.
  let watched = Mutex<WriteTurn?>(nil)
  private let expiry = BackgroundJob(.shared)
  /// The turn that was given to a task, until that has ended.
  var given: WriteTurn?
  /// How long a turn waits for its context or its task.
  ///
  /// One that is busy, or does not run, keeps nobody from writing: all threads that could run it may be
  /// waiting for the turn themselves.
  private static let limitNanoseconds: Int64 = 250_000_000
  /// Whether a block, or a task that was given the turn, is at work.
  var isWriting = false
  /// The instance, as long as there is work.
  private let keeper = Mutex<Keeper?>(nil)
  /// When blocks have run for so long, the context gets to do other things.
  private static let runNanoseconds: Int64 = 1_000_000
  /// Whether it is doing them, and will go on with blocks then.
  private var hasYielded = false
  /// Whether blocks run one after the other.
  private var isInRun = false
  /// The commits of such a run.
  private let syncs = PostponedSyncs()
  /// Unchecked: keeps the instance, and uses nothing of it.
  private struct Keeper: @unchecked Sendable { let instance: RealmInstance }

  /// Whether something waits, for its turn or for the medium.
  var hasWork: Bool { !entries.isEmpty || !commits.isEmpty || isWriting }

  /// Whether nobody is at work or has asked for a turn, and no commit holds up what follows it.
  var mayBegin: Bool { turn == nil && !isWriting && !commits.holdBlocks }

  // MARK: Blocks

  /// Queues a block; with `commits` it is committed after it has run.
  func add(
    _ instance: RealmInstance, commits: Bool, onComplete: ((Error?) -> Void)?,
    _ block: @escaping () -> Void
  ) -> AsyncTransactionId {
    let id = newID()
    entries.append(Entry(id: id, work: .block(block, commits: commits, onComplete: onComplete)))
    goOn(instance)
    return id
  }

  /// Runs a block at once where nobody else writes or waits to, and queues it otherwise.
  func runOrAdd(
    _ instance: RealmInstance, onComplete: ((Error?) -> Void)?, _ block: @escaping () -> Void
  ) {
    let isFirst = entries.isEmpty
    entries.append(
      Entry(
        id: newID(), work: .block(block, commits: false, onComplete: onComplete), isKept: true))
    guard isFirst, mayBegin, !hasYielded, let transaction = transactionIfFree(instance)
    else { return goOn(instance) }
    runBlocks(from: transaction, instance)
  }

  /// Runs blocks that wait for the writer lock, on this thread: before a synchronous write that came later.
  func runWaiting(_ instance: RealmInstance) {
    // A turn that came while this thread could not run may be gone: then another one has been asked for.
    while case .block? = entries.first?.work, !isWriting, !commits.holdBlocks, let turn {
      turn.wait()
      self.turn = nil
      do throws(StoreError) { runBlocks(from: try turn.take(), instance) } catch {
        fail(instance, error)
      }
    }
  }

  func newID() -> AsyncTransactionId {
    lastID &+= 1
    return lastID
  }

  /// Forgets a block that has not begun, or what is to be called after a commit.
  func cancel(_ id: AsyncTransactionId, _ instance: RealmInstance) {
    if let place = entries.firstIndex(where: { $0.id == id }) {
      guard case .block = entries[place].work else { return }
      entries.remove(at: place)
      goOn(instance)
    } else {
      commits.forgetCompletion(of: id)
    }
  }

  // MARK: Turns

  /// Sees to it that work goes on, or lets go of the instance when there is none.
  func goOn(_ instance: RealmInstance) {
    if hasWork {
      keeper.withLock { if $0 == nil { $0 = Keeper(instance: instance) } }
      askForTurn(instance)
      return
    }
    turn?.giveBack()
    turn = nil
    let kept = keeper.withLock { $0.take() }
    withExtendedLifetime(kept) {}
  }

  /// Asks for a turn if there is work that may begin.
  private func askForTurn(_ instance: RealmInstance) {
    guard mayBegin, !hasYielded, !entries.isEmpty, let context = instance.context
    else { return }
    let job = ContextJob(context, self) { [self] in run(instance) }
    turn = WriteTurn.ask(
      instance.coordinator.database, instance.configuration.durability
    ) { [weak self] in
      job.start()
      self?.limitWait()
    }
  }

  /// Sees to it that a turn goes back that its context does not take; called from any thread.
  func limitWait() {
    expiry.schedule(at: expiry.now + Self.limitNanoseconds) { [weak self] now in
      guard let turn = self?.watched.withLock({ $0 }), let start = turn.waitingSince else {
        return nil
      }
      if now - start < Self.limitNanoseconds { return start + Self.limitNanoseconds }
      turn.giveBack()
      return nil
    }
  }

  /// Runs blocks; called in the context when the turn is there.
  private func run(_ instance: RealmInstance) {
    // A synchronous write may have taken the one that this was called for, and another be waited for.
    guard let turn, turn.isSettled else { return }
    var next: Transaction?
    do throws(StoreError) {
      next = try turn.take()
      self.turn = nil
    } catch {
      self.turn = nil
      return fail(instance, error)
    }
    if case .task? = entries.first?.work, let transaction = next {
      return give(transaction, instance)
    }
    runBlocks(from: next, instance)
  }

  /// Runs blocks, the first of them in `transaction`.
  private func runBlocks(from transaction: Transaction?, _ instance: RealmInstance) {
    var next = transaction
    let end = expiry.now + Self.runNanoseconds
    isInRun = true
    defer { endRun() }
    while let transaction = next {
      guard let work = takeBlock() else {
        transaction.rollback()
        break
      }
      run(work, transaction, instance)
      next = nil
      if mayGoOn {
        if expiry.now >= end { return yield(instance) }
        next = transactionIfFree(instance)
      }
    }
    goOn(instance)
  }

  /// Has the commits of a run synced: together, and not while its blocks run, whose completions could
  /// not be called before anyway.
  private func endRun() {
    isInRun = false
    syncs.ask()
  }

  /// Lets the context do other things before the next block, which begins then if nobody else writes.
  private func yield(_ instance: RealmInstance) {
    guard let context = instance.context else { return goOn(instance) }
    hasYielded = true
    ContextJob(context, self) { [self] in
      hasYielded = false
      guard turn == nil, !isWriting, mayGoOn else { return goOn(instance) }
      runBlocks(from: transactionIfFree(instance), instance)
    }.start()
  }

  /// Whether the next block may begin at once.
  private var mayGoOn: Bool {
    guard case .block? = entries.first?.work else { return false }
    return !commits.holdBlocks
  }

  func transactionIfFree(_ instance: RealmInstance) -> Transaction? {
    // What goes wrong shows when the turn is asked for.
    try? instance.coordinator.database.beginWriteIfFree(
      expecting: instance.configuration.durability)
  }

  private func takeBlock() -> Entry? {
    guard case .block? = entries.first?.work else { return nil }
    return entries.removeFirst()
  }

  private func run(_ entry: Entry, _ transaction: Transaction, _ instance: RealmInstance) {
    guard case .block(let block, let commits, let onComplete) = entry.work else { return }
    isWriting = true
    defer { isWriting = false }
    do throws(StoreError) {
      if let obstacle = try instance.begin(transaction) {
        onComplete?(obstacle)
        return
      }
    } catch {
      onComplete?(RLMError(error, path: instance.configuration.path))
      return
    }
    let last = self.commits.last
    block()
    guard unsafe instance.session != nil else {
      // The block has committed or cancelled by itself; who did not ask for the commit is told of it otherwise.
      let follows = commits && self.commits.last != nil && self.commits.last != last
      self.commits.addEnd(newID(), follows: follows, onComplete)
      self.commits.complete(path: instance.configuration.path)
      return
    }
    if commits {
      _ = commit(instance, allowGrouping: false, onComplete)
    } else {
      instance.cancelWrite()
    }
  }

  /// Tells everybody who waits for a turn that there will be none.
  private func fail(_ instance: RealmInstance, _ error: StoreError) {
    for entry in entries.removeAll() {
      switch entry.work {
      case .block(_, _, let onComplete):
        onComplete?(RLMError(error, path: instance.configuration.path))
      case .task(let continuation):
        isWriting = true
        continuation.resume(returning: WriteTurn(failing: error))
      }
    }
    goOn(instance)
  }

  // MARK: Commits

  /// Commits the running transaction and calls `onComplete` when it is durable, in the context.
  ///
  /// For a task `onComplete` may be called before this returns.
  func commit(
    _ instance: RealmInstance, allowGrouping: Bool, isTask: Bool = false,
    _ onComplete: ((Error?) -> Void)?
  ) -> AsyncTransactionId {
    let id = newID()
    let durability = instance.configuration.durability
    commits.add(id, isBarrier: !allowGrouping && durability == .full, onComplete)
    guard let context = instance.context else { return id }
    let job = CommitJob(context, self, id)
    do throws(StoreError) {
      try instance.commitWrite { transaction, metadata throws(StoreError) in
        if durability == .full {
          let commit = try transaction.commitUnsynced(metadata: metadata) { job.end($0) }
          commits.note(commit.snapshot.version, of: id)
          if isInRun, allowGrouping { syncs.add(commit.sync) } else { commit.sync() }
          return commit.snapshot
        }
        let snapshot = try transaction.commit(durability: durability, metadata: metadata)
        job.end(nil)
        return snapshot
      }
    } catch {
      job.end(error)
    }
    job.didCommit(instance, isTask: isTask)
    goOn(instance)
    return id
  }

  /// Notes what has become of a commit, and calls those that are known, in their order.
  func end(_ id: AsyncTransactionId, _ failure: StoreError?, _ instance: RealmInstance) {
    commits.noteEnd(of: id, failure)
    commits.complete(path: instance.configuration.path)
    goOn(instance)
  }

  /// Has the context do the same; called on any thread.
  ///
  /// Of commits that end together it hears at once. The thread that tells it has no part in the instance, which
  /// the commit keeps: whoever is told last may let go of it.
  func endLater(
    _ id: AsyncTransactionId, _ failure: StoreError?, _ context: any RealmContext
  ) {
    guard commits.noteEndLater(of: id, failure) else { return }
    ContextJob(context, self) { [self] in
      commits.noteEnds()
      guard let instance = keeper.withLock({ $0?.instance }) else { return }
      commits.complete(path: instance.configuration.path)
      goOn(instance)
    }.start()
  }

  // MARK: Besides

  /// Ends what is pending before a synchronous write begins; the transaction that was asked for already, if
  /// there is one: waiting behind that would never end here.
  func transactionForSynchronousWrite(_ instance: RealmInstance) -> Transaction? {
    if !hasWork, turn == nil { return nil }
    commits.settle(instance.coordinator.database, path: instance.configuration.path)
    // A task that has not begun yet waits for another turn.
    if let transaction = try? given?.take() { return transaction }
    guard let turn else { return nil }
    turn.wait()
    self.turn = nil
    defer { goOnLater(instance) }
    return try? turn.take()
  }

  /// Has the work that waits go on when the transaction that begins now has ended.
  private func goOnLater(_ instance: RealmInstance) {
    guard let context = instance.context else { return }
    ContextJob(context, self) { [self] in goOn(instance) }.start()
  }

  /// Drops what has not begun and completes what was committed.
  func end(_ instance: RealmInstance) {
    if !hasWork { return }
    for entry in entries.removeAll() {
      if entry.isKept {
        entries.append(entry)
      } else if case .task(let continuation) = entry.work {
        continuation.resume(returning: nil)
      }
    }
    commits.settle(instance.coordinator.database, path: instance.configuration.path)
    goOn(instance)
  }

  /// Lets go of the instance, whose context is gone; called on any thread.
  func abandon() {
    let kept = keeper.withLock { $0.take() }
    withExtendedLifetime(kept) {}
  }
}
