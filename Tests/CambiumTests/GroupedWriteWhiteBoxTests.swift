import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Cambium

final class GroupedNote: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var value: AnyRealmValue

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Writes that share a transaction: each is whole or not there, whatever becomes of the others.
@Suite struct GroupedWriteWhiteBoxTests {
  init() { TemporaryFolder.prepareForChildren() }

  private struct Refusal: Error {}
  private final class Shared<Value: Sendable>: Sendable {
    private let state: Mutex<Value>
    init(_ value: Value) { state = Mutex(value) }
    var value: Value {
      get { state.withLock { $0 } }
      set { state.withLock { $0 = newValue } }
    }
    func change(_ body: (inout Value) -> Void) { state.withLock { body(&$0) } }
  }

  private typealias Block = @Sendable (Realm) throws -> Void

  private static let types: [ObjectBase.Type] = specTypes + [GroupedNote.self]

  /// Runs `blocks` one after the other in one transaction; what each of them throws.
  @discardableResult
  private static func together(
    _ database: RealmDatabase, _ blocks: [Block]
  ) async throws -> [(any Error)?] {
    database.writer.groupNanoseconds = .max
    let errors = Shared([(any Error)?](repeating: nil, count: blocks.count))
    let hasBegun = Shared(false)
    try await withThrowingTaskGroup { group in
      for (number, block) in blocks.enumerated() {
        group.addTask {
          do {
            try await database.write(allowGrouping: true) { realm in
              if number == 0 {
                hasBegun.value = true
                while database.writer.waitingWriteCount < blocks.count - 1 { usleep(100) }
              }
              try block(realm)
            }
          } catch {
            hasBegun.value = true
            errors.change { $0[number] = error }
          }
        }
        // Each stands in the queue before the next one comes; the last one lets the first one go on.
        while number == 0
          ? !hasBegun.value
          : number < blocks.count - 1 && database.writer.waitingWriteCount < number
        {
          try await Task.sleep(for: .milliseconds(1))
        }
      }
      try await group.waitForAll()
    }
    return errors.value
  }

  private static func version(_ database: RealmDatabase) throws -> UInt64 {
    UInt64(try database.statistics().newestVersion)
  }

  private static func ids(_ database: RealmDatabase) throws -> [Int] {
    try database.read { $0.objects(SpecPerson.self).map(\.id).sorted() }
  }

  private static func add(_ id: Int) -> Block {
    { $0.add(SpecPerson(id, "n", age: id)) }
  }

