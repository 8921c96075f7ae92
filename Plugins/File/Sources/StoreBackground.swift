import CambiumCore

/// What one store does in the background, and where.
///
/// Syncs, writing and calls each have a lane of their own: a medium that hangs in a sync keeps neither
/// other stores nor a large write from going on, and who is called may take its time.
final class StoreBackground: Sendable {
  /// Settles the head when no commit came for a while.
  let settling: BackgroundJob
  /// Syncs what relaxed commits have written.
  let syncing: BackgroundJob
  /// Looks whether others store what they have left in memory.
  let watching: BackgroundJob
  /// Calls who waits for its write to begin.
  let beginnings: OrderedCalls
  /// Waits until versions are durable, and calls who waits for that.
  let durable: OrderedCalls
  /// Writes what large commits have gathered.
  let writing: BackgroundLane

  /// The background of a store; `lane` does all of it unless it is nil.
  init(_ lane: BackgroundLane?) {
    let syncs = lane ?? BackgroundLane()
    settling = BackgroundJob(syncs)
    syncing = BackgroundJob(syncs)
    watching = BackgroundJob(syncs)
    beginnings = OrderedCalls(lane ?? BackgroundLane())
    durable = OrderedCalls(lane ?? BackgroundLane())
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
}
