import Cambium
import CambiumCore
import Foundation
import Synchronization
import TestSupport
import Testing

/// What a listener is told of a database.
@Suite(.serialized) struct DatabaseEventTests {
  /// Keeps the events of one store: others of the process are at work meanwhile.
  private final class Listener: DatabaseEventListener {
    private let store: String
    private let events = Mutex<[DatabaseEvent]>([])

    init(_ store: String) { self.store = store }

    func observe(_ event: DatabaseEvent, of store: String) {
      if store.hasSuffix(self.store) { events.withLock { $0.append(event) } }
    }

    var all: [DatabaseEvent] { events.withLock { $0 } }
  }

  @Test func `openings, commits, syncs, refreshes, versions and migrations are told`() throws {
    let folder = try TemporaryFolder()
    // Of all databases of the process it is told of this one.
    let name = UUID().uuidString + ".realm"
    let listener = Listener(name)
    DatabaseEvents.listen(listener)
    defer { DatabaseEvents.listen(nil) }
    var configuration = Realm.Configuration(
      fileURL: folder.url(name), objectTypes: [SpecPerson.self, SpecDog.self])
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      for name in ["Ada", "Bea", "Cid", "Dan", "Eve"] {
        try realm.write { realm.add(SpecDog(value: ["name": name])) }
      }
    }
    let opened = listener.all.filter { if case .opened = $0 { true } else { false } }
    #expect(opened.count == 1)
    let commits = listener.all.compactMap { event -> (Version, Int, Int64)? in
      guard case .committed(let version, let byteCount, .full, let time) = event else { return nil }
      return (version, byteCount, time)
    }
    // The schema's, and the dogs', of which the last ones leave their pages in memory.
    #expect(commits.map(\.0) == [1, 2, 3, 4, 5, 6])
    #expect(commits.allSatisfy { $0.1 > 0 && $0.2 > 0 })
    #expect(listener.all.contains { if case .synced(let time) = $0 { time > 0 } else { false } })
    #expect(
      listener.all.contains { if case .writeBegan(let time) = $0 { time >= 0 } else { false } })
    #expect(
      listener.all.contains {
        if case .versionReleased(_, let age) = $0 { age > 0 } else { false }
      })
    configuration.schemaVersion = 1
    configuration.migrationBlock = { _, _ in }
    try autoreleasepool { _ = try Realm(configuration: configuration) }
    #expect(
      listener.all.contains {
        if case .migrated(from: 0, to: 1, let time) = $0 { time > 0 } else { false }
      })
    // Another context sees what this one commits.
    let queue = DispatchQueue(label: "other")
    let other = try queue.sync { try Realm(configuration: configuration, queue: queue) }
    let realm = try Realm(configuration: configuration)
    try realm.write { realm.add(SpecDog(value: ["name": "Bob"])) }
    _ = queue.sync { other.refresh() }
    #expect(
      listener.all.contains {
        if case .refreshed(let old, let new) = $0 { old < new } else { false }
      })
    // And its observers are told.
    let told = DispatchSemaphore(value: 0)
    let token = queue.sync {
      other.objects(SpecDog.self).observe { _ in told.signal() }
    }
    // The initial contents first.
    told.wait()
    try realm.write { _ = realm.create(SpecDog.self, value: ["name": "Dan"]) }
    told.wait()
    _ = queue.sync { token.invalidate() }
    // The event follows the observers.
    queue.sync { () -> Void in }
    #expect(
      listener.all.contains {
        if case .observersTold(let count, _, let time) = $0 {
          count == 1 && time > 0
        } else {
          false
        }
      })
    DatabaseEvents.listen(nil)
    let count = listener.all.count
    try realm.write { realm.add(SpecDog(value: ["name": "Cid"])) }
    #expect(listener.all.count == count)
  }
}
