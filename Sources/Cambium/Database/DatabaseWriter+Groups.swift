import CambiumCore

/// Writes of tasks that share a transaction with others that wait at the same time.
extension DatabaseWriter {
  typealias Completion = @Sendable ((any Error)?) -> Void

  /// One of them.
  struct Block: Sendable {
    let isCancelled: Flag
    /// Makes the changes; returns what is to be told when they are durable, or that they never will be.
    let body: @Sendable (Realm) throws -> Completion
    let fail: @Sendable (any Error) -> Void

    init<Value: Sendable>(
      _ body: @escaping @Sendable (Realm) throws -> Value, _ isCancelled: Flag,
      _ continuation: CheckedContinuation<Value, any Error>
    ) {
      self.isCancelled = isCancelled
      self.body = { realm in
        let value = try body(realm)
        return { error in
          continuation.resume(with: error.map { .failure($0) } ?? .success(value))
        }
      }
      fail = { continuation.resume(throwing: $0) }
    }
  }

  /// Those that wait, in the order in which they came.
  struct Blocks {
    var waiting = Waiting<Block>()
    /// Whether a group was asked for, or runs.
    var isGroupComing = false
  }

  /// Has a block run with others; called on any thread.
  func add(_ block: Block) {
    let isFirst = blocks.withLock { blocks in
      defer { blocks.isGroupComing = true }
      blocks.waiting.append(block)
      return !blocks.isGroupComing
    }
    if isFirst { askForGroup() }
  }

  private func askForGroup() { queue.async { [self] in beginGroup() } }

  /// Runs the blocks that wait when nobody else writes.
  private func beginGroup() {
    do {
      let instance = try opened().instance
      try checkActiveVersions(instance)
      instance.asyncWrites.runOrAdd(instance, onComplete: { [self] in failBlocks($0) }) { [self] in
        runGroup(Realm(instance))
        endGroup()
      }
    } catch {
      failBlocks(error)
    }
  }

  private func endGroup() {
    let goesOn = blocks.withLock { blocks in
      blocks.isGroupComing = !blocks.waiting.isEmpty
      return blocks.isGroupComing
    }
    if goesOn { askForGroup() }
  }

  /// Tells all who wait that there will be no transaction.
  private func failBlocks(_ error: (any Error)?) {
    guard let error else { return }
    let waiting = blocks.withLock { blocks in
      blocks.isGroupComing = false
      return blocks.waiting.removeAll()
    }
    for block in waiting {
      noteBeginning()
      block.fail(error)
    }
  }

  /// The next one whose task was not cancelled.
  private func takeBlock() -> Block? {
    while true {
      let block = blocks.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
      guard let block else { return nil }
      noteBeginning()
      if !block.isCancelled.value.load(ordering: .acquiring) { return block }
      block.fail(CancellationError())
    }
  }

  /// Runs blocks in the transaction that has begun, one after the other, and commits what they have changed.
  private func runGroup(_ realm: Realm) {
    guard let session = unsafe realm.instance.session else { return }
    session.beginGroup()
    let end = MonotonicClock.system.now.addingReportingOverflow(groupNanoseconds)
    var done: [Completion] = []
    do throws(StoreError) {
      while let block = takeBlock() {
        try run(block, session, realm, &done)
        // When the first one fails all is undone.
        if done.isEmpty || !session.hasRoom { break }
        if !end.overflow, MonotonicClock.system.now >= end.partialValue { break }
      }
    } catch {
      realm.instance.cancelWrite()
      return tell(done, error)
    }
    commit(realm.instance, done)
  }

  /// Runs `block` behind those that are done, and undoes what it has changed when it throws; throws what keeps
  /// all of them from being committed.
  private func run(
    _ block: Block, _ session: WriteSession, _ realm: Realm, _ done: inout [Completion]
  ) throws(StoreError) {
    do {
      let completion = try block.body(realm)
      do throws(StoreError) { try session.mark() } catch {
        throw RLMError(error, path: configuration.path)
      }
      done.append(completion)
    } catch {
      block.fail(error)
      if !done.isEmpty { try realm.instance.undoBlock() }
    }
  }

  private func commit(_ instance: RealmInstance, _ done: [Completion]) {
    if done.isEmpty { return instance.cancelWrite() }
    if sharesSync {
      _ = instance.asyncWrites.commit(instance, allowGrouping: true) { error in
        for completion in done { completion(error) }
      }
      return
    }
    do throws(StoreError) {
      try instance.commitWrite()
      tell(done, nil)
    } catch {
      tell(done, error)
    }
  }

  private func tell(_ done: [Completion], _ error: StoreError?) {
    for completion in done { completion(error.map { RLMError($0, path: configuration.path) }) }
  }
}
