import CambiumCore
import Synchronization

/// What a process tells the cluster of its pins: the oldest version that it needs, as the holder of a shared
/// lock that ends by itself when the process does.
///
/// Nothing is told when a read begins: a version that is newer than the one that was told is kept as well.
///
/// Thread-safe.
final class PinLease: Sendable {
  private struct State {
    /// The version that was told.
    var version: Version
    var hasEnded = false
  }

  /// Tells this process from all others, and people where it is.
  let name: String
  private let seconds: Int
  private let state: Mutex<State>

  /// Tells the cluster that `version` is needed from now on.
  init(
    _ version: Version, name: String, seconds: Int, client: ObjectClient
  ) throws(StoreError) {
    self.name = name
    self.seconds = seconds
    state = Mutex(State(version: version))
    _ = try client.ask(request(version), "pin a version of")
  }

  private func holder(_ version: Version) -> String { "\(version).\(name)" }

  private func request(_ version: Version) -> ObjectRequest {
    .lock(name: ObjectNames.pins, holder: holder(version), isShared: true, seconds: seconds)
  }

  /// The version that a holder of the lock needs; nil for a holder that nobody understands.
  static func version(_ holder: String) -> Version? {
    Version(holder.prefix { $0 != "." })
  }

  /// What a holder calls itself.
  static func name(_ holder: String) -> String {
    String(holder.drop { $0 != "." }.dropFirst())
  }

  /// Tells the cluster that `version` is what is needed now, and all after it, or keeps what was told from
  /// ending.
  ///
  /// Called by one thread at a time. What gets no answer is tried again the next time.
  func renew(_ version: Version, _ client: ObjectClient) {
    let (told, isOver) = state.withLock { ($0.version, $0.hasEnded) }
    if isOver { return }
    let newest = max(told, version)
    guard case .success? = client.storage.perform([request(newest)]).first else { return }
    let hasEnded = state.withLock { state in
      if state.hasEnded { return true }
      state.version = newest
      return false
    }
    if hasEnded { return unlock(newest, client) }
    if newest != told { unlock(told, client) }
  }

  private func unlock(_ version: Version, _ client: ObjectClient) {
    _ = client.storage.perform([.unlock(name: ObjectNames.pins, holder: holder(version))])
  }

  /// Tells the cluster that nothing is needed any more.
  func end(_ client: ObjectClient) {
    let version = state.withLock { state in
      state.hasEnded = true
      return state.version
    }
    unlock(version, client)
  }
}
