// snippet.hide
import Cambium

let configuration = Realm.Configuration(inMemoryIdentifier: "kennels")
Realm.Configuration.defaultConfiguration = configuration

class Dog: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var age: Int
}

// snippet.show
actor Kennel {
  private var realm: Realm?

  func open() async throws { realm = try await Realm(actor: self) }

  func add(_ name: String) async throws {
    guard let realm else { return }
    try await realm.asyncWrite { _ = realm.create(Dog.self, value: ["name": name]) }
  }

  func names() -> [String] { realm.map { $0.objects(Dog.self).map(\.name) } ?? [] }
}
// snippet.hide

let database = try await RealmDatabase(configuration)
let kennel = Kennel()
try await kennel.open()
try await kennel.add("Rex")
// snippet.next
// snippet.show
try await database.write(allowGrouping: true) { realm in
  realm.object(ofType: Dog.self, forPrimaryKey: "Rex")?.age += 1
}
// snippet.hide
var saved: DatabasePosition?
var names: Set<String> = []
// snippet.next
// snippet.show
for try await change in try database.changes(since: saved) {
  switch change {
  case .snapshot:
    names = try database.read { Set($0.objects(Dog.self).map(\.name)) }
  case .changes(_, let classes):
    let dogs = classes["Dog"] ?? TouchedObjects()
    for case .string(let name) in dogs.deleted { names.remove(name) }
    for case .string(let name) in dogs.inserted { names.insert(name) }
  }
  saved = change.position
  // snippet.hide
  if names == ["Rex", "Ada"] { break }
  try await kennel.add("Ada")
  // snippet.show
}
// snippet.hide
print(await kennel.names().count, names.sorted())
