import Foundation
import Synchronization

/// A thread of which others learn whether it has ended or waits for somebody, without a clock.
public final class WatchedThread: Sendable {
  /// The folder of this thread below `/proc`; nil until it runs.
  private let folder = Mutex<String?>(nil)
  private let isEnded = Atomic(false)

  /// Starts a thread that runs `body`.
  public init(_ body: @escaping @Sendable () -> Void) {
    Thread { [self] in
      let link = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
      folder.withLock { $0 = "/proc/\(link ?? "")" }
      body()
      isEnded.store(true, ordering: .releasing)
    }.start()
  }

  /// Returns when the thread has ended, or sleeps until another one wakes it; whether it sleeps.
  ///
  /// It sleeps when it stays in one and the same call for a futex, however often one looks.
  public func waitsForSomebody() -> Bool {
    var last: String?
    var sameCount = 0
    while sameCount < 1000 {
      if isEnded.load(ordering: .acquiring) { return false }
      let call = folder.withLock { $0 }
        .flatMap { try? String(contentsOfFile: $0 + "/syscall", encoding: .utf8) }
      let isFutex = call.map { $0.hasPrefix("\(Self.futexNumber) ") } ?? false
      sameCount = isFutex && call == last ? sameCount + 1 : 0
      last = call
      sched_yield()
    }
    return true
  }

  /// Returns when the thread has ended.
  public func waitForEnd() {
    while !isEnded.load(ordering: .acquiring) { sched_yield() }
  }

  #if arch(x86_64)
    private static let futexNumber = 202
  #else
    private static let futexNumber = 98
  #endif
}
