import CambiumCore
import CambiumStoreContract
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Cambium

/// Writes of a `RealmDatabase` that wait for the medium together.
///
/// In each test a first write holds the turn until so many others wait behind it.
@Suite struct SharedSyncWhiteBoxTests {
  @Test func `a write behind which others wait lets them begin, and returns when it is durable`()
    async throws
  {
    let store = SlowMedium()
    let writes = try await Writes(store.configuration)
    let done = Gathered<Int>()
    try await withThrowingTaskGroup { group in
      for number in 0..<4 {
        group.addTask {
          try await writes.write(number, whenWaiting: number == 0 ? 3 : 0)
          done.append(number)
        }
        if number == 0 { try await writes.firstHasBegun() }
      }
      // The last one has nobody behind it, and ends with the commit that made it durable.
      try await until { try writes.people.count == 4 }
      try await until { done.values.count == 1 }
      #expect(store.heldCount == 3)
      store.letGo()
      try await group.waitForAll()
    }
    #expect(store.fullCommitCount == 2)
    #expect(done.values.sorted() == [0, 1, 2, 3])
  }

  @Test func `threads do, too`() async throws {
    let store = SlowMedium()
    let writes = try await Writes(store.configuration)
    let done = Gathered<Int>()
    for number in 0..<4 {
      Thread.detachNewThread {
        do { try writes.writeHere(number, whenWaiting: number == 0 ? 3 : 0) } catch {
          Issue.record(error)
        }
        done.append(number)
      }
      if number == 0 { try await writes.firstHasBegun() }
    }
    try await until { try writes.people.count == 4 }
    try await until { done.values.count == 1 }
    store.letGo()
    try await until { done.values.count == 4 }
    #expect(store.fullCommitCount == 2)
  }

  @Test func `a write that nobody waits behind is durable when it is published`() async throws {
    let store = SlowMedium()
    let writes = try await Writes(store.configuration)
    try await writes.write(1)
    try await writes.write(2)
    #expect(store.heldCount == 0)
    #expect(store.fullCommitCount == 3)
  }

  @Test func `nobody waits for a medium that the configuration does not ask for`() async throws {
    let store = SlowMedium()
    var configuration = store.configuration
    configuration.durability = .relaxed
    let writes = try await Writes(configuration)
    try await withThrowingTaskGroup { group in
      for number in 0..<4 {
        group.addTask { try await writes.write(number, whenWaiting: number == 0 ? 3 : 0) }
        if number == 0 { try await writes.firstHasBegun() }
      }
      try await group.waitForAll()
    }
    #expect(store.heldCount == 0)
    #expect(store.fullCommitCount == 0)
  }