  @Test func `writes that wait share one version, and one that throws undoes its own changes`()
    async throws
  {
    let database = try await RealmDatabase(specConfiguration())
    try await database.write { $0.add(SpecPerson(0, "n", age: 0)) }
    let before = try Self.version(database)
    let errors = try await Self.together(
      database,
      [
        Self.add(1),
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
    #expect(try Self.version(database) == before + 1)
    #expect(try Self.ids(database) == [0, 1, 3])
    let age = try await database.read { $0.object(ofType: SpecPerson.self, forPrimaryKey: 1)?.age }
    #expect(age == 40)
    #expect(database.writer.waitingWriteCount == 0)
  }

  @Test func `a first one that throws takes nothing with it`() async throws {
    let database = try await RealmDatabase(specConfiguration())
    let errors = try await Self.together(
      database,
      [
        { realm in
          realm.add(SpecPerson(1, "n"))
          throw Refusal()
        }, Self.add(2), Self.add(3),
      ])
    #expect(errors.map { $0 is Refusal } == [true, false, false])
    #expect(try Self.ids(database) == [2, 3])
  }

  @Test(arguments: [[1, 3, 5], [1, 2, 3, 4, 5, 6], [6]])
  func `those that are cancelled while they wait take nothing from the others`(cancelled: [Int])
    async throws
  {
    let database = try await RealmDatabase(specConfiguration())
    database.writer.groupNanoseconds = .max
    try await database.write { $0.add(SpecPerson(0, "n")) }
    let before = try Self.version(database)
    let isInside = Shared(false)
    let mayEnd = Shared(false)
    let first = Task {
      try await database.write { realm in
        isInside.value = true
        while !mayEnd.value { usleep(100) }
        realm.cancelWrite()
      }
    }
    while !isInside.value { try await Task.sleep(for: .milliseconds(1)) }
    var tasks: [Task<Void, any Error>] = []
    for id in 1...6 {
      tasks.append(Task { try await database.write(allowGrouping: true, Self.add(id)) })
      while database.writer.waitingWriteCount < id { try await Task.sleep(for: .milliseconds(1)) }
    }
    for id in cancelled { tasks[id - 1].cancel() }
    mayEnd.value = true
    try await first.value
    for (index, task) in tasks.enumerated() {
      let result = await task.result
      #expect((try? result.get()) != nil || cancelled.contains(index + 1))
    }
    let kept = (1...6).filter { !cancelled.contains($0) }
    #expect(try Self.ids(database) == [0] + kept)
    #expect(try Self.version(database) == before + (kept.isEmpty ? 0 : 1))
    #expect(database.writer.waitingWriteCount == 0)
  }

  @Test func `one that is cancelled before its turn does not run`() async throws {
    let database = try await RealmDatabase(specConfiguration())
    let cancelled = Shared<Task<Void, any Error>?>(nil)
    try await Self.together(
      database,
      [
        Self.add(1),
        { realm in
          // Others come while it runs, and are cancelled while they wait.
          let waiting = database.writer.waitingWriteCount
          let task = Task { try await database.write(allowGrouping: true, Self.add(7)) }
          while database.writer.waitingWriteCount == waiting { usleep(100) }
          task.cancel()
          cancelled.value = task
        }, Self.add(2),
      ])
    await #expect(throws: CancellationError.self) { try await cancelled.value?.value }
    try await database.write { _ in }
    #expect(try Self.ids(database) == [1, 2])
  }

  @Test func `lists inside of values are told apart, whichever write made them`() async throws {
    let database = try await RealmDatabase(specConfiguration(Self.types))
    try await database.write { realm in
      realm.create(GroupedNote.self, value: ["id": 1])
      realm.object(ofType: GroupedNote.self, forPrimaryKey: 1)?.value = .fromArray([])
    }
    let append: Block = { realm in
      let note = realm.object(ofType: GroupedNote.self, forPrimaryKey: 1)
      note?.value.listValue?.append(.fromArray([.int(0)]))
    }
    try await Self.together(
      database,
      [
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
    let database = try await RealmDatabase(specConfiguration())
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
    try await Self.together(
      database, [Self.add(1)] + blocks.map { count in { realm in try make(realm, count) } })
    try await database.write { realm in
      let found = references.value.map { realm.resolve($0.value) != nil }
      #expect(found == Array(repeating: false, count: found.count - 1) + [true])
    }
  }

  @Test func `who follows the database is told of what lasts alone`() async throws {
    let database = try await RealmDatabase(specConfiguration())
    try await database.write { realm in
      for id in 1...4 { realm.add(SpecPerson(id, "n", age: 0)) }
    }
    var changes = try database.changes().makeAsyncIterator()
    guard case .snapshot? = try await changes.next() else {
      Issue.record("no snapshot")
      return
    }
    try await Self.together(
      database,
      [
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
      let database = try await RealmDatabase(specConfiguration())
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

  @Test func `when the transaction cannot be committed all throw the reason, and nothing is there`()
    async throws
  {
    let folder = try TemporaryFolder()
    let faults = StoreFaults()
    var configuration = Realm.Configuration(
      fileURL: folder.url("people.realm"), objectTypes: specTypes)
    configuration.store = Realm.Store.file.failing(by: faults)
    let database = try await RealmDatabase(configuration)
    try await Self.together(database, [Self.add(1)])
    let errors = try await Self.together(
      database,
      [
        Self.add(2),
        { realm in
          realm.add(SpecPerson(3, "n"))
          throw Refusal()
        },
        { realm in
          realm.add(SpecPerson(4, "n"))
          faults.fail(.publishing, .mediumFull, times: 1)
        },
      ])
    #expect(errors[1] is Refusal)
    #expect(errors[0] is Realm.Error && errors[2] is Realm.Error)
    #expect(try Self.ids(database) == [1])
    try await Self.together(database, [Self.add(5), Self.add(6)])
    #expect(try Self.ids(database) == [1, 5, 6])
    await database.close()
  }

  @Test func `a medium that is full when pages are written ahead is told to all`() async throws {
    let folder = try TemporaryFolder()
    let faults = StoreFaults()
    var configuration = Realm.Configuration(
      fileURL: folder.url("people.realm"), objectTypes: specTypes)
    configuration.store = Realm.Store.file.failing(by: faults)
    let database = try await RealmDatabase(configuration)
    try await Self.together(database, [Self.add(1)])
    let hasFailed = Shared<Bool?>(nil)
    let errors = try await Self.together(
      database,
      [
        Self.add(2),
        { realm in
          faults.fail(.writing, .mediumFull, times: 1)
          for id in 10..<60_000 { realm.add(SpecPerson(id, "\(UUID()) \(UUID())")) }
          hasFailed.value = realm.instance.session.map { session in
            (try? session.mark()) == nil
          }
        },
      ])
    #expect(hasFailed.value == true)
    #expect(errors.map { $0 is Realm.Error } == [true, true])
    faults.clear()
    #expect(try Self.ids(database) == [1])
    try await Self.together(database, [Self.add(5), Self.add(6)])
    #expect(try Self.ids(database) == [1, 5, 6])
    let findings = try database.withDatabase { try $0.verify().findings }
    #expect(findings == [])
    await database.close()
  }

  @Test func `one that is larger than the file may be is undone alone`() async throws {
    let folder = try TemporaryFolder()
    var configuration = Realm.Configuration(
      fileURL: folder.url("people.realm"), objectTypes: specTypes)
    configuration.maximumFileSize = 4 << 20
    let database = try await RealmDatabase(configuration)
    let errors = try await Self.together(
      database,
      [
        Self.add(1),
        { realm in
          for id in 10..<90_000 { realm.add(SpecPerson(id, "\(UUID()) \(UUID())")) }
        }, Self.add(2),
      ])
    #expect(errors.map { ($0 as? Realm.Error)?.code } == [nil, .outOfDiskSpace, nil])
    #expect(try Self.ids(database) == [1, 2])
    let findings = try database.withDatabase { try $0.verify().findings }
    #expect(findings == [])
    await database.close()
  }

  @Test func `an object of a transaction that failed is not what has its key later`() async throws {
    let folder = try TemporaryFolder()
    let faults = StoreFaults()
    var configuration = Realm.Configuration(
      fileURL: folder.url("people.realm"), objectTypes: specTypes)
    configuration.store = Realm.Store.file.failing(by: faults)
    let database = try await RealmDatabase(configuration)
    let references = Shared<[Smuggled<ThreadSafeReference<SpecPerson>>]>([])
    try await Self.together(
      database,
      [
        Self.add(5),
        { realm in
          realm.add(SpecPerson(6, "n"))
          throw Refusal()
        },
        { realm in
          guard let person = realm.object(ofType: SpecPerson.self, forPrimaryKey: 5) else { return }
          let reference = Smuggled(value: ThreadSafeReference(to: person))
          references.change { $0.append(reference) }
          faults.fail(.publishing, .mediumFull, times: 1)
        },
      ])
    try await Self.together(database, [Self.add(5)])
    try await database.write { realm in
      let found = references.value.map { realm.resolve($0.value) != nil }
      #expect(found == [false])
    }
    await database.close()
  }

  @Test func `closing waits for those that were asked for`() async throws {
    let configuration = specConfiguration()
    let database = try await RealmDatabase(configuration)
    let other = try await RealmDatabase(configuration)
    let isClosing = Shared(false)
    let hasClosed = Shared(false)
    try await withThrowingTaskGroup { group in
      for id in 1...20 {
        group.addTask {
          try await database.write(allowGrouping: true) { realm in
            // The first one is inside until all wait and the database is being closed.
            while id == 1, !isClosing.value { usleep(100) }
            #expect(!hasClosed.value)
            realm.add(SpecPerson(id, "n"))
          }
        }
        while database.writer.waitingWriteCount < id - 1 {
          try await Task.sleep(for: .milliseconds(1))
        }
      }
      group.addTask {
        await database.close()
        hasClosed.value = true
      }
      // It takes no more work once it is being closed.
      while (try? database.statistics()) != nil { try await Task.sleep(for: .milliseconds(1)) }
      isClosing.value = true
      try await group.waitForAll()
    }
    #expect(try Self.ids(other) == Array(1...20))
    await #expect(throws: Realm.Error.self) {
      try await database.write(allowGrouping: true, Self.add(21))
    }
  }

  // MARK: Chance

  /// What the database should hold: people with their dogs and nicknames, by key, and whom they like.
  private struct Model: Equatable {
    var dogs: [Int: [String]] = [:]
    var nicknames: [Int: [String]] = [:]
    var friends: [Int: Int] = [:]
    var values: [Int: [[Int]]] = [:]
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `what some undo is not to be seen in the others`(seed: UInt64) async throws {
    let folder = try TemporaryFolder()
    var configuration = Realm.Configuration(
      fileURL: folder.url("people.realm"), objectTypes: Self.types)
    if seed.isMultiple(of: 3) {
      configuration = Realm.Configuration(inMemoryIdentifier: "grouped writes \(seed)")
      configuration.objectTypes = Self.types
    }
    let database = try await RealmDatabase(configuration)
    let model = Shared(Model())
    for round in 0..<8 as Range<UInt64> {
      try await Self.together(
        database,
        (0..<12 as Range<UInt64>).map { number in
          { realm in
            var random = SeededGenerator(seed: seed * 1_000 + round * 20 + number)
            try Self.change(realm, model, &random)
          }
        })
      let found = try await database.read { Self.content($0) }
      #expect(found == model.value)
    }
    await database.close()
    if seed.isMultiple(of: 3) { return }
    let realm = try Realm(configuration: configuration, queue: nil)
    #expect(Self.content(realm) == model.value)
    #expect(try realm.instance.coordinator.database.verify().findings == [])
  }

  /// Changes some people, and throws now and then; the model follows what lasts.
  private static func change(
    _ realm: Realm, _ model: Shared<Model>, _ random: inout SeededGenerator
  ) throws {
    #expect(content(realm) == model.value)
    var next = model.value
    for _ in 0..<Int.random(in: 1...4, using: &random) { step(realm, &next, &random) }
    if Int.random(in: 0..<4, using: &random) == 0 { throw Refusal() }
    model.value = next
  }

  private static func step(_ realm: Realm, _ model: inout Model, _ random: inout SeededGenerator) {
    let id = Int.random(in: 0..<12, using: &random)
    guard let person = realm.object(ofType: SpecPerson.self, forPrimaryKey: id) else {
      realm.add(SpecPerson(id, "n", age: id))
      realm.create(GroupedNote.self, value: ["id": id], update: .all).value = .fromArray([])
      (model.dogs[id], model.nicknames[id], model.values[id]) = ([], [], [])
      return
    }
    switch Int.random(in: 0..<9, using: &random) {
    case 0:
      realm.delete(person.dogs)
      realm.delete(person)
      realm.delete(realm.objects(GroupedNote.self).where { $0.id == id })
      (model.dogs[id], model.nicknames[id], model.friends[id]) = (nil, nil, nil)
      model.values[id] = nil
      for (other, friend) in model.friends where friend == id { model.friends[other] = nil }
    case 1, 2, 3:
      let name = "dog \(Int.random(in: 0..<1_000, using: &random))"
      person.dogs.append(realm.create(SpecDog.self, value: ["name": name]))
      model.dogs[id]?.append(name)
    case 4 where !person.dogs.isEmpty:
      realm.delete(person.dogs[0])
      model.dogs[id]?.removeFirst()
    case 5:
      let other = Int.random(in: 0..<12, using: &random)
      person.friend = realm.object(ofType: SpecPerson.self, forPrimaryKey: other)
      model.friends[id] = model.dogs[other] == nil ? nil : other
    case 6, 7:
      let list = realm.object(ofType: GroupedNote.self, forPrimaryKey: id)?.value.listValue
      guard let list else { return }
      if let last = list.last?.listValue, Bool.random(using: &random) {
        last.append(.int(id))
        model.values[id]?[list.count - 1].append(id)
      } else {
        list.append(.fromArray([]))
        model.values[id]?.append([])
      }
    default:
      let name = String(repeating: "x", count: Int.random(in: 0..<3_000, using: &random))
      person.nicknames.append(name)
      model.nicknames[id]?.append(name)
    }
  }

  private static func content(_ realm: Realm) -> Model {
    var model = Model()
    for person in realm.objects(SpecPerson.self) {
      model.dogs[person.id] = person.dogs.map(\.name)
      model.nicknames[person.id] = Array(person.nicknames)
      model.friends[person.id] = person.friend?.id
      // What leads back is what leads there.
      for other in person.befriendedBy where other.friend?.id != person.id {
        Issue.record("\(other.id) is no friend of \(person.id)")
      }
      for dog in person.dogs where !dog.owners.contains(where: { $0.id == person.id }) {
        Issue.record("\(dog.name) has lost its owner")
      }
    }
    for note in realm.objects(GroupedNote.self) {
      model.values[note.id] = note.value.listValue?.map { inner in
        inner.listValue?.compactMap(\.intValue) ?? []
      }
    }
    let befriended = realm.objects(SpecPerson.self).reduce(0) { $0 + $1.befriendedBy.count }
    if befriended != model.friends.count { Issue.record("\(befriended) links lead back") }
    let owned = realm.objects(SpecPerson.self).reduce(0) { $0 + $1.dogs.count }
    if realm.objects(SpecDog.self).count != owned { Issue.record("a dog is left over") }
    return model
  }
}
