import CambiumCore
import Synchronization

/// Work for a context, which is abandoned when the context is gone before it has begun.
///
/// Unchecked: the body is called in the context alone, once.
final class ContextJob: @unchecked Sendable {
  private let context: any RealmContext
  private let writes: AsyncWrites
  private var body: (() -> Void)?

  init(_ context: any RealmContext, _ writes: AsyncWrites, _ body: @escaping () -> Void) {
    self.context = context
    self.writes = writes
    self.body = body
  }

  func start() {
    context.run { [self] in
      let body = body.take()
      body?()
    }
  }

  deinit { if body != nil, !context.isAlive { writes.abandon() } }
}

/// Tells a context what has become of a commit.
final class CommitJob: Sendable {
  private let context: any RealmContext
  private let writes: AsyncWrites
  private let id: AsyncTransactionId
  private let state = Mutex(State.committing)

  private enum State: Sendable {
    case committing
    /// The commit has returned, and its fate comes later.
    case returned
    /// Its fate was known before it returned.
    case known(StoreError?)
  }

  init(_ context: any RealmContext, _ writes: AsyncWrites, _ id: AsyncTransactionId) {
    self.context = context
    self.writes = writes
    self.id = id
  }

  /// Notes what has become of the commit; called on any thread.
  func end(_ failure: StoreError?) {
    let hasReturned = state.withLock { state in
      if case .returned = state { return true }
      state = .known(failure)
      return false
    }
    if hasReturned { tell(failure) }
  }

  /// Called in the context when the commit has returned; a task is told at once.
  func didCommit(_ instance: RealmInstance, isTask: Bool) {
    let known = state.withLock { state -> State in
      defer { state = .returned }
      return state
    }
    guard case .known(let failure) = known else { return }
    if isTask { writes.end(id, failure, instance) } else { tell(failure) }
  }

  private func tell(_ failure: StoreError?) { writes.endLater(id, failure, context) }
}