  @Test func `one that throws and one that is cancelled concern nobody else`() async throws {
    let writes = try await Writes(specConfiguration())
    try await withThrowingTaskGroup { group in
      group.addTask { try await writes.write(0, whenWaiting: 3) }
      try await writes.firstHasBegun()
      group.addTask {
        await #expect(throws: Refusal.self) {
          try await writes.database.write { realm in
            realm.add(SpecPerson(1, "n", age: 1))
            throw Refusal()
          }
        }
      }
      group.addTask {
        withUnsafeCurrentTask { $0?.cancel() }
        await #expect(throws: CancellationError.self) {
          try await writes.write(2)
        }
      }
      group.addTask { try await writes.write(3) }
      // The cancelled one does not wait.
      group.addTask { try await writes.write(4) }
      try await group.waitForAll()
    }
    #expect(try writes.people == [0, 3, 4])
  }

  @Test(arguments: [true, false])
  func `all who wait are told of a sync that has failed, and nothing is written then`(
    asThreads: Bool
  ) async throws {
    let folder = try TemporaryFolder()
    let faults = StoreFaults()
    var configuration = Realm.Configuration(
      fileURL: folder.url("people.realm"), objectTypes: specTypes)
    configuration.store = Realm.Store.file.failing(by: faults)
    let writes = try await Writes(configuration)
    try await writes.write(9)
    faults.fail(.syncing, .broken)
    let codes = Gathered<Realm.Error.Code?>()
    for number in 0..<4 {
      let count = number == 0 ? 3 : 0
      if asThreads {
        Thread.detachNewThread {
          codes.append(code { try writes.writeHere(number, whenWaiting: count) })
        }
      } else {
        Task { codes.append(await code { try await writes.write(number, whenWaiting: count) }) }
      }
      if number == 0 { try await writes.firstHasBegun() }
    }
    try await until { codes.values.count == 4 }
    #expect(codes.values == Array(repeating: .fileAccess, count: 4))
    faults.clear()
    await #expect(throws: Realm.Error.self) {
      try await writes.write(5)
    }
    #expect(try writes.people.contains(9))
    await writes.database.close()

    let again = try await Writes(configuration)
    try await again.write(6)
    let people = try again.people
    #expect(people.contains(9) && people.contains(6) && !people.contains(5))
    await again.database.close()
  }

  @Test(arguments: [true, false])
  func `a write that cannot begin throws, and others go on`(asThread: Bool) async throws {
    let faults = StoreFaults()
    let folder = try TemporaryFolder()
    var configuration = Realm.Configuration(
      fileURL: folder.url("people.realm"), objectTypes: specTypes)
    configuration.store = Realm.Store.file.failing(by: faults)
    let writes = try await Writes(configuration)
    faults.fail(.beginning, .mediumFull, times: 1)
    if asThread {
      #expect(throws: Realm.Error.self) { try writes.writeHere(1) }
    } else {
      await #expect(throws: Realm.Error.self) {
        try await writes.write(1)
      }
    }
    try await writes.write(2)
    #expect(writes.database.writer.waitingWriteCount == 0)
    #expect(try writes.people == [2])
    await writes.database.close()
  }

  @Test
  func `writes that wait for another Realm are done in their order, whatever those before them do`()
    async throws
  {
    let configuration = specConfiguration()
    let writes = try await Writes(configuration)
    let other = try OtherRealm(configuration)
    other.begin()
    let order = Gathered<Int>()
    try await withThrowingTaskGroup { group in
      for number in 0..<3 {
        group.addTask {
          try await writes.database.write { realm in
            order.append(number)
            realm.add(SpecPerson(number, "n", age: number))
            // Nobody but this write is concerned.
            if number == 0 {
              try realm.commitWrite()
              realm.invalidate()
            }
          }
        }
        try await until { writes.database.writer.waitingWriteCount == number + 1 }
      }
      let isDone = Gathered<Bool>()
      let isAsked = Gathered<Bool>()
      Thread.detachNewThread {
        isAsked.append(true)
        do {
          try writes.database.write { realm in
            order.append(3)
            realm.add(SpecPerson(3, "n", age: 3))
          }
        } catch { Issue.record(error) }
        isDone.append(true)
      }
      try await until { !isAsked.values.isEmpty }
      other.end()
      try await group.waitForAll()
      try await until { !isDone.values.isEmpty }
    }
    #expect(order.values.prefix(1) == [0] && Set(order.values) == [0, 1, 2, 3])
    #expect(try writes.people == [0, 1, 2, 3])
    #expect(writes.database.writer.waitingWriteCount == 0)
    await writes.database.close()
  }

  @Test func `too many versions are refused to tasks, too`() async throws {
    var configuration = specConfiguration()
    configuration.maximumNumberOfActiveVersions = 2
    let writes = try await Writes(configuration)
    var kept: [Realm] = []
    var code: Realm.Error.Code?
    for number in 0..<8 where code == nil {
      kept.append(try writes.database.snapshot { $0.freeze() })
      code = await CambiumTests.code { try await writes.write(number) }
    }
    #expect(code == .fail)
    withExtendedLifetime(kept) {}
    #expect(writes.database.writer.waitingWriteCount == 0)
  }

  @Test func `what many tasks and threads were told is durable is there`() async throws {
    let folder = try TemporaryFolder()
    let configuration = Realm.Configuration(
      fileURL: folder.url("people.realm"), objectTypes: specTypes)
    let writes = try await Writes(configuration)
    let threads = Gathered<Int>()
    for thread in 0..<4 {
      Thread.detachNewThread {
        for number in 0..<50 {
          do { try writes.writeHere(thread * 50 + number) } catch {
            Issue.record(error)
          }
        }
        threads.append(thread)
      }
    }
    try await withThrowingTaskGroup { group in
      for task in 4..<12 {
        group.addTask {
          for number in 0..<50 {
            try await writes.write(task * 50 + number)
            #expect(try writes.people.contains(task * 50 + number))
          }
        }
      }
      try await group.waitForAll()
    }
    try await until { threads.values.count == 4 }
    await writes.database.close()
    let again = try await Writes(configuration)
    #expect(try again.people == Array(0..<600))
    await again.database.close()
  }

  private struct Refusal: Error {}
}

private func code(_ body: () throws -> Void) -> Realm.Error.Code? {
  do { try body() } catch { return (error as? Realm.Error)?.code }
  return nil
}

private func code(_ body: () async throws -> Void) async -> Realm.Error.Code? {
  do { try await body() } catch { return (error as? Realm.Error)?.code }
  return nil
}

/// What threads and tasks have to say.
private final class Gathered<Value: Sendable>: Sendable {
  private let list = Mutex<[Value]>([])
  var values: [Value] { list.withLock { $0 } }
  func append(_ value: Value) { list.withLock { $0.append(value) } }
}

/// A Realm of another queue that keeps the writer lock.
///
/// Unchecked: the Realm is used on its queue.
private final class OtherRealm: @unchecked Sendable {
  private let queue = DispatchQueue(label: "other")
  private let realm: Realm

  init(_ configuration: Realm.Configuration) throws {
    let queue = queue
    realm = try queue.sync { try Realm(configuration: configuration, queue: queue) }
  }

  func begin() { queue.sync { realm.beginWrite() } }

  func end() { queue.sync { realm.cancelWrite() } }
}

/// Writes to a database of which the first one keeps the turn until others wait behind it.
private final class Writes: Sendable {
  let database: RealmDatabase
  private let hasBegun = Atomic(false)

  init(_ configuration: Realm.Configuration) async throws {
    database = try await RealmDatabase(configuration)
  }

  /// Adds a person; before that, waits inside of the write until so many others wait to write.
  func write(_ number: Int, whenWaiting count: Int = 0) async throws {
    try await database.write { [self] realm in add(number, count, realm) }
  }

  /// The same by the caller's thread.
  func writeHere(_ number: Int, whenWaiting count: Int = 0) throws {
    try database.write { [self] realm in add(number, count, realm) }
  }

  private func add(_ number: Int, _ count: Int, _ realm: Realm) {
    if count > 0 { hasBegun.store(true, ordering: .sequentiallyConsistent) }
    while database.writer.waitingWriteCount < count { Thread.sleep(forTimeInterval: 0.001) }
    realm.add(SpecPerson(number, "n", age: number))
  }

  /// Waits until the first write is inside.
  func firstHasBegun() async throws {
    try await until { hasBegun.load(ordering: .sequentiallyConsistent) }
  }

  var people: [Int] {
    get throws { try database.read { $0.objects(SpecPerson.self).map(\.id).sorted() } }
  }
}
