import CambiumCore
import Synchronization

/// What one store does in the background, and where.
///
/// Syncs, writing and calls each have a lane of their own: a medium that hangs in a sync keeps neither
/// other stores nor a large write from going on, and who is called may take its time.
final class StoreBackground: Sendable {
  /// Somebody who is to be called when a version is durable, and does not wait for it.
  struct Call: Sendable {
    var version: Version
    var call: @Sendable (StoreError?) -> Void
    /// Kept until the call is made.
    var store: FileStore
  }

  /// Settles the head when no commit came for a while.
  let settling: BackgroundJob
  /// Syncs what relaxed commits have written.
  let syncing: BackgroundJob
  /// Looks whether others store what they have left in memory.
  let watching: BackgroundJob
  /// Calls who waits for its write to begin.
  let beginnings: OrderedCalls
  private let calling: BackgroundJob
  private let calls = Mutex<[Call]>([])
  /// Writes what large commits have gathered.
  let writing: BackgroundLane

  /// The background of a store; `lane` does all of it unless it is nil.
  init(_ lane: BackgroundLane?) {
    let syncs = lane ?? BackgroundLane()
    settling = BackgroundJob(syncs)
    syncing = BackgroundJob(syncs)
    watching = BackgroundJob(syncs)
    beginnings = OrderedCalls(lane ?? BackgroundLane())
    calling = BackgroundJob(lane ?? BackgroundLane())
    writing = lane ?? BackgroundLane()
  }

  /// The time by which jobs are due.
  var now: Int64 { syncing.now }

  /// Forgets what a store that is closed does no more.
  func cancel() {
    settling.cancel()
    syncing.cancel()
    watching.cancel()
  }

  /// Waits in the background until a version is durable, together with all who are to be called then.
  func add(_ call: Call) {
    calls.withLock { $0.append(call) }
    let isScheduled = calling.schedule { [self] _ in
      makeCalls()
      return nil
    }
    // Without a thread the caller waits after all.
    if !isScheduled { makeCalls() }
  }

  private func makeCalls() {
    let taken = calls.withLock { calls in
      defer { calls = [] }
      return calls.sorted { $0.version < $1.version }
    }
    FileStore.makeCalls(taken)
  }
}
