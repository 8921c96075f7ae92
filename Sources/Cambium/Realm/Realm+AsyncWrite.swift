import CambiumCore

extension Realm {
  /// Runs `block` in a write transaction, commits, and returns what it returned.
  ///
  /// The actor does other work while this waits for other writers, and while the medium makes the changes
  /// durable; the block itself runs without interruption. When it throws, nothing is changed. When it has
  /// committed or cancelled by itself, nothing more is done.
  ///
  /// For Realms of the main actor and of other actors; stops for all others, and for frozen and read-only
  /// ones.
  ///
  /// - Throws: what `block` throws; `CancellationError` when the task is cancelled before the block begins,
  ///   which then does not run; `Realm.Error` when the store fails, or when the classes do not fit what
  ///   somebody else has made of the schema.
  @discardableResult
  public func asyncWrite<Result>(
    _isolation actor: isolated any Actor = #isolation, _ block: (() throws -> Result)
  ) async throws -> Result {
    checkActor("asyncWrite()")
    guard !isFrozen else { fatalError("Can't perform transactions on a frozen Realm") }
    guard !configuration.readOnly else {
      fatalError("Can't perform transactions on read-only Realms.")
    }
    try Task.checkCancellation()
    var isAgain = false
    while let turn = await instance.asyncWrites.waitForTurn(
      instance, isAgain: isAgain, isolation: actor)
    {
      let transaction: Transaction?
      do throws(StoreError) { transaction = try turn.take() } catch {
        instance.asyncWrites.endTask(instance)
        throw RLMError(error, path: configuration.path)
      }
      guard let transaction else {
        // The actor was away for long, and the turn went to somebody else.
        isAgain = true
        continue
      }
      defer { instance.asyncWrites.endTask(instance) }
      if Task.isCancelled {
        transaction.rollback()
        break
      }
      return try await write(in: transaction, actor, block)
    }
    throw CancellationError()
  }

  private func write<Result>(
    in transaction: Transaction, _ actor: isolated any Actor, _ block: () throws -> Result
  ) async throws -> Result {
    let obstacle: RLMError?
    do throws(StoreError) { obstacle = try instance.begin(transaction) } catch {
      throw RLMError(error, path: configuration.path)
    }
    if let obstacle { throw obstacle }
    let result: Result
    do {
      result = try block()
    } catch {
      if isInWriteTransaction { cancelWrite() }
      throw error
    }
    if !isInWriteTransaction { return result }
    let failure = await withCheckedContinuation(isolation: actor) { continuation in
      _ = instance.asyncWrites.commit(instance, allowGrouping: false, isTask: true) {
        continuation.resume(returning: $0)
      }
    }
    if let failure { throw failure }
    return result
  }

  /// Moves to the newest version, which is there when this returns; whether it moved.
  ///
  /// The actor does other work while changes are found out; observers were told when this returns. False at
  /// once when the newest version is seen already, in a write transaction, for frozen and read-only
  /// Realms, and for one of which nothing was read yet; and when the task is cancelled. For Realms of the
  /// main actor and of other actors; stops for all others.
  @discardableResult
  public func asyncRefresh(_isolation: isolated any Actor = #isolation) async -> Bool {
    checkActor("asyncRefresh()")
    if unsafe isFrozen || configuration.readOnly || !instance.hasRead || instance.session != nil {
      return false
    }
    await instance.coordinator.database.lookForCommits()
    let signal = ChangeSignal(instance)
    defer { signal.end() }
    guard let newest = instance.newestFittingVersion, newest > instance.version else {
      return false
    }
    while instance.version < newest {
      // What happens meanwhile may invalidate the Realm, or end that it follows.
      if Task.isCancelled || instance.isInvalidated { return false }
      guard autorefresh else { return refresh() }
      // It may have moved, but not far enough.
      signal.beginToWait()
      instance.coordinator.notifier.wake(instance)
      await signal.wait(isolation: _isolation)
    }
    return true
  }

  private func checkActor(_ name: String) {
    instance.verify()
    guard instance.isFrozen || instance.context is MainContext || instance.context is ActorContext
    else {
      fatalError("\(name) can only be called on main thread or actor-isolated Realms")
    }
  }
}

extension RealmInstance {
  /// Whether something was read of the version that is seen.
  var hasRead: Bool { unsafe snapshot != nil && !isUnread }

  /// The newest version that the classes fit; nil when they do not fit the newest one.
  var newestFittingVersion: Version? {
    reading { () throws(StoreError) in
      let newest = try coordinator.database.snapshot()
      return try obstacle(in: newest) == nil ? newest.version : nil
    }
  }
}
