import Cambium
import Foundation

class Person: Object {
  @Persisted(primaryKey: true) var id: UUID
  @Persisted(indexed: true) var name: String
  @Persisted var born: Date?
  @Persisted var pets: List<Pet>
}

class Pet: Object {
  @Persisted var name: String
  @Persisted(originProperty: "pets") var owners: LinkingObjects<Person>
}

// snippet.next
let file = URL(fileURLWithPath: "people.cambium")
let realm = try Realm(configuration: Realm.Configuration(fileURL: file))

// snippet.next
let ada = Person(value: ["name": "Ada"])
try realm.write {
  realm.add(ada)
  let rex = realm.create(Pet.self, value: ["name": "Rex"])
  ada.pets.append(rex)
}

// snippet.next
let people = realm.objects(Person.self)
let owners = people.where { $0.pets.name == "Rex" }.sorted(by: \.name)
for person in owners { print(person.name, person.pets.count) }
print(realm.objects(Pet.self).first?.owners.first?.name ?? "nobody")

// snippet.next
let token = owners.observe { change in
  if case .update(let owners, _, let insertions, _) = change {
    print("new owners:", insertions.map { owners[$0].name })
  }
}
// snippet.hide
// Unchecked: used on the main thread alone.
final class Signal: @unchecked Sendable {
  var updateCount = 0
  var isThere = false

  func wait(_ isDone: () -> Bool) {
    while !isDone() { RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.01)) }
  }
}
let signal = Signal()
let second = owners.observe { change in
  signal.isThere = true
  if case .update = change { signal.updateCount += 1 }
}
signal.wait { signal.isThere }
// snippet.show
try realm.write {
  let ben = realm.create(Person.self, value: ["name": "Ben"])
  ben.pets.append(ada.pets[0])
}

// snippet.hide
signal.wait { signal.updateCount == 1 }
token.invalidate()
second.invalidate()
// snippet.show

// snippet.next
let database = try await RealmDatabase(Realm.Configuration(fileURL: file))
let count = try database.read { realm in realm.objects(Person.self).count }
try database.write { realm in
  _ = realm.create(Person.self, value: ["name": "Cleo"])
}

// snippet.hide
print(count, try database.read { realm in realm.objects(Person.self).count })
await database.close()
try FileManager.default.removeItem(at: file)
