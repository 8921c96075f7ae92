import Cambium
import Foundation
import Testing

@Suite struct BasicsTests {
  @Test func `an object that was added can be found, changed and deleted`() throws {
    let realm = try testRealm()
    let person = Person()
    person.id = 7
    person.name = "Ann"
    try realm.write { realm.add(person) }
    #expect(person.realm == realm)
    #expect(realm.objects(Person.self).count == 1)
    let found = try #require(realm.object(ofType: Person.self, forPrimaryKey: 7))
    #expect(found.name == "Ann")
    #expect(found == person)
    try realm.write { found.name = "Bea" }
    #expect(person.name == "Bea")
    try realm.write { realm.delete(found) }
    #expect(person.isInvalidated)
    #expect(realm.isEmpty)
  }

  @Test func `every kind of property comes back as it went`() throws {
    let realm = try testRealm()
    let object = Everything()
    object.key = "a"
    object.objectId = ObjectId("0123456789abcdef01234567")
    let uuid = UUID()
    object.uuid = uuid
    object.decimal = 12.5
    object.link = object
    object.optionalString = "x"
    object.optionalColor = .blue
    object.dates.append(objectsIn: [nil, Date(timeIntervalSince1970: 5)])
    object.colors.append(objectsIn: [.red, .blue])
    object.links.append(object)
    try realm.write { realm.add(object) }
    let found = try #require(realm.object(ofType: Everything.self, forPrimaryKey: "a"))
    #expect(found.bool)
    #expect(found.int == -1)
    #expect(found.int8 == 8)
    #expect(found.int16 == 16)
    #expect(found.int32 == 32)
    #expect(found.int64 == 64)
    #expect(found.float == 1.5)
    #expect(found.double == 2.5)
    #expect(found.string == "text")
    #expect(found.data == Data([1, 2, 3]))
    #expect(found.date == Date(timeIntervalSince1970: 1_000_000.25))
    #expect(found.objectId == ObjectId("0123456789abcdef01234567"))
    #expect(found.uuid == uuid)
    #expect(found.decimal == 12.5)
    #expect(found.color == .green)
    #expect(found.link?.key == "a")
    #expect(found.optionalInt == nil)
    #expect(found.optionalString == "x")
    #expect(found.optionalColor == .blue)
    #expect(Array(found.dates) == [nil, Date(timeIntervalSince1970: 5)])
    #expect(Array(found.colors) == [.red, .blue])
    #expect(found.links.first == found)
  }
}
