import CambiumCore
import Dispatch
import Synchronization

/// A database that any task or thread may use: what goes in and comes out is `Sendable`.
///
/// ```swift
/// let database = try await RealmDatabase(configuration)
/// try await database.write { realm in realm.create(Dog.self, value: ["name": "Rex"]) ; return () }
/// let count = try database.read { realm in realm.objects(Dog.self).count }
/// ```
///
/// Reads run where they are called, side by side, each on the newest version. Writes run one after the
/// other on an executor of the database; those that wait at the same time share what the medium has to do, and
/// with `allowGrouping` a transaction. The Realm that a closure gets ends with it: kept beyond, it stops the
/// program where it is used.
public final class RealmDatabase: Sendable {
  /// How it was opened.
  public let configuration: Realm.Configuration
  let writer: DatabaseWriter
  private let state: Mutex<State>
  /// The reads and writes that are under way.
  private let calls = DispatchGroup()

  private struct State {
    /// Keeps the database open; nil once it is closed.
    var database: OpenDatabase?
    /// What happened since somebody follows the database.
    var log: ChangeLog?
  }

  /// Opens the database, away from the caller's executor, with the classes of `configuration`.
  ///
  /// - Throws: `CancellationError` in a cancelled task; `Realm.Error` when the file cannot be opened, holds
  ///   other classes than the program, or is open in this process with other options.
  public init(_ configuration: Realm.Configuration = .defaultConfiguration) async throws {
    try Task.checkCancellation()
    self.configuration = configuration
    let database = try await BackgroundOpening.database(configuration)
    try Task.checkCancellation()
    if let error = RealmInstance.mismatch(configuration, database.coordinator) { throw error }
    writer = DatabaseWriter(configuration)
    state = Mutex(State(database: database))
  }

  deinit {
    writer.end()
    state.withLock { $0.log.take() }?.end()
  }

  /// Whether whoever opens the database where it was opened still gets this one.
  ///
  /// False once its file was deleted, moved away or replaced: then it can be read, and not be written.
  ///
  /// May be called from any thread, and asks the system; true when the database was closed.
  public var isInPlace: Bool {
    state.withLock { $0.database }?.coordinator.database.isInPlace ?? true
  }

  // MARK: Reading

  /// Runs `body` on the newest version and returns what it returns; may be called from any thread, and
  /// waits for nobody.
  ///
  /// The Realm is frozen, and may be read until `body` returns. With a `timeout`, queries, sorts,
  /// aggregates and walks of collections that are not done when it is over end with what they have, and
  /// `TimeoutError` is thrown in place of what `body` returns: before it does anything that lasts
  /// outside of itself, `body` should have returned.
  ///
  /// - Throws: what `body` throws; `RealmDatabase.TimeoutError`; `Realm.Error` with code `.fail` when the
  ///   database was closed, or its newest version cannot be read with these classes.
  public func read<Value: Sendable>(
    timeout: Duration? = nil, _ body: @Sendable (Realm) throws -> Value
  ) throws -> Value {
    try read(timeout: timeout, timeout.map { Interruption(after: $0) }, body)
  }

