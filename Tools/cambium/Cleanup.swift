import CambiumCore
import Foundation
import Synchronization

/// What has to go when the process is told to end (Ctrl-C, SIGTERM, SIGHUP) in the middle of something: drafts of
/// what is being made.
///
/// Who makes something removes it as well when that fails; this is for the signals.
final class Cleanup: Sendable {
  private struct Registry {
    var actions: [Int: @Sendable () -> Void] = [:]
    var next = 0

    mutating func add(_ action: @escaping @Sendable () -> Void) -> Int {
      next += 1
      actions[next] = action
      return next
    }
  }

  private static let registry = Mutex(Registry())
  /// Listens from the first use on.
  ///
  /// Not made under the lock: who ends the process takes that as well.
  private static let sources = watch()

  /// Whether a signal has come.
  private static let isEnding = Atomic<Bool>(false)
  /// What the next one does.
  private static let wake = Mutex<(@Sendable () -> Void)?>(nil)

  private let number: Int

  /// Runs `action` once when a signal ends the process, unless it is run or forgotten before.
  init(_ action: @escaping @Sendable () -> Void) {
    _ = Self.sources
    number = Self.registry.withLock { $0.add(action) }
  }

  /// The same for an action that waits for something; `again` ends that when another signal comes.
  init(again: @escaping @Sendable () -> Void, _ action: @escaping @Sendable () -> Void) {
    _ = Self.sources
    Self.wake.withLock { $0 = again }
    number = Self.registry.withLock { $0.add(action) }
  }

  /// The same for what `making` makes: no signal ends the process between that and this.
  ///
  /// Nothing has to go when it throws.
  init(
    making make: () throws(StoreError) -> Void, _ action: @escaping @Sendable () -> Void
  ) throws(StoreError) {
    _ = Self.sources
    number = try Self.registry.withLock { registry throws(StoreError) in
      try make()
      return registry.add(action)
    }
  }

  /// Runs the action now, unless it was run or forgotten.
  func run() { Self.registry.withLock { $0.actions.removeValue(forKey: number) }?() }

  /// Runs all actions: the process is about to end because something went wrong.
  static func runAll() {
    registry.withLock { registry in
      for action in registry.actions.values { action() }
      registry.actions = [:]
    }
  }

  /// Nothing has to go any more.
  func forget() { _ = Self.registry.withLock { $0.actions.removeValue(forKey: number) } }

  /// Removes a folder in which others may be at work, and make another file while those before are being removed.
  static func removeFolder(_ path: String) {
    for _ in 0..<100 where FileManager.default.fileExists(atPath: path) {
      try? FileManager.default.removeItem(atPath: path)
    }
  }

  private static func watch() -> Sources {
    let queue = DispatchQueue(label: "cambium.signals")
    let ending = DispatchQueue(label: "cambium.ending")
    let sources = [SIGINT, SIGTERM, SIGHUP].compactMap { number -> (any DispatchSourceSignal)? in
      // Who started this process with the signal ignored, as nohup does, means it.
      let former = signal(number, SIG_IGN)
      if unsafe unsafeBitCast(former, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
        return nil
      }
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler {
        // Those that come meanwhile are heard, too.
        if isEnding.exchange(true, ordering: .relaxed) {
          wake.withLock { $0 }?()
        } else {
          ending.async { end(number) }
        }
      }
      // Signals that come before are lost: nothing is begun until they are heard.
      let isHeard = DispatchSemaphore(value: 0)
      source.setRegistrationHandler { isHeard.signal() }
      source.resume()
      isHeard.wait()
      return source
    }
    return Sources(all: sources)
  }

  // Unchecked: they are made once and kept.
  private struct Sources: @unchecked Sendable {
    let all: [any DispatchSourceSignal]
  }

  /// Cleans up and ends the process by the signal, so that who started it knows.
  private static func end(_ number: Int32) {
    // Nothing is made or finished any more: whoever tries waits for the lock, which is kept.
    registry.withLock { registry in
      for action in registry.actions.values { action() }
      // Who started this process may have blocked the signal.
      var signals = sigset_t()
      unsafe sigemptyset(&signals)
      unsafe sigaddset(&signals, number)
      unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      signal(number, SIG_DFL)
      raise(number)
      _exit(128 + number)
    }
  }
}
