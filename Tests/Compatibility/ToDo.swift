import Foundation
import RealmSwift
import Testing

// A to-do list that works offline: what was changed is kept until a server has it, what the server sends is
// merged, and lists are shared with others. Its first version stored less.

enum FirstToDo {
  class ToDoItem: Object {
    @Persisted(primaryKey: true) var id = ""
    @Persisted var title = ""
    @Persisted var done = false

    override class func _realmObjectName() -> String? { "ToDoItem" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

class ToDoItem: Object {
  @Persisted(primaryKey: true) var id = ""
  @Persisted var title = ""
  @Persisted var completed: Date?
  @Persisted var updated = Date(timeIntervalSince1970: 0)
  @Persisted(originProperty: "items") var lists: LinkingObjects<ToDoList>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class ToDoList: Object {
  @Persisted(primaryKey: true) var name = ""
  @Persisted var items = List<ToDoItem>()
  @Persisted var sharedWith: Map<String, String>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// What the server has not heard of yet.
class PendingChange: Object {
  @Persisted(primaryKey: true) var id = ObjectId.generate()
  @Persisted var itemID = ""
  @Persisted var changes: AnyRealmValue

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

struct ToDoStore {
  static let types: [ObjectBase.Type] = [ToDoItem.self, ToDoList.self, PendingChange.self]
  let configuration: Realm.Configuration

  init(_ url: URL) {
    configuration = Realm.Configuration(
      fileURL: url, schemaVersion: 2,
      migrationBlock: { migration, oldVersion in
        guard oldVersion < 2 else { return }
        migration.enumerateObjects(ofType: "ToDoItem") { old, new in
          if old?["done"] as? Bool == true { new?["completed"] = Date(timeIntervalSince1970: 1) }
        }
        var items: [MigrationObject] = []
        migration.enumerateObjects(ofType: "ToDoItem") { _, new in
          if let new { items.append(new) }
        }
        migration.create("ToDoList", value: ["name": "Inbox", "items": items] as [String: Any])
      }, objectTypes: Self.types)
  }

  func complete(_ id: String, at date: Date) throws {
    let realm = try Realm(configuration: configuration)
    guard let item = realm.object(ofType: ToDoItem.self, forPrimaryKey: id) else { return }
    try realm.write {
      item.completed = date
      item.updated = date
      let change = PendingChange()
      change.itemID = id
      change.changes = .fromDictionary(["completed": .date(date), "title": .string(item.title)])
      realm.add(change)
    }
  }

  /// Takes what the server says, where it is newer.
  func merge(_ json: String) throws {
    let realm = try Realm(configuration: configuration)
    let objects = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]] ?? []
    try realm.write {
      for var object in objects {
        let updated = Date(timeIntervalSince1970: object["updated"] as? Double ?? 0)
        let id = object["id"] as? String ?? ""
        if let known = realm.object(ofType: ToDoItem.self, forPrimaryKey: id),
          known.updated > updated
        {
          continue
        }
        object["updated"] = updated
        realm.create(ToDoItem.self, value: object, update: .modified)
      }
    }
  }

  /// Sends what waits, oldest first, on another thread.
  func send(_ upload: @escaping @Sendable (String, [String]) -> Bool) throws {
    let realm = try Realm(configuration: configuration)
    let reference = ThreadSafeReference(
      to: realm.objects(PendingChange.self).sorted(byKeyPath: "id"))
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread { [configuration] in
      autoreleasepool {
        guard let realm = try? Realm(configuration: configuration),
          let pending = realm.resolve(reference)
        else { return }
        for change in Array(pending) {
          guard let keys = change.changes.dictionaryValue?.keys, upload(change.itemID, keys) else {
            break
          }
          try? realm.write { realm.delete(change) }
        }
      }
      done.signal()
    }
    done.wait()
    realm.refresh()
  }
}

@Suite struct ToDoProgram {
  @Test func `an old file is brought along, changed offline, merged and shared`() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appendingPathComponent("todo.realm")
    try autoreleasepool {
      let first = try Realm(
        configuration: Realm.Configuration(fileURL: url, objectTypes: [FirstToDo.ToDoItem.self]))
      try first.write {
        for (id, title) in ["milk", "bread", "tea"].enumerated() {
          first.create(FirstToDo.ToDoItem.self, value: ["\(id)", title, id == 1] as [Any])
        }
      }
    }
    let store = ToDoStore(url)
    let realm = try Realm(configuration: store.configuration)
    let inbox = try #require(realm.object(ofType: ToDoList.self, forPrimaryKey: "Inbox"))
    #expect(inbox.items.map(\.title) == ["milk", "bread", "tea"])
    #expect(inbox.items.where { $0.completed != nil }.map(\.title) == ["bread"])
    try realm.write { inbox.sharedWith["ann@example"] = "can edit" }
    #expect(throws: (any Error).self) {
      try realm.write {
        inbox.items.removeAll()
        throw CancellationError()
      }
    }
    #expect(inbox.items.count == 3)
    try store.complete("0", at: Date(timeIntervalSince1970: 100))
    try store.complete("2", at: Date(timeIntervalSince1970: 110))
    try store.merge(
      #"[{"id": "0", "title": "oat milk", "updated": 50}, {"id": "1", "title": "rye bread", "updated": 60},"#
        + #" {"id": "7", "title": "new", "updated": 70}]"#)
    realm.refresh()
    #expect(inbox.items.map(\.title) == ["milk", "rye bread", "tea"])
    #expect(realm.objects(ToDoItem.self).where { $0.lists.count == 0 }.map(\.title) == ["new"])
    try store.send { id, keys in id == "0" && keys == ["completed", "title"] }
    #expect(realm.objects(PendingChange.self).map(\.itemID) == ["2"])
    try store.send { _, _ in true }
    #expect(realm.objects(PendingChange.self).isEmpty)
    let shared = realm.objects(ToDoList.self).filter("sharedWith['ann@example'] == 'can edit'")
    #expect(shared.first == inbox)
  }
}
