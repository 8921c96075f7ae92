import CambiumCore
import Dispatch
import Synchronization

/// Where the writes of a ``RealmDatabase`` run: one after the other, on a queue.
///
/// Blocks of tasks that wait at the same time share a transaction. One behind which others wait is published
/// and lets the next one begin; its callers wait until it is durable, together with the others. One that nobody
/// waits behind is durable when it ends. A thread's write is a transaction of its own.
///
/// Unchecked: the Realm is used on the queue alone.
final class DatabaseWriter: @unchecked Sendable {
  let queue = DispatchQueue(label: "cambium.database")
  private let context: QueueContext
  private let configuration: Realm.Configuration
  /// Opened by the first write.
  private var realm: Realm?
  private let waitingCount = Atomic(0)
  /// How many writes have been asked for and have not begun.
  var waitingWriteCount: Int { waitingCount.load(ordering: .relaxed) }

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

  private func opened() throws -> Realm {
    let realm = try realm ?? Realm(configuration: configuration, queue: queue)
    self.realm = realm
    return realm
  }

  /// Notes that a write begins; called before its transaction does.
  private func noteBeginning() { waitingCount.subtract(1, ordering: .relaxed) }

  /// Whether what is written now is to become durable together with what others write.
  private var sharesSync: Bool {
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
        let snapshot = try transaction.commit(durability: .relaxed, metadata: metadata)
        version = snapshot.version
        return snapshot
      }
    } catch {
      throw RLMError(error, path: configuration.path)
    }
    return Published(version: version, database: instance.coordinator.database)
  }

  // MARK: Tasks

  /// A write of a task.
  private struct Block: Sendable {
    let isCancelled: Flag
    /// Makes the changes; returns what is to be told when they are durable, or that they never will be.
    let body: @Sendable (Realm) throws -> Completion
    let fail: @Sendable (any Error) -> Void
  }

  private typealias Completion = @Sendable ((any Error)?) -> Void

  /// Those that wait, in the order in which they came.
  private let blocks = Mutex<Waiting<Block>>(Waiting())
  /// For so long blocks follow each other in one transaction; set before the first write.
  var runNanoseconds: Int64 = 1_000_000

  private final class Flag: Sendable { let value = Atomic(false) }

  /// Writes when it is this one's turn; no thread waits, neither for that nor for the medium.
  func writeLater<Value: Sendable>(
    _ body: @escaping @Sendable (Realm) throws -> Value
  ) async throws -> Value {
    guard !configuration.readOnly else {
      fatalError("Can't perform transactions on read-only Realms.")
    }
    let isCancelled = Flag()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let block = Block(
          isCancelled: isCancelled,
          body: { realm in
            let value = try body(realm)
            return { error in
              continuation.resume(with: error.map { .failure($0) } ?? .success(value))
            }
          }, fail: { continuation.resume(throwing: $0) })
        waitingCount.add(1, ordering: .relaxed)
        let isFirst = blocks.withLock { blocks in
          defer { blocks.append(block) }
          return blocks.isEmpty
        }
        if isFirst { queue.async { [self] in beginBlocks() } }
      }
    } onCancel: {
      isCancelled.value.store(true, ordering: .releasing)
    }
  }

  private var hasBlocks: Bool { blocks.withLock { !$0.isEmpty } }

  private func takeBlock() -> Block? {
    let block = blocks.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    if block != nil { noteBeginning() }
    return block
  }

  /// Runs the blocks that wait when nobody else writes.
  private func beginBlocks() {
    guard hasBlocks else { return }
    do {
      let instance = try opened().instance
      try checkActiveVersions(instance)
      instance.asyncWrites.runOrAdd(instance, onComplete: { [self] in failBlocks($0) }) { [self] in
        runBlocks(Realm(instance))
        if hasBlocks { queue.async { [self] in beginBlocks() } }
      }
    } catch {
      failBlocks(error)
    }
  }

  /// Tells all who wait that there will be no transaction.
  private func failBlocks(_ error: (any Error)?) {
    guard let error else { return }
    while let block = takeBlock() { block.fail(error) }
  }

  private func checkActiveVersions(_ instance: RealmInstance) throws {
    do throws(StoreError) {
      try instance.coordinator.database.checkActiveVersions(
        limit: configuration.maximumNumberOfActiveVersions.map { Int(clamping: $0) })
    } catch {
      throw RLMError(error, path: configuration.path)
    }
  }

  /// Runs blocks in the transaction that has begun, one after the other, and commits what they have changed.
  ///
  /// Each has a write of its own as far as it can tell: when it throws, or cancels, its changes are undone and
  /// no others.
  private func runBlocks(_ realm: Realm) {
    let instance = realm.instance
    guard let shared = instance.beginSharing() else { return }
    var done: [Completion] = []
    let end = MonotonicClock.system.now.addingReportingOverflow(runNanoseconds)
    var isFirst = true
    while true {
      if !isFirst {
        guard shared.hasRoom, end.overflow || MonotonicClock.system.now < end.partialValue,
          hasBlocks
        else { break }
        // When this throws, those before are told of it.
        do throws(StoreError) { try instance.beginBlock() } catch { break }
      }
      guard let block = takeBlock() else { break }
      isFirst = false
      if block.isCancelled.value.load(ordering: .acquiring) {
        block.fail(CancellationError())
        continue
      }
      do {
        let completion = try block.body(realm)
        // It may have ended the transaction, and begun another one.
        if shared.outcome != nil, realm.isInWriteTransaction { try realm.commitWrite() }
        if realm.isInWriteTransaction { done.append(completion) } else { completion(nil) }
      } catch {
        if realm.isInWriteTransaction { realm.cancelWrite() }
        block.fail(error)
      }
    }
    finish(shared, realm, done)
  }

  /// Commits what blocks have changed, and tells them.
  private func finish(_ shared: SharedWrite, _ realm: Realm, _ done: [Completion]) {
    let instance = realm.instance
    do throws(StoreError) {
      if shared.outcome == nil, !done.isEmpty, unsafe instance.session == nil {
        try instance.beginBlock()
      }
    } catch {
      // The outcome says so.
    }
    switch shared.outcome {
    case .success?:
      for completion in done { completion(nil) }
    case .failure(let error)?:
      for completion in done { completion(RLMError(error, path: configuration.path)) }
    case nil where done.isEmpty:
      instance.cancelSharing()
    case nil where sharesSync:
      realm.commitAsyncWrite(allowGrouping: true) { error in
        for completion in done { completion(error) }
      }
    case nil:
      do {
        try realm.commitWrite()
        for completion in done { completion(nil) }
      } catch {
        for completion in done { completion(error) }
      }
    }
  }
}
