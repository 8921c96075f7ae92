import Cambium

class Dog: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var age: Int
  @Persisted var puppies: List<Dog>
}

let realm = try Realm()
try realm.write { realm.add(Dog(value: ["name": "Ada", "age": 4]), update: .modified) }

let old = realm.objects(Dog.self).where { $0.age > 3 }  // live: follows every change
print(old.count, old.first?.name ?? "")
let frozen = old.freeze()  // fixed: may be read on any thread

// snippet.hide
try realm.write { old.first?.age = 2 }
print(old.count, frozen.count)
