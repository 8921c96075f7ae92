import Synchronization

/// Callers of whom one does the work of all: the leader.
///
/// Who comes while nobody leads leads. Others sleep meanwhile; the leader tells them what has become of
/// their work, and before that gives the lead to one of those whose work is still to be done.
///
/// Thread-safe.
package final class LeaderQueue<Work: Sendable, Failure: Error>: Sendable {
  /// A thread that sleeps, and what it waits for.
  package final class Waiter: Sendable {
    /// What it is woken for.
    package enum Call: Sendable {
      /// To lead, with its own work first.
      case lead
      /// Its work is done, or has failed.
      case end(Failure?)
    }

    package let work: Work
    private let call = Mutex<Call?>(nil)
    private let signal = CommitSignal()

    fileprivate init(_ work: Work) { self.work = work }

    /// Tells what has become of its work.
    package func end(_ failure: Failure?) { wake(.end(failure)) }

    fileprivate func wake(_ call: Call) {
      self.call.withLock { $0 = call }
      signal.raise()
    }

    /// Sleeps until it is woken, which is once.
    package func wait() -> Call {
      var taken: Call?
      signal.wait(timeoutNanoseconds: .max) {
        taken = call.withLock { $0 }
        return taken != nil
      }
      return taken ?? .lead
    }
  }

  private struct State {
    /// Whether somebody leads, or was told to.
    var isLed = false
    /// In the order in which they came; who leads is not among them.
    var waiters: [Waiter] = []
  }

  private let state = Mutex(State())

  package init() {}

  /// Whether somebody leads, or was told to.
  package var isLed: Bool { state.withLock { $0.isLed } }

  /// How many wait, besides who leads.
  package var waitingCount: Int { state.withLock { $0.waiters.count } }

  /// What to wait on; nil for who is to lead, and has to call ``passLead()`` in the end.
  package func join(_ work: Work) -> Waiter? {
    state.withLock { state in
      guard state.isLed else {
        state.isLed = true
        return nil
      }
      let waiter = Waiter(work)
      state.waiters.append(waiter)
      return waiter
    }
  }

  /// Takes those out of the queue whose work is done with the leader's, at most `limit` of them, in the
  /// order in which they came; the leader has to end each.
  package func take(limit: Int = .max, where isDone: (Work) -> Bool = { _ in true }) -> [Waiter] {
    state.withLock { state in
      var taken: [Waiter] = []
      state.waiters.removeAll { waiter in
        guard taken.count < limit, isDone(waiter.work) else { return false }
        taken.append(waiter)
        return true
      }
      return taken
    }
  }

  /// Gives the lead to the first one who waits, if there is one.
  package func passLead() {
    let next = state.withLock { state -> Waiter? in
      state.isLed = !state.waiters.isEmpty
      return state.isLed ? state.waiters.removeFirst() : nil
    }
    next?.wake(.lead)
  }
}
