import CambiumCore
import Synchronization

/// Says whether a sync may be believed when several run at once.
///
/// The system tells of an error in writing back once for each open file (`fsync(2)`): of two syncs
/// that overlap either may hear of an error that concerns both. So who promises something waits, after
/// a sync that succeeded, for all that began before it ended, and has failed if any of them has.
final class OverlappingSyncs: Sendable {
  private struct Log {
    var begunCount = 0
    /// The numbers of those that run.
    var running: [Int] = []
    /// The first failure; there is no way back from it.
    var failure: DeviceError?
  }

  private let log = Mutex(Log())
  private let ended = CommitSignal()

  /// Syncs `device`; on success nothing may be promised yet.
  func run(_ device: any Device) throws(DeviceError) {
    let number = log.withLock { log in
      log.begunCount += 1
      log.running.append(log.begunCount)
      return log.begunCount
    }
    let result = Result { () throws(DeviceError) in try device.sync() }
    log.withLock { log in
      log.running.removeAll { $0 == number }
      if case .failure(let error) = result, log.failure == nil { log.failure = error }
    }
    ended.raise()
    try result.get()
  }

  /// Syncs `device`; returns when everything that was written before is on the medium for certain.
  func runForCertain(_ device: any Device) throws(DeviceError) {
    try run(device)
    let (last, isAlone) = log.withLock { ($0.begunCount, $0.running.isEmpty) }
    if !isAlone {
      ended.wait(timeoutNanoseconds: .max) {
        log.withLock { $0.running.allSatisfy { $0 > last } }
      }
    }
    if let failure = log.withLock({ $0.failure }) { throw failure }
  }
}
