import CPlatform
import CambiumCluster
import CambiumCore
import Synchronization

/// A connection to a simulated cluster in which everything happens at once.
public final class InstantObjects: ObjectStorage {
  /// The kind's name.
  public var kind: String { "simulated" }
  /// What users call it.
  public let path: String
  private let cluster: SimulatedCluster
  private let watches = Mutex<[Int]>([])
  private let isClosed = Atomic(false)

  /// A connection to `cluster`.
  public init(_ cluster: SimulatedCluster, path: String = "simulated:db") {
    self.cluster = cluster
    self.path = path
  }

  /// Does it at once.
  public func start(_ request: ObjectRequest, _ call: ObjectCall) {
    if isClosed.load(ordering: .acquiring) { return call.end(.failure(.refused("closed"))) }
    call.end(cluster.apply(request, now: MonotonicClock.system.now))
  }

  /// Waits for so long.
  public func sleep(nanoseconds: Int64) {
    CommitSignal().wait(timeoutNanoseconds: nanoseconds) { false }
  }

  /// Calls `body` on the thread of who gives a hint.
  public func watch(_ body: @escaping @Sendable (ObjectHint?) -> Void) {
    let number = cluster.watch(body)
    watches.withLock { $0.append(number) }
  }

  /// Refuses everything from now on.
  public func close() {
    isClosed.store(true, ordering: .releasing)
    for number in watches.withLock({ $0 }) { cluster.unwatch(number) }
  }
}

/// Simulated clusters by name, for tests that open the same place again.
public enum SimulatedClusters {
  private static let known = Mutex<[String: SimulatedCluster]>([:])

  /// The cluster of that name, always the same.
  public static func named(_ name: String) -> SimulatedCluster {
    known.withLock { known in
      if let cluster = known[name] { return cluster }
      let cluster = SimulatedCluster()
      known[name] = cluster
      return cluster
    }
  }
}
