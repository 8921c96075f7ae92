import CambiumCore
import Synchronization

/// The commits of one Realm instance that are not known to be durable yet, in their order.
///
/// Unchecked: belongs to the instance's context, except where said otherwise.
final class AsyncCommits: @unchecked Sendable {
  private struct Commit {
    let id: AsyncTransactionId
    var onComplete: ((Error?) -> Void)?
    /// Whether the blocks behind it wait for it.
    let isBarrier: Bool
    /// Whether it is no commit, but ends as the one before it does.
    var follows = false
    /// The version it made; nil while it is not made.
    var version: Version?
    var outcome: Result<Void, StoreError>?
  }

  private var commits = Waiting<Commit>()
  private var barrierCount = 0
  /// Commits whose fate is known and has not been told yet.
  private let ended = Mutex<[(id: AsyncTransactionId, failure: StoreError?)]>([])

  var isEmpty: Bool { commits.isEmpty }

  /// Whether the blocks behind them wait for one of them.
  var holdBlocks: Bool { barrierCount > 0 }

  func add(
    _ id: AsyncTransactionId, isBarrier: Bool, _ onComplete: ((Error?) -> Void)?
  ) {
    if isBarrier { barrierCount += 1 }
    commits.append(Commit(id: id, onComplete: onComplete, isBarrier: isBarrier))
  }

  /// The commit that was added last, while its fate is not told.
  var last: AsyncTransactionId? { commits.indices.last.map { commits[$0].id } }

  /// Has `onComplete` called behind those that are there already: without an error, or with that of the last one if it
  /// `follows` that.
  func addEnd(_ id: AsyncTransactionId, follows: Bool, _ onComplete: ((Error?) -> Void)?) {
    var end = Commit(id: id, onComplete: onComplete, isBarrier: false)
    end.follows = follows
    if !follows { end.outcome = .success(()) }
    commits.append(end)
  }

  /// Notes which version it made.
  func note(_ version: Version, of id: AsyncTransactionId) {
    guard let place = commits.firstIndex(where: { $0.id == id }) else { return }
    commits[place].version = version
  }

  /// Nobody is called for it; does nothing for one that has ended.
  func forgetCompletion(of id: AsyncTransactionId) {
    guard let place = commits.firstIndex(where: { $0.id == id }) else { return }
    commits[place].onComplete = nil
  }

  /// Notes what has become of a commit.
  func noteEnd(of id: AsyncTransactionId, _ failure: StoreError?) {
    guard let place = commits.firstIndex(where: { $0.id == id }) else { return }
    commits[place].outcome = failure.map { .failure($0) } ?? .success(())
  }

  /// Keeps that for ``noteEnds()``, which the caller sees to when this is true; may be called on any thread.
  func noteEndLater(of id: AsyncTransactionId, _ failure: StoreError?) -> Bool {
    ended.withLock { ended in
      ended.append((id, failure))
      return ended.count == 1
    }
  }

  func noteEnds() {
    let ended = ended.withLock { ended in
      defer { ended = [] }
      return ended
    }
    for (id, failure) in ended { noteEnd(of: id, failure) }
  }

  /// Calls whom there is to call for those whose fate is known, in their order.
  func complete(path: String) {
    var last: Result<Void, StoreError>?
    while let first = commits.first, let outcome = first.follows ? last : first.outcome {
      let commit = commits.removeFirst()
      last = outcome
      if commit.isBarrier { barrierCount -= 1 }
      switch outcome {
      case .success: commit.onComplete?(nil)
      case .failure(let error): commit.onComplete?(RLMError(error, path: path))
      }
    }
  }

  /// Waits until all of them are durable, and calls who waits for them.
  ///
  /// Does not wait for the writer lock, which the caller may have been given.
  func settle(_ database: Database, path: String) {
    if commits.isEmpty { return }
    noteEnds()
    var failure: StoreError?
    let pending = commits.indices.compactMap {
      commits[$0].outcome == nil ? commits[$0].version : nil
    }
    do throws(StoreError) {
      if let last = pending.max() { try database.makeDurable(last) }
    } catch {
      failure = error
    }
    for place in commits.indices where commits[place].outcome == nil {
      commits[place].outcome = failure.map { .failure($0) } ?? .success(())
    }
    complete(path: path)
  }
}
