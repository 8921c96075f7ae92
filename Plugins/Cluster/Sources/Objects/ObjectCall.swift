import CambiumCore
import Synchronization

/// An operation that is under way: whoever started it waits for its answer here, or is called with it.
///
/// Thread-safe.
public final class ObjectCall: Sendable {
  private let state = Mutex<Result<ObjectAnswer, ObjectFailure>?>(nil)
  private let signal = CommitSignal()
  private let then: (@Sendable (Result<ObjectAnswer, ObjectFailure>) -> Void)?

  /// An operation without an answer; `then` is called with it, on the thread that gives it.
  public init(then: (@Sendable (Result<ObjectAnswer, ObjectFailure>) -> Void)? = nil) {
    self.then = then
  }

  /// Gives the answer; to be called once, by the storage.
  public func end(_ result: Result<ObjectAnswer, ObjectFailure>) {
    state.withLock { state in
      precondition(state == nil, "An operation was answered twice.")
      state = result
    }
    signal.raise()
    then?(result)
  }

  /// Whether there is an answer.
  public var isAnswered: Bool { state.withLock { $0 != nil } }

  /// Waits on this thread until there is an answer.
  public func waitForAnswer() {
    signal.wait(timeoutNanoseconds: .max) { isAnswered }
  }

  /// The answer; to be asked when there is one.
  public var result: Result<ObjectAnswer, ObjectFailure> {
    guard let result = state.withLock({ $0 }) else {
      preconditionFailure("The operation is under way; wait for it first.")
    }
    return result
  }

  /// What was answered; to be asked when there is an answer.
  var answer: ObjectAnswer {
    get throws(ObjectFailure) { try result.get() }
  }
}
