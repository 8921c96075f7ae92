import CFloor
import Foundation
import Synchronization

/// Watches how much memory of its own the process takes while work is done.
///
/// Counted is anonymous memory: what was allocated, not what of files is mapped.
enum MemoryMeter {
  /// Does `work` and returns by how many bytes memory rose meanwhile at most; nil where the system
  /// does not tell.
  static func peak(of work: () throws -> Void) rethrows -> Int? {
    floor_trim()
    guard let before = anonymousByteCount() else {
      try work()
      return nil
    }
    let shared = Shared(before)
    let finished = DispatchSemaphore(value: 0)
    let thread = Thread {
      while shared.note(anonymousByteCount() ?? 0) { usleep(5000) }
      finished.signal()
    }
    thread.start()
    defer {
      shared.end()
      finished.wait()
    }
    try work()
    _ = shared.note(anonymousByteCount() ?? 0)
    return shared.peak - before
  }

  private final class Shared: Sendable {
    private let state: Mutex<(peak: Int, isOver: Bool)>

    init(_ byteCount: Int) { state = Mutex((byteCount, false)) }

    /// Takes note of a value; false when watching is over.
    func note(_ byteCount: Int) -> Bool {
      state.withLock { state in
        state.peak = max(state.peak, byteCount)
        return !state.isOver
      }
    }

    func end() { state.withLock { $0.isOver = true } }

    var peak: Int { state.withLock { $0.peak } }
  }

  private static func anonymousByteCount() -> Int? {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else {
      return nil
    }
    for line in status.split(separator: "\n") where line.hasPrefix("RssAnon:") {
      return line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }
        .map { $0 << 10 }
    }
    return nil
  }
}
