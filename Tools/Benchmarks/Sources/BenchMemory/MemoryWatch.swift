import Foundation
import Synchronization

/// Looks again and again at how much memory is the process's own.
final class MemoryWatch: Sendable {
  private let state = Mutex((most: 0, isOver: false))

  init() {
    Thread.detachNewThread { [self] in
      while !state.withLock({ $0.isOver }) {
        look()
        usleep(10_000)
      }
    }
  }

  private func look() {
    let now = Self.ownByteCount
    state.withLock { $0.most = max($0.most, now) }
  }

  /// The most bytes that there were.
  func end() -> Int {
    look()
    return state.withLock { state in
      state.isOver = true
      return state.most
    }
  }

  private static var ownByteCount: Int {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") }),
      let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
    else { return 0 }
    return kilobytes << 10
  }
}
