import Foundation
import TestSupport
import Testing

@testable import Cambium

/// Writes that share a transaction: each is whole or not there, whatever becomes of the others.
@Suite struct GroupedWriteWhiteBoxTests {
  init() { TemporaryFolder.prepareForChildren() }

  @Test func `writes that wait share one version, and one that throws undoes its own changes`()
    async throws
  {
    let writes = try await GroupedWrites()
    let database = writes.database
    try await database.write { $0.add(SpecPerson(0, "n", age: 0)) }
    let before = try writes.version
    let errors = try await writes.together([
      GroupedWrites.add(1),
      { realm in
        realm.add(SpecPerson(2, "n"))
        realm.delete(realm.objects(SpecPerson.self).where { $0.id == 0 })
        throw Refusal()
      },
      { realm in
        #expect(realm.objects(SpecPerson.self).map(\.id).sorted() == [0, 1])
        realm.add(SpecPerson(3, "n"))
      },
      { realm in
        realm.deleteAll()
        throw Refusal()
      },
      { realm in realm.object(ofType: SpecPerson.self, forPrimaryKey: 1)?.age = 40 },
    ])
    #expect(errors.map { $0 is Refusal } == [false, true, false, true, false])
    #expect(try writes.version == before + 1)
    #expect(try writes.ids == [0, 1, 3])
    let age = try await database.read { $0.object(ofType: SpecPerson.self, forPrimaryKey: 1)?.age }
    #expect(age == 40)
    #expect(database.writer.waitingWriteCount == 0)
  }

  @Test func `a first one that throws takes nothing with it`() async throws {
    let writes = try await GroupedWrites()
    let errors = try await writes.together([
      { realm in
        realm.add(SpecPerson(1, "n"))
        throw Refusal()
      }, GroupedWrites.add(2), GroupedWrites.add(3),
    ])
    #expect(errors.map { $0 is Refusal } == [true, false, false])
    #expect(try writes.ids == [2, 3])
  }

  @Test(arguments: [[1, 3, 5], [1, 2, 3, 4, 5, 6], [6]])
  func `those that are cancelled while they wait take nothing from the others`(cancelled: [Int])
    async throws
  {
    let writes = try await GroupedWrites()
    let database = writes.database
    try await database.write { $0.add(SpecPerson(0, "n")) }
    let before = try writes.version
    let isInside = Shared(false)
    let mayEnd = Shared(false)
    let first = Task {
      try await database.write { realm in
        isInside.value = true
        while !mayEnd.value { usleep(100) }
        realm.cancelWrite()
      }
    }
    try await until { isInside.value }
    var tasks: [Task<Void, any Error>] = []
    for id in 1...6 {
      tasks.append(Task { try await database.write(allowGrouping: true, GroupedWrites.add(id)) })
      try await until { database.writer.waitingWriteCount == id }
    }
    for id in cancelled { tasks[id - 1].cancel() }
    mayEnd.value = true
    try await first.value
    for (index, task) in tasks.enumerated() {
      let result = await task.result
      #expect((try? result.get()) != nil || cancelled.contains(index + 1))
    }
    let kept = (1...6).filter { !cancelled.contains($0) }
    #expect(try writes.ids == [0] + kept)
    #expect(try writes.version == before + (kept.isEmpty ? 0 : 1))
    #expect(database.writer.waitingWriteCount == 0)
  }

  @Test func `one that is cancelled before its turn does not run`() async throws {
    let writes = try await GroupedWrites()
    let database = writes.database
    let cancelled = Shared<Task<Void, any Error>?>(nil)
    try await writes.together([
      GroupedWrites.add(1),
      { realm in
        // Others come while it runs, and are cancelled while they wait.
        let waiting = database.writer.waitingWriteCount
        let task = Task { try await database.write(allowGrouping: true, GroupedWrites.add(7)) }
        while database.writer.waitingWriteCount == waiting { usleep(100) }
        task.cancel()
        cancelled.value = task
      }, GroupedWrites.add(2),
    ])
    await #expect(throws: CancellationError.self) { try await cancelled.value?.value }
    try await database.write { _ in }
    #expect(try writes.ids == [1, 2])
  }

  @Test func `lists inside of values are told apart, whichever write made them`() async throws {
    let writes = try await GroupedWrites(specConfiguration(GroupedWrites.types))
    let database = writes.database
    try await database.write { realm in
      realm.create(GroupedNote.self, value: ["id": 1])
      realm.object(ofType: GroupedNote.self, forPrimaryKey: 1)?.value = .fromArray([])
    }
    let append: GroupedWrites.Block = { realm in
      let note = realm.object(ofType: GroupedNote.self, forPrimaryKey: 1)
      note?.value.listValue?.append(.fromArray([.int(0)]))
    }
    try await writes.together([
      append, append,
      { realm in
        try append(realm)
        throw Refusal()
      }, append,
    ])
    try await database.write { realm in
      let list = realm.object(ofType: GroupedNote.self, forPrimaryKey: 1)?.value.listValue
      let inner = list.map { list in list.compactMap(\.listValue) } ?? []
      #expect(inner.count == 3)
      for (number, list) in inner.enumerated() { list[0] = .int(number) }
    }
    let numbers = try await database.read { realm in
      realm.object(ofType: GroupedNote.self, forPrimaryKey: 1)?.value.listValue?
        .compactMap { $0.listValue?.first?.intValue }
    }
    #expect(numbers == [0, 1, 2])
  }

