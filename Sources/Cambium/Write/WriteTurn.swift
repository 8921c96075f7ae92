import CambiumCore
import Synchronization

/// The turn to write that a Realm asked for in the background: waited for, there, or gone.
///
/// Thread-safe.
final class WriteTurn: Sendable {
  /// Unchecked: a transaction has one user at a time, who has taken it.
  private enum State: @unchecked Sendable {
    case waiting
    case here(Result<Transaction, StoreError>)
    case gone

    var isSettled: Bool {
      if case .waiting = self { false } else { true }
    }
  }

  private let state: Mutex<State>
  private let signal = CommitSignal()
  private let arrival = Atomic<Int64>(0)
  private init() { state = Mutex(.waiting) }

  /// A turn that is there, or could not be had.
  init(_ result: Result<Transaction, StoreError>) {
    let here = State.here(result)
    state = Mutex(here)
    arrival.store(MonotonicClock.system.now, ordering: .relaxed)
  }

  /// Asks for a turn; `then` is called on a thread of the store when it is there.
  static func ask(
    _ database: Database, _ durability: Durability, then: @escaping @Sendable () -> Void
  ) -> WriteTurn {
    let turn = WriteTurn()
    database.beginWrite(expecting: durability) { result in
      turn.arrive(result)
      then()
    }
    return turn
  }

  private func arrive(_ result: Result<Transaction, StoreError>) {
    let here = State.here(result)
    arrival.store(MonotonicClock.system.now, ordering: .relaxed)
    state.withLock { $0 = here }
    signal.raise()
  }

  /// The transaction, if it is there and nobody took it; the caller has to end it.
  func take() throws(StoreError) -> Transaction? {
    let last = state.withLock { state in
      let last = state
      if last.isSettled { state = .gone }
      return last
    }
    guard case .here(let result) = last else { return nil }
    return try result.get()
  }

  /// Whether it is there, or gone.
  var isSettled: Bool { state.withLock { $0.isSettled } }

  /// When it came; nil while it is waited for, and when somebody has taken it.
  var waitingSince: Int64? {
    let isHere = state.withLock { if case .here = $0 { true } else { false } }
    return isHere ? arrival.load(ordering: .relaxed) : nil
  }

  /// Waits on this thread until it is there or gone.
  func wait() {
    signal.wait(timeoutNanoseconds: .max) { isSettled }
  }

  /// Lets the next writer in, unless somebody has taken the turn.
  ///
  /// A turn that could not be had keeps nobody out: who asked for it is still told why.
  func giveBack() {
    let transaction: Transaction? = state.withLock { state in
      guard case .here(.success(let transaction)) = state else { return nil }
      state = .gone
      return transaction
    }
    transaction?.rollback()
  }

  deinit { giveBack() }
}
