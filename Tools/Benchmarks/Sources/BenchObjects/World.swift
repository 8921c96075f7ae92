import Cambium
import Foundation

/// A Realm in memory, empty of people or full of them.
struct World {
  let realm: Realm
  let objects: Int

  init(objects: Int, isFilled: Bool) throws {
    var configuration = Realm.Configuration(
      inMemoryIdentifier: UUID().uuidString, objectTypes: [Person.self, City.self])
    configuration.maximumNumberOfActiveVersions = nil
    realm = try Realm(configuration: configuration)
    self.objects = objects
    if isFilled { try fill() }
  }

  /// Unmanaged people who live in a hundred cities.
  func people() -> [Person] {
    let cities = (0..<100).map { City(value: ["id": $0, "name": "City \($0)"] as [String: Any]) }
    return (0..<objects).map { Person.make($0, cities) }
  }

  private func fill() throws {
    let people = people()
    try realm.write { realm.add(people) }
  }
}
