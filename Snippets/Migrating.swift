// snippet.hide
import Cambium
import Foundation

let url = URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
  .appendingPathComponent("people.cambium")

enum Before {
  class Person: Object {
    @Persisted var firstName: String
    @Persisted var lastName: String
    @Persisted var zip: Int
    @Persisted var street: String
    @Persisted var nickname: String

    override class func _realmObjectName() -> String? { "Person" }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

try? FileManager.default.removeItem(at: url)
try autoreleasepool {
  let realm = try Realm(
    configuration: Realm.Configuration(fileURL: url, objectTypes: [Before.Person.self]))
  try realm.write {
    realm.create(Before.Person.self, value: ["Ada", "Byron", 53111, "Main Street", "ada"])
    realm.create(Before.Person.self, value: ["Bob", "Meyer", 1067, "High Street", "bob"])
  }
}

// snippet.show
class Address: EmbeddedObject {
  @Persisted var street: String
}

class Person: Object {
  @Persisted var fullName: String
  @Persisted var shortName: String
  @Persisted var postalCode: String
  @Persisted var address: Address?
}

var configuration = Realm.Configuration(fileURL: url, schemaVersion: 1)
configuration.migrationBlock = { migration, oldVersion in
  migration.renameProperty(onType: "Person", from: "nickname", to: "shortName")
  migration.enumerateObjects(ofType: "Person") { old, new in
    guard let old, let new else { return }
    new.fullName = "\(old["firstName"] ?? "") \(old["lastName"] ?? "")"
    new.postalCode = "\(old["zip"] ?? "")"
    new.address = ["street": old["street"] ?? ""]
  }
}
let realm = try Realm(configuration: configuration)
// snippet.hide
for person in realm.objects(Person.self).sorted(by: \.fullName) {
  print(person.fullName, person.shortName, person.postalCode, person.address?.street ?? "")
}
