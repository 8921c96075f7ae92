import Synchronization

/// Calls that a lane makes one at a time, in the order in which they were handed over.
///
/// Thread-safe.
public final class OrderedCalls: Sendable {
  private let job: BackgroundJob
  private let calls = Mutex<[@Sendable () -> Void]>([])

  /// Calls that `lane` makes.
  public init(_ lane: BackgroundLane) { job = BackgroundJob(lane) }

  /// Has `call` made, in the background; here and now where the system has no thread for that.
  public func add(_ call: @escaping @Sendable () -> Void) {
    calls.withLock { $0.append(call) }
    let isScheduled = job.schedule { [self] _ in
      makeCalls()
      return nil
    }
    if !isScheduled { makeCalls() }
  }

  private func makeCalls() {
    while let call = calls.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { call() }
  }
}
