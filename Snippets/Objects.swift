import Cambium

class Dog: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var age: Int
}

let realm = try Realm()
try realm.write { realm.add(Dog(value: ["name": "Ada", "age": 4]), update: .modified) }
for dog in realm.objects(Dog.self).where({ $0.age > 3 }).sorted(byKeyPath: "name") {
  print(dog.name)
}
