import CambiumCore
import Dispatch
import Synchronization

/// Where the writes of a ``RealmDatabase`` run: one after the other, on a queue.
///
/// A write behind which others wait is published and lets the next one begin; its caller waits until it is
/// durable, together with the others. One that nobody waits behind is durable when it ends. Those of tasks that
/// allow it share a transaction.
///
/// Unchecked: the Realm is used on the queue alone.
final class DatabaseWriter: @unchecked Sendable {
  let queue = DispatchQueue(label: "cambium.database")
  private let context: QueueContext
  let configuration: Realm.Configuration
  /// Opened by the first write.
  private var realm: Realm?
  private let waitingCount = Atomic(0)
  /// How many writes have been asked for and have not begun.
  var waitingWriteCount: Int { waitingCount.load(ordering: .relaxed) }
  /// Writes of tasks that may share a transaction.
  let blocks = Mutex(Blocks())
  /// For so long blocks follow each other in one transaction; set before the first write.
  var groupNanoseconds: Int64 = 1_000_000

  init(_ configuration: Realm.Configuration) {
    self.configuration = configuration
    context = QueueContext(queue)
  }

  /// Lets go of the Realm.
  func close() async {
    await withCheckedContinuation { continuation in
      queue.async { [self] in
        realm = nil
        continuation.resume()
      }
    }
  }

  /// The same without waiting.
  func end() { queue.async { [self] in realm = nil } }

  func opened() throws -> Realm {
    let realm = try realm ?? Realm(configuration: configuration, queue: queue)
    self.realm = realm
    return realm
  }

  /// Notes that a write begins; called before its transaction does.
  func noteBeginning() { waitingCount.subtract(1, ordering: .relaxed) }

  /// Whether what is written now is to become durable together with what others write.
  var sharesSync: Bool {
    configuration.durability == .full && waitingWriteCount > 0
  }

  // MARK: Threads

  /// Writes; the caller's thread waits for its turn and for the medium.
  func write<Value>(_ body: (Realm) throws -> Value) throws -> Value {
    guard !context.isCurrent else {
      fatalError(
        "A write of the database at '\(configuration.path)' was begun inside of another one, for which it "
          + "would wait for ever. Make all changes in one closure.")
    }
    waitingCount.add(1, ordering: .relaxed)
    let (value, published) = try queue.sync {
      noteBeginning()
      return try writeHere(body)
    }
    do throws(StoreError) { try published?.waitUntilDurable() } catch {
      throw RLMError(error, path: configuration.path)
    }
    return value
  }

  /// A version that is not durable yet.
  private struct Published {
    let version: Version
    let database: Database

    func waitUntilDurable() throws(StoreError) { try database.makeDurable(version) }
  }

  private func writeHere<Value>(
    _ body: (Realm) throws -> Value
  ) throws -> (Value, Published?) {
    let realm = try opened()
    realm.instance.asyncWrites.runWaiting(realm.instance)
    var published: Published?
    let value = try realm.write {
      let value = try body(realm)
      if sharesSync, realm.isInWriteTransaction { published = try publish(realm.instance) }
      return value
    }
    return (value, published)
  }

  private func publish(_ instance: RealmInstance) throws -> Published {
    var version: Version = 0
    do throws(StoreError) {
      try instance.commitWrite { transaction, metadata throws(StoreError) in
        let snapshot = try transaction.commitAwaited(metadata: metadata)
        version = snapshot.version
        return snapshot
      }
    } catch {
      throw RLMError(error, path: configuration.path)
    }
    return Published(version: version, database: instance.coordinator.database)
  }

  // MARK: Tasks

  /// Writes when it is this one's turn; no thread waits, neither for that nor for the medium.
  func writeLater<Value: Sendable>(
    allowGrouping: Bool, _ body: @escaping @Sendable (Realm) throws -> Value
  ) async throws -> Value {
    guard !configuration.readOnly else {
      fatalError("Can't perform transactions on read-only Realms.")
    }
    let isCancelled = Flag()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        waitingCount.add(1, ordering: .relaxed)
        if allowGrouping {
          add(Block(body, isCancelled, continuation))
        } else {
          queue.async { [self] in add(body, isCancelled, continuation) }
        }
      }
    } onCancel: {
      isCancelled.value.store(true, ordering: .releasing)
    }
  }

  final class Flag: Sendable { let value = Atomic(false) }

  private func add<Value: Sendable>(
    _ body: @escaping (Realm) throws -> Value, _ isCancelled: Flag,
    _ continuation: CheckedContinuation<Value, any Error>
  ) {
    let instance: RealmInstance
    do {
      instance = try opened().instance
      try checkActiveVersions(instance)
    } catch {
      noteBeginning()
      return continuation.resume(throwing: error)
    }
    // What there is to tell of a write that has begun is told by itself.
    let didNotBegin = { [self] (error: (any Error)?) in
      guard let error else { return }
      noteBeginning()
      continuation.resume(throwing: error)
    }
    instance.asyncWrites.runOrAdd(instance, onComplete: didNotBegin) { [self] in
      noteBeginning()
      run(Realm(instance), body, isCancelled, continuation)
    }
  }

  func checkActiveVersions(_ instance: RealmInstance) throws {
    do throws(StoreError) {
      try instance.coordinator.database.checkActiveVersions(
        limit: configuration.maximumNumberOfActiveVersions.map { Int(clamping: $0) })
    } catch {
      throw RLMError(error, path: configuration.path)
    }
  }

  /// Runs `body` in the transaction that has begun, and commits.
  private func run<Value: Sendable>(
    _ realm: Realm, _ body: (Realm) throws -> Value, _ isCancelled: Flag,
    _ continuation: CheckedContinuation<Value, any Error>
  ) {
    do {
      if isCancelled.value.load(ordering: .acquiring) { throw CancellationError() }
      let value = try body(realm)
      guard sharesSync, realm.isInWriteTransaction else {
        if realm.isInWriteTransaction { try realm.commitWrite() }
        return continuation.resume(returning: value)
      }
      realm.commitAsyncWrite(allowGrouping: true) { error in
        continuation.resume(with: error.map { .failure($0) } ?? .success(value))
      }
    } catch {
      if realm.isInWriteTransaction { realm.cancelWrite() }
      continuation.resume(throwing: error)
    }
  }
}
