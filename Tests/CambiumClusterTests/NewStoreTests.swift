import CambiumCluster
import CambiumCore
import Foundation
import SimulatedCluster
import Synchronization
import Testing

/// Stores that must not be there yet.
@Suite struct NewStoreTests {
  /// A connection of a machine that is overtaken: another one makes the store just before it does.
  private final class OvertakenObjects: ObjectStorage {
    private let inner: InstantObjects
    private let overtake: Mutex<(@Sendable () -> Void)?>

    init(_ cluster: SimulatedCluster, _ overtake: @escaping @Sendable () -> Void) {
      inner = InstantObjects(cluster)
      self.overtake = Mutex(overtake)
    }

    var kind: String { inner.kind }
    var path: String { inner.path }
    func start(_ request: ObjectRequest, _ call: ObjectCall) {
      if case .create = request { overtake.withLock { $0.take() }?() }
      inner.start(request, call)
    }
    func sleep(nanoseconds: Int64) { inner.sleep(nanoseconds: nanoseconds) }
    func watch(_ body: @escaping @Sendable (ObjectHint?) -> Void) { inner.watch(body) }
    func close() { inner.close() }
  }

  private static func isTaken(_ error: any Error) -> Bool {
    error as? StoreError == .system(operation: "create", path: "simulated:db", code: EEXIST)
  }

  private var options: ClusterOptions {
    var options = ClusterOptions.small()
    options.mustBeNew = true
    return options
  }

  @Test func `a store that must be new is made, and refused where one is`() throws {
    let cluster = SimulatedCluster()
    let first = try ClusterStore(InstantObjects(cluster), options: options)
    #expect {
      _ = try ClusterStore(InstantObjects(cluster), options: options)
    } throws: { Self.isTaken($0) }
    try first.close()
    let again = try ClusterStore(InstantObjects(cluster), options: .small())
    #expect(again.identity.uuid == first.identity.uuid)
    try again.close()
  }

  @Test func `of two who make a store at the same time one is refused`() throws {
    let cluster = SimulatedCluster()
    let objects = OvertakenObjects(cluster) {
      try? ClusterStore(InstantObjects(cluster), options: .small()).close()
    }
    #expect { _ = try ClusterStore(objects, options: options) } throws: { Self.isTaken($0) }
    var reading = ClusterOptions.small()
    reading.isReadOnly = true
    try ClusterStore(InstantObjects(cluster), options: reading).close()
  }
}
