import Cambium
import CambiumCore
import Foundation
import Synchronization
import TestSupport
import Testing

/// Synchronous writes of several threads at the same time share a sync; alone each is durable before it is seen.
@Suite struct GroupCommitRealmTests {
  private let store = SlowMedium()

  private func names(_ configuration: Realm.Configuration) throws -> [String] {
    try Realm(configuration: configuration).objects(SpecDog.self).map(\.name)
  }

  /// A thread that adds a dog.
  private func write(_ name: String, _ configuration: Realm.Configuration) -> WatchedThread {
    WatchedThread {
      #expect(throws: Never.self) { try Realm(configuration: configuration).addDogs(name) }
    }
  }

  @Test func `where others write, a write lets them begin and returns when it is durable`() throws {
    let configuration = store.configuration
    store.isContended = true
    let before = store.fullCommitCount
    let threads = [write("Ada", configuration), write("Bob", configuration)]
    while store.heldCount < 2 { sched_yield() }
    for thread in threads { #expect(thread.waitsForSomebody()) }
    #expect(try Set(names(configuration)) == ["Ada", "Bob"])
    store.letGo()
    for thread in threads { thread.waitForEnd() }
    #expect(store.fullCommitCount <= before + 1)
  }

  @Test func `alone a write is durable when it is published`() throws {
    let realm = try Realm(configuration: store.configuration)
    let before = store.fullCommitCount
    try realm.addDogs("Ada")
    #expect(store.fullCommitCount == before + 1)
    #expect(store.heldCount == 0)
  }

  @Test func `a write that need not be durable waits for nobody`() throws {
    var configuration = store.configuration
    configuration.durability = .relaxed
    let realm = try Realm(configuration: configuration)
    store.isContended = true
    try realm.addDogs("Ada")
    #expect(store.heldCount == 0)
  }

  @Test func `observers are told of a write when it is durable`() throws {
    let queue = DispatchQueue(label: "dogs")
    let isTold = Flag()
    let isDone = DispatchSemaphore(value: 0)
    queue.async { [store] in
      do {
        let realm = try Realm(configuration: store.configuration, queue: queue)
        let token = realm.observe { _, _ in isTold.raise() }
        store.isContended = true
        try realm.addDogs("Ada")
        #expect(isTold.isRaised)
        token.invalidate()
      } catch { Issue.record(error) }
      isDone.signal()
    }
    while store.heldCount < 1 { sched_yield() }
    #expect(!isTold.isRaised)
    store.letGo()
    isDone.wait()
  }

  @Test func `a shared sync that fails is thrown, and the version stands for readers`() throws {
    let configuration = store.configuration
    let realm = try Realm(configuration: configuration)
    store.isContended = true
    let thread = WatchedThread {
      do {
        let realm = try Realm(configuration: configuration)
        #expect(throws: Realm.Error.self) { try realm.addDogs("Ada") }
        #expect(!realm.isInWriteTransaction)
        #expect(realm.objects(SpecDog.self).map(\.name) == ["Ada"])
      } catch { Issue.record(error) }
    }
    while store.heldCount < 1 { sched_yield() }
    store.letGo(.poisoned(path: "slow"))
    thread.waitForEnd()
    realm.refresh()
    #expect(realm.objects(SpecDog.self).map(\.name) == ["Ada"])
  }

  @Test func `threads that write one file lose nothing`() throws {
    let folder = try TemporaryFolder()
    let configuration = Realm.Configuration(
      fileURL: folder.url("dogs.realm"), objectTypes: specTypes)
    let (threadCount, count) = (8, 50)
    let threads = (0..<threadCount).map { thread in
      WatchedThread {
        #expect(throws: Never.self) {
          let realm = try Realm(configuration: configuration)
          for number in 0..<count { try realm.addDogs("\(thread)/\(number)") }
        }
      }
    }
    for thread in threads { thread.waitForEnd() }
    let names = try Realm(configuration: configuration).objects(SpecDog.self).map(\.name)
    #expect(Set(names).count == threadCount * count)
  }
}

private final class Flag: Sendable {
  private let state = Atomic(false)

  var isRaised: Bool { state.load(ordering: .acquiring) }

  func raise() { state.store(true, ordering: .releasing) }
}