  /// Each number is how often a block makes an object of one key; a negative one throws then.
  @Test(arguments: [[-1, 1], [-2, 1], [2, -1, 1], [-2, 2, -2, -2, 1], [1, -3, -1, 2]])
  func `what was undone is not what has its key later`(blocks: [Int]) async throws {
    let writes = try await GroupedWrites()
    let database = writes.database
    let references = Shared<[Smuggled<ThreadSafeReference<SpecPerson>>]>([])
    let make = { @Sendable (realm: Realm, count: Int) throws in
      for _ in 0..<abs(count) {
        if let old = realm.object(ofType: SpecPerson.self, forPrimaryKey: 5) { realm.delete(old) }
        let person = SpecPerson(5, "n")
        realm.add(person)
        let reference = Smuggled(value: ThreadSafeReference(to: person))
        references.change { $0.append(reference) }
      }
      if count < 0 { throw Refusal() }
    }
    try await writes.together(
      [GroupedWrites.add(1)] + blocks.map { count in { realm in try make(realm, count) } })
    try await database.write { realm in
      let found = references.value.map { realm.resolve($0.value) != nil }
      #expect(found == Array(repeating: false, count: found.count - 1) + [true])
    }
  }

  @Test func `who follows the database is told of what lasts alone`() async throws {
    let writes = try await GroupedWrites()
    let database = writes.database
    try await database.write { realm in
      for id in 1...4 { realm.add(SpecPerson(id, "n", age: 0)) }
    }
    var changes = try database.changes().makeAsyncIterator()
    guard case .snapshot? = try await changes.next() else {
      Issue.record("no snapshot")
      return
    }
    try await writes.together([
      { $0.object(ofType: SpecPerson.self, forPrimaryKey: 1)?.age = 1 },
      { realm in
        realm.object(ofType: SpecPerson.self, forPrimaryKey: 2)?.age = 1
        realm.delete(realm.objects(SpecPerson.self).where { $0.id == 3 })
        realm.add(SpecPerson(9, "n"))
        throw Refusal()
      },
      { $0.object(ofType: SpecPerson.self, forPrimaryKey: 4)?.age = 1 },
    ])
    guard case .changes(_, let touched)? = try await changes.next() else {
      Issue.record("no changes")
      return
    }
    var expected = TouchedObjects()
    expected.modified = [.int(1), .int(4)]
    #expect(touched == ["SpecPerson": expected])
  }

  @Test(arguments: [
    "freeze", "observe", "observe the Realm", "commit", "commit later", "cancel", "invalidate",
    "copy",
  ])
  func `what would end the transaction, or see another version, stops`(what: String) async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [what = what as String] in
      let writes = try await GroupedWrites()
      let database = writes.database
      try await database.write { $0.add(SpecPerson(1, "n")) }
      try await database.write(allowGrouping: true) { realm in
        switch what {
        case "freeze": _ = realm.objects(SpecPerson.self)[0].freeze()
        case "observe": _ = realm.objects(SpecPerson.self).observe { _ in }
        case "observe the Realm": _ = realm.observe { _, _ in }
        case "copy": try realm.writeCopy(toFile: URL(filePath: "/nowhere/at/all"))
        case "commit": try realm.commitWrite()
        case "commit later": realm.commitAsyncWrite()
        case "cancel": realm.cancelWrite()
        default: realm.invalidate()
        }
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      text.contains("A write with 'allowGrouping' shares its transaction"), "\(text.prefix(600))")
  }

  @Test func `closing waits for those that were asked for`() async throws {
    let configuration = specConfiguration()
    let writes = try await GroupedWrites(configuration)
    let other = try await GroupedWrites(configuration)
    let isInside = Shared(false)
    let isClosing = Shared(false)
    let hasClosed = Shared(false)
    try await withThrowingTaskGroup { group in
      for id in 1...20 {
        group.addTask {
          try await writes.write { realm in
            if id == 1 { isInside.value = true }
            // The first one is inside until all wait and the database is being closed.
            while id == 1, !isClosing.value { usleep(100) }
            #expect(!hasClosed.value)
            realm.add(SpecPerson(id, "n"))
          }
        }
        try await until {
          isInside.value && writes.database.writer.waitingWriteCount == id - 1
        }
      }
      group.addTask {
        await writes.database.close()
        hasClosed.value = true
      }
      // It takes no more work once it is being closed.
      try await until { (try? writes.database.statistics()) == nil }
      isClosing.value = true
      try await group.waitForAll()
    }
    #expect(try other.ids == Array(1...20))
    await #expect(throws: Realm.Error.self) { try await writes.write(GroupedWrites.add(21)) }
  }
}