  /// The same, on a thread that the caller's executor does not miss.
  ///
  /// A task that is cancelled ends what `body` evaluates as a timeout does.
  ///
  /// - Throws: `CancellationError` in a cancelled task, otherwise as the synchronous form.
  public func read<Value: Sendable>(
    timeout: Duration? = nil, _ body: @escaping @Sendable (Realm) throws -> Value
  ) async throws -> Value {
    try Task.checkCancellation()
    let interruption = Interruption(after: timeout)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        BlockingCalls.reads.run {
          continuation.resume(
            with: Result { () throws -> Value in
              try self.read(timeout: timeout, interruption, body)
            })
        }
      }
    } onCancel: {
      interruption.cancel()
    }
  }

  /// The same, asking `interruption` at every leaf.
  func read<Value>(
    timeout: Duration?, _ interruption: Interruption?, _ body: (Realm) throws -> Value
  ) throws -> Value {
    try call { database in
      let realm = try frozen(database, interruption)
      defer { realm.invalidate() }
      let result = Result { try body(Realm(realm)) }
      switch interruption?.reason {
      case nil: return try result.get()
      case .cancellation: throw CancellationError()
      case .deadline: throw TimeoutError(timeout: timeout ?? .zero)
      }
    }
  }

  /// A read took longer than it was given.
  public struct TimeoutError: Error, Hashable, CustomStringConvertible {
    /// The time that it was given.
    public let timeout: Duration

    package init(timeout: Duration) { self.timeout = timeout }

    /// What happened, for people.
    public var description: String {
      "The read was not done after \(timeout). Give it more time, or ask for less: an index on "
        + "what a query compares lets it look at fewer objects."
    }
  }

  /// Runs `body` on the newest version; objects and collections that it hands on stay readable as long as
  /// somebody keeps them, and keep the version's pages for so long.
  ///
  /// - Throws: as `read`.
  public func snapshot<Value>(_ body: (Realm) throws -> Value) throws -> Value {
    try call { database in try body(Realm(frozen(database))) }
  }

  /// Sizes of the store, and the versions that are held, by whatever process: for watching it.
  ///
  /// May be called from any thread.
  ///
  /// - Throws: `Realm.Error` when the database was closed, or the store fails.
  public func statistics() throws -> StoreStatistics {
    try call { database in
      do throws(StoreError) {
        return try database.coordinator.database.statistics()
      } catch {
        throw RLMError(error, path: configuration.path)
      }
    }
  }

  /// The newest version, frozen; evaluations ask `interruption`, and stay ended once it has ended one.
  package func snapshot(_ interruption: Interruption) throws -> Realm {
    try call { database in try Realm(frozen(database, interruption)) }
  }

  /// Runs `body` with what is below the objects.
  package func withDatabase<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try call { database in try body(database.coordinator.database) }
  }

  private func frozen(
    _ database: OpenDatabase, _ interruption: Interruption? = nil
  ) throws -> RealmInstance {
    let coordinator = database.coordinator
    let (_, classes) = try coordinator.resolve(configuration, configuration.declaredClasses)
    do throws(StoreError) {
      let snapshot = try coordinator.database.snapshot()
      if let layout = coordinator.layout(of: classes),
        let realm = RealmInstance.frozen(snapshot, layout, coordinator, interruption)
      {
        return realm
      }
    } catch {
      throw RLMError(error, path: configuration.path)
    }
    throw RLMError(
      .schemaMismatch,
      "The database at '\(configuration.path)' was given another schema by somebody else. Open it anew.",
      path: configuration.path)
  }

  // MARK: Writing

  /// Runs `body` in a write transaction, commits, and returns what it returned.
  ///
  /// Waits for writers before it; may be called from any thread but from inside of a write. When `body`
  /// throws, nothing is changed.
  ///
  /// The changes are durable as far as the configuration says when this returns. While others wait to write,
  /// the next one begins before that, and reads show the changes: one sync then makes several writes durable.
  ///
  /// - Throws: what `body` throws; `Realm.Error` when the database was closed or the store fails. After a
  ///   failed sync reads go on to show the changes, and the store refuses writes until it is opened anew: it
  ///   has the changes then or has them not, with those of all writes before.
  @discardableResult
  public func write<Value: Sendable>(
    _ body: @Sendable (Realm) throws -> Value
  ) throws -> Value {
    try call { _ in try writer.write(body) }
  }

  /// The same without a waiting thread.
  ///
  /// - Throws: `CancellationError` when the task is cancelled before `body` begins, which then does not
  ///   run; otherwise as the synchronous form.
  @discardableResult
  public func write<Value: Sendable>(
    _ body: @escaping @Sendable (Realm) throws -> Value
  ) async throws -> Value {
    try await write(allowGrouping: false, body)
  }

  /// The same, and with `allowGrouping` in one transaction with others.
  ///
  /// Writes that allow it and wait at the same time share a transaction, so that many small ones take a
  /// fraction of the time. Each sees what those before it have changed; when `body` throws, its own
  /// changes are undone and no others. They become visible and durable together, after the last of them, so a
  /// `body` that takes long keeps the others waiting; when the transaction cannot be committed all of them throw
  /// the reason. `body` changes objects and nothing else: to commit, cancel or invalidate, to freeze, to observe or
  /// to copy the Realm stops the program. One that is to make room in a full store is better not grouped.
  ///
  /// - Throws: as without.
  @discardableResult
  public func write<Value: Sendable>(
    allowGrouping: Bool, _ body: @escaping @Sendable (Realm) throws -> Value
  ) async throws -> Value {
    try Task.checkCancellation()
    var database: OpenDatabase? = try enter()
    defer {
      // Closing waits until it is let go.
      withExtendedLifetime(database) {}
      database = nil
      calls.leave()
    }
    return try await writer.writeLater(allowGrouping: allowGrouping, body)
  }

  // MARK: Following

  /// The objects that transactions touch after `position`, in the order of versions, whoever commits them:
  /// for caches, search indexes, and queues of what others are to be told.
  ///
  /// What is kept begins with the first call: the latest 1,024 steps, and 262,144 keys in all of them
  /// together. A step is one commit, or several that came fast. A position can be kept in a file: of what
  /// happened before the first call, in other processes or while this program did not run, each of the
  /// latest 32 commits keeps up to 2,048 keys of a class and 8 KiB (a database in memory keeps nothing),
  /// and what came after the position is one step. Who gives no position, or one that is older than all
  /// that, is told so by ``DatabaseChange/snapshot(_:)`` first: he reads what he needs then, and follows the
  /// steps, of which the first ones may be in what he has read already.
  ///
  /// Each loop over the sequence begins at `position`. It ends when the database is closed and when the
  /// task is cancelled. May be called from any thread.
  ///
  /// - Throws: `Realm.Error` when the database was closed, or cannot be read with these classes.
  public func changes(since position: DatabasePosition? = nil) throws -> DatabaseChanges {
    try call { database in
      if let log = state.withLock({ $0.log }) {
        return DatabaseChanges(log: log, position: position)
      }
      let realm = try frozen(database)
      guard let log = ChangeLog(realm.currentSnapshot, realm.layout, database.coordinator) else {
        throw RLMError(.fail, "The database cannot be followed.", path: configuration.path)
      }
      let used = state.withLock { state -> ChangeLog? in
        // Who closes the database ends what is there by then.
        if state.log == nil, state.database != nil { state.log = log }
        return state.log
      }
      if used !== log { log.end() }
      guard let used else { throw wasClosed }
      return DatabaseChanges(log: used, position: position)
    }
  }

  // MARK: Closing

  /// Ends the database, and the loops over its changes: takes no new work, waits for the work that has begun,
  /// and lets go of the file.
  ///
  /// Realms that were opened elsewhere keep theirs. Closing again does nothing but wait.
  public func close() async {
    let (database, log) = state.withLock { ($0.database.take(), $0.log.take()) }
    log?.end()
    await withCheckedContinuation { continuation in
      calls.notify(queue: writer.queue) { continuation.resume() }
    }
    await writer.close()
    withExtendedLifetime(database) {}
  }

  // MARK: Calls

  /// Begins a call, which closing waits for.
  private func enter() throws -> OpenDatabase {
    let database = state.withLock { state in
      if state.database != nil { calls.enter() }
      return state.database
    }
    if let database { return database }
    throw wasClosed
  }

  private var wasClosed: RLMError {
    RLMError(
      .fail, "The database at '\(configuration.path)' was closed. Open it anew.",
      path: configuration.path)
  }

  private func call<Value>(_ body: (OpenDatabase) throws -> Value) throws -> Value {
    var database: OpenDatabase? = try enter()
    defer {
      // Closing waits until it is let go.
      database = nil
      calls.leave()
    }
    return try body(database!)
  }
}
