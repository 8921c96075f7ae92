import Foundation
import RealmSwift
import Testing

// What the documents describe, as a client in language mode 6 writes it: without warnings, and without
// anything unchecked.

final class Todo: Object {
  @Persisted(primaryKey: true) var _id: ObjectId
  @Persisted var name: String
  @Persisted var status: String

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

actor TodoActor {
  private let configuration: Realm.Configuration
  private var realm: Realm!

  init(_ configuration: Realm.Configuration) async throws {
    self.configuration = configuration
    realm = try await Realm(configuration: configuration, actor: self)
  }

  var count: Int { realm.objects(Todo.self).count }

  func create(_ name: String) async throws -> ObjectId {
    try await realm.asyncWrite {
      realm.create(Todo.self, value: ["_id": ObjectId.generate(), "name": name, "status": "Open"])
    }._id
  }

  func complete(_ reference: ThreadSafeReference<Todo>) async throws {
    try await realm.asyncWrite { realm.resolve(reference)?.status = "Complete" }
  }

  func complete(_ todo: ThreadSafe<Todo>) throws {
    try realm.write { todo.wrappedValue?.status = "Complete" }
  }

  func close() { realm = nil }
}

@Suite struct StrictScenarios {
  private func configuration() -> Realm.Configuration {
    Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Todo.self])
  }

  @Test @MainActor func `a reference goes to an actor, and its change comes back`() async throws {
    let configuration = configuration()
    let actor = try await TodoActor(configuration)
    let key = try await actor.create("Write")
    let realm = try await Realm(configuration: configuration)
    guard let todo = realm.object(ofType: Todo.self, forPrimaryKey: key) else { return }
    let (told, tell) = AsyncStream.makeStream(of: String.self)
    let token = todo.observe { (change: ObjectChange<Todo>) in
      if case .change(let todo, _) = change { tell.yield(todo.status) }
    }
    try await actor.complete(ThreadSafeReference(to: todo))
    var changes = told.makeAsyncIterator()
    #expect(await changes.next() == "Complete")
    token.invalidate()
    await actor.close()
  }

  @Test @MainActor func `a wrapper goes to an actor`() async throws {
    let configuration = configuration()
    let actor = try await TodoActor(configuration)
    let realm = try await Realm(configuration: configuration)
    let todo = ThreadSafe(
      wrappedValue: try await realm.asyncWrite {
        realm.create(Todo.self, value: ["name": "Write", "status": "Open"])
      })
    try await actor.complete(todo)
    await realm.asyncRefresh()
    #expect(todo.wrappedValue?.status == "Complete")
  }

  @Test @MainActor func `an actor is told of changes`() async throws {
    let configuration = configuration()
    let actor = try await TodoActor(configuration)
    let realm = try await Realm(configuration: configuration)
    let (told, tell) = AsyncStream.makeStream(of: Int.self)
    let token = await realm.objects(Todo.self).observe(on: actor) { actor, change in
      switch change {
      case .initial(let todos), .update(let todos, _, _, _):
        #expect(actor.count == todos.count)
        tell.yield(todos.count)
      case .error: break
      }
    }
    var changes = told.makeAsyncIterator()
    #expect(await changes.next() == 0)
    try await realm.asyncWrite { _ = realm.create(Todo.self, value: ["name": "Write"]) }
    #expect(await changes.next() == 1)
    token.invalidate()
  }

  @Test @MainActor func `a loop is told of changes`() async throws {
    let realm = try await Realm(configuration: configuration())
    var counts: [Int] = []
    for try await change in realm.objects(Todo.self).changes {
      switch change {
      case .initial(let todos), .update(let todos, _, _, _): counts.append(todos.count)
      case .error: break
      }
      if counts.count == 3 { break }
      try await realm.asyncWrite { _ = realm.create(Todo.self, value: ["name": "Write"]) }
    }
    #expect(counts == [0, 1, 2])
  }

  @Test func `tasks share a database`() async throws {
    let database = try await RealmDatabase(configuration())
    let keys = try await withThrowingTaskGroup(of: ObjectId.self) { group in
      for number in 0..<4 {
        group.addTask {
          try await database.write { realm in
            realm.create(Todo.self, value: ["_id": ObjectId.generate(), "name": "\(number)"])._id
          }
        }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    let found = try await database.read { realm in Set(realm.objects(Todo.self).map(\._id)) }
    #expect(found == keys)
    await database.close()
  }
}
