import CambiumCore

extension Realm {
  /// Runs `block` in a write transaction and commits.
  ///
  /// Waits for writers elsewhere and moves to the newest version first. When `block` throws, the
  /// transaction is cancelled and the error thrown on. When it has committed or cancelled by itself,
  /// nothing more is done. The observers of `tokens` are not told of this commit. In an observer's block,
  /// those of them that come later in the round are told first of the change before.
  ///
  /// - Throws: `.schemaMismatch`, without running `block`, when somebody else has changed the schema of
  ///   the file in a way that this Realm's classes do not fit; the Realm goes on seeing the version
  ///   that it saw. `Realm.Error` when the store fails, as ``commitWrite(withoutNotifying:)`` does.
  @discardableResult
  public func write<Result>(
    withoutNotifying tokens: [NotificationToken] = [], _ block: (() throws -> Result)
  ) throws -> Result {
    try begin(skipping: tokens)
    let result: Result
    do {
      result = try block()
    } catch {
      if isInWriteTransaction { cancelWrite() }
      throw error
    }
    if isInWriteTransaction { try commitWrite(withoutNotifying: tokens) }
    return result
  }

  /// Begins a write transaction at the newest version; waits for writers elsewhere.
  ///
  /// Stops when the store fails, or when the classes no longer fit the schema of the file; use
  /// ``write(withoutNotifying:_:)`` to have that thrown.
  public func beginWrite() {
    do { try begin() } catch { fatalError("\(error.message)") }
  }

  private func begin(skipping tokens: [NotificationToken] = []) throws(RLMError) {
    instance.verify()
    guard !instance.isFrozen else { fatalError("Can't perform transactions on a frozen Realm") }
    guard !instance.configuration.readOnly else {
      fatalError("Can't perform transactions on read-only Realms.")
    }
    // Before the transaction, where their blocks may write.
    let skipped = instance.observations(of: tokens)
    instance.observers.deliverAhead(to: skipped, instance)
    guard unsafe instance.session == nil else {
      fatalError("The Realm is already in a write transaction")
    }
    guard !instance.coordinator.isWriterHere else {
      fatalError(
        "The Realm is already in a write transaction, of another instance in the same context, which "
          + "was opened with other classes or for another queue. Commit or cancel that one first, or "
          + "make all changes through it.")
    }
    try instance.beginWrite()
    // Others may have committed meanwhile.
    instance.observers.deliverAhead(to: skipped, instance)
  }

  /// Makes the transaction's changes the newest version, durable as far as the configuration says.
  ///
  /// Observers of the Realm are told before this returns, all others later. Those of `tokens`, which have
  /// to be of this Realm, are not told of this commit. Inside of an observer's block, who was not told yet
  /// what led to the beginning of the transaction is told of both as one change; use
  /// ``write(withoutNotifying:_:)`` there.
  ///
  /// - Throws: `Realm.Error` when the store fails; the changes are undone then. Only where other writes were under
  ///   way and shared a sync that has failed they stand for readers, and the Realm sees them: then the database takes
  ///   no more writes until all have closed it.
  public func commitWrite(withoutNotifying tokens: [NotificationToken] = []) throws {
    instance.verify()
    guard unsafe instance.session != nil else {
      fatalError("Can't commit a non-existing write transaction")
    }
    instance.stopEndInGroup()
    do throws(StoreError) {
      try instance.commitWrite(skipping: instance.observations(of: tokens))
    } catch {
      throw RLMError(error, path: configuration.path)
    }
  }

  /// Undoes the transaction's changes.
  ///
  /// Objects added in it become invalid.
  public func cancelWrite() {
    instance.verify()
    guard unsafe instance.session != nil else {
      fatalError("Can't cancel a non-existing write transaction")
    }
    instance.stopEndInGroup()
    instance.cancelWrite()
  }
}
