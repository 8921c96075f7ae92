import CambiumCluster
import CambiumCore
import Synchronization

/// A connection to a simulated cluster that can be cut: what is held back is not answered, and happens later if
/// it is let go.
public final class HeldObjects: ObjectStorage {
  private let cluster: SimulatedCluster
  private let inner: InstantObjects
  private struct State {
    var isHeld: (@Sendable (ObjectRequest) -> Bool)?
    var held: [ObjectRequest] = []
  }
  private let state = Mutex(State())
  private let reads = Atomic(0)

  /// A connection to `cluster`.
  public init(_ cluster: SimulatedCluster, path: String = "simulated:db") {
    self.cluster = cluster
    inner = InstantObjects(cluster, path: path)
  }

  /// The kind's name.
  public var kind: String { inner.kind }
  /// What users call it.
  public var path: String { inner.path }
  /// How many reads of blocks, which have the pages, were started; the poll's of the root do not count.
  public var readCount: Int { reads.load(ordering: .relaxed) }

  /// Holds back from now on what `condition` holds for; nil for nothing any more.
  public func hold(_ condition: (@Sendable (ObjectRequest) -> Bool)?) {
    state.withLock { $0.isHeld = condition }
  }

  /// Lets happen what was held back, in its order.
  public func release() {
    let held = state.withLock { state in
      defer { state.held = [] }
      return state.held
    }
    for request in held { _ = cluster.apply(request, now: MonotonicClock.system.now) }
  }

  /// Does it at once, or holds it back.
  public func start(_ request: ObjectRequest, _ call: ObjectCall) {
    if case .read(let name, _) = request, name.hasPrefix("b.") { reads.add(1, ordering: .relaxed) }
    let isHeld = state.withLock { state in
      guard state.isHeld?(request) == true else { return false }
      state.held.append(request)
      return true
    }
    if isHeld { return call.end(.failure(.unknown("no answer"))) }
    inner.start(request, call)
  }

  /// Waits for so long.
  public func sleep(nanoseconds: Int64) { inner.sleep(nanoseconds: nanoseconds) }
  /// Calls `body` on the thread of who gives a hint.
  public func watch(_ body: @escaping @Sendable (ObjectHint?) -> Void) { inner.watch(body) }
  /// Refuses everything from now on.
  public func close() { inner.close() }
}
