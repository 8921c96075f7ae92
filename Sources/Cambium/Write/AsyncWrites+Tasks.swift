import CambiumCore

/// Tasks that write: each is given the turn, and gives it back.
extension AsyncWrites {
  /// Waits for the turn behind what was queued before, or before that for who `isAgain` here, since it has lost the turn
  /// that it was given; nil when the task was cancelled.
  ///
  /// Whoever got it calls ``endTask(_:)``.
  func waitForTurn(
    _ instance: RealmInstance, isAgain: Bool, isolation: isolated (any Actor)?
  ) async -> WriteTurn? {
    if !isAgain, let turn = turnIfFree(instance) { return turn }
    let id = newID()
    let job = instance.context.map { context in
      ContextJob(context, self) { [self] in giveUp(id, instance) }
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: isolation) { continuation in
        let entry = Entry(id: id, work: .task(continuation))
        if isAgain {
          entries.prepend(entry)
          endTask(instance)
        } else {
          entries.append(entry)
          goOn(instance)
        }
      }
    } onCancel: {
      job?.start()
    }
  }

  /// The turn for a task where nobody else writes or waits.
  private func turnIfFree(_ instance: RealmInstance) -> WriteTurn? {
    guard mayBegin, entries.isEmpty, let transaction = transactionIfFree(instance)
    else { return nil }
    isWriting = true
    let turn = WriteTurn(holding: transaction)
    given = turn
    goOn(instance)
    return turn
  }

  private func giveUp(_ id: AsyncTransactionId, _ instance: RealmInstance) {
    guard let place = entries.firstIndex(where: { $0.id == id }),
      case .task(let continuation) = entries[place].work
    else { return }
    entries.remove(at: place)
    continuation.resume(returning: nil)
    goOn(instance)
  }

  /// Ends the work of a task that was given the turn.
  func endTask(_ instance: RealmInstance) {
    isWriting = false
    given = nil
    goOn(instance)
  }

  /// Gives the turn to the task that is first.
  func give(_ transaction: Transaction, _ instance: RealmInstance) {
    guard case .task(let continuation) = entries.removeFirst().work else { return }
    isWriting = true
    let turn = WriteTurn(holding: transaction)
    given = turn
    watched.withLock { $0 = turn }
    limitWait()
    continuation.resume(returning: turn)
  }
}

extension WriteTurn {
  /// A turn that is there.
  convenience init(holding transaction: Transaction) {
    self.init(.success(transaction))
  }

  /// A turn that could not be had.
  convenience init(failing error: StoreError) { self.init(.failure(error)) }
}
