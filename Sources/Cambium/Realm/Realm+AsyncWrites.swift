extension Realm {
  /// Whether an asynchronous write waits for its turn, or for the medium; as long as it is so, the Realm
  /// stays open.
  public var isPerformingAsynchronousWriteOperations: Bool { instance.asyncWrites.hasWork }

  /// Runs `block` in a write transaction when it is this Realm's turn, and commits; returns at once.
  ///
  /// Nobody waits for other writers or for the medium meanwhile. The block runs in the Realm's context, at
  /// the newest version, after the blocks that were queued before. It may commit or cancel by itself.
  /// `onComplete` is called in the Realm's context when the changes are durable, or with the error, when
  /// nothing was changed.
  ///
  /// Stops in contexts that cannot be woken, and for frozen and read-only Realms.
  @discardableResult
  public func writeAsync(
    _ block: @escaping () -> Void, onComplete: ((Swift.Error?) -> Void)? = nil
  ) -> AsyncTransactionId {
    checkAsyncWrite()
    return instance.asyncWrites.add(instance, commits: true, onComplete: onComplete, block)
  }

  /// Runs `asyncWriteBlock` in a write transaction when it is this Realm's turn; returns at once.
  ///
  /// The block has to commit, by ``commitAsyncWrite(allowGrouping:_:)`` or
  /// ``commitWrite(withoutNotifying:)``: when it returns without, its changes are undone. Otherwise as
  /// ``writeAsync(_:onComplete:)``.
  @discardableResult
  public func beginAsyncWrite(_ asyncWriteBlock: @escaping () -> Void) -> AsyncTransactionId {
    checkAsyncWrite()
    return instance.asyncWrites.add(instance, commits: false, onComplete: nil, asyncWriteBlock)
  }

  /// Commits the running write transaction, however it was begun, without waiting for the medium.
  ///
  /// This Realm and others see the changes at once. `onComplete` is called in the Realm's context when
  /// they are durable, or with the error; calls come in the order of the commits. With `allowGrouping`
  /// the next blocks of this Realm do not wait for that, and share what has to be done by the medium:
  /// power loss then takes several commits or none of them.
  @discardableResult
  public func commitAsyncWrite(
    allowGrouping: Bool = false, _ onComplete: ((Swift.Error?) -> Void)? = nil
  ) -> AsyncTransactionId {
    checkAsyncWrite()
    guard unsafe instance.session != nil else {
      fatalError("Can't commit a non-existing write transaction")
    }
    instance.stopEndInGroup()
    return instance.asyncWrites.commit(instance, allowGrouping: allowGrouping, onComplete)
  }

  /// Forgets a block that has not begun, with what was to follow it, or what is to be called after a commit,
  /// which stays.
  ///
  /// Does nothing for what has run; never throws.
  public func cancelAsyncWrite(_ asyncTransactionId: AsyncTransactionId) throws {
    instance.verify()
    instance.asyncWrites.cancel(asyncTransactionId, instance)
  }

  private func checkAsyncWrite() {
    instance.verify()
    guard !instance.isFrozen else { fatalError("Can't perform transactions on a frozen Realm") }
    guard !instance.configuration.readOnly else {
      fatalError("Can't perform transactions on read-only Realms.")
    }
    guard instance.context?.canBeWoken ?? false else {
      fatalError(
        "Cannot schedule async transaction. Make sure you are running from inside a run loop.")
    }
  }
}
