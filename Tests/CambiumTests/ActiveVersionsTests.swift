import Cambium
import Foundation
import Testing

@Suite struct ActiveVersionsTests {
  class Counter: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var value: Int
  }

  @Test func `more active versions than allowed refuse a write until they are released`() throws {
    var configuration = Realm.Configuration(
      inMemoryIdentifier: "versions", objectTypes: [Counter.self])
    configuration.maximumNumberOfActiveVersions = 3
    let realm = try Realm(configuration: configuration)
    try realm.write { realm.create(Counter.self, value: ["id": 1]) }
    var frozen: [Realm] = []
    #expect {
      for value in 0..<10 {
        try realm.write {
          realm.object(ofType: Counter.self, forPrimaryKey: 1)?.value = value
        }
        frozen.append(realm.freeze())
      }
    } throws: { error in
      "\(error.localizedDescription)".contains("exceeded the limit of 3")
    }
    #expect(frozen.count < 10)
    frozen = []
    try realm.write { realm.create(Counter.self, value: ["id": 2]) }
    #expect(realm.objects(Counter.self).count == 2)
  }
}
