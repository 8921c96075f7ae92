import Cambium
import Foundation
import Testing

/// Section B12: primary keys.
@Suite struct B12PrimaryKeyTests {
  @Test func `objects are found by keys of every allowed type`() throws {
    let realm = try specRealm()
    let id = ObjectId.generate()
    let uuid = UUID()
    try realm.write {
      realm.add(SpecPerson(-5, "Ann"))
      realm.create(SpecTextKey.self, value: ["key": "ä", "value": 1])
      realm.create(SpecTextKey.self, value: ["key": "", "value": 2])
      realm.create(SpecTextKey.self, value: ["key": NSNull(), "value": 3])
      realm.create(SpecIdKey.self, value: ["key": id])
      realm.create(SpecUUIDKey.self, value: ["key": uuid])
      realm.create(SpecSmallKey.self, value: ["key": 7])
      realm.create(SpecSmallKey.self)
    }
    #expect(realm.object(ofType: SpecPerson.self, forPrimaryKey: -5)?.name == "Ann")
    #expect(realm.object(ofType: SpecTextKey.self, forPrimaryKey: "ä")?.value == 1)
    #expect(realm.object(ofType: SpecTextKey.self, forPrimaryKey: "")?.value == 2)
    #expect(realm.object(ofType: SpecTextKey.self, forPrimaryKey: nil as String?)?.value == 3)
    #expect(realm.object(ofType: SpecIdKey.self, forPrimaryKey: id) != nil)
    #expect(realm.object(ofType: SpecUUIDKey.self, forPrimaryKey: uuid) != nil)
    #expect(realm.object(ofType: SpecSmallKey.self, forPrimaryKey: 7) != nil)
    #expect(realm.object(ofType: SpecSmallKey.self, forPrimaryKey: Int8(7)) != nil)
    #expect(realm.object(ofType: SpecSmallKey.self, forPrimaryKey: nil as Int8?) != nil)
    #expect(realm.object(ofType: SpecPerson.self, forPrimaryKey: 1) == nil)
    #expect(realm.object(ofType: SpecIdKey.self, forPrimaryKey: ObjectId.generate()) == nil)
    #expect(realm.objects(SpecTextKey.self).count == 3)
  }

  @Test func `long text keys that begin alike are told apart`() throws {
    let realm = try specRealm()
    let head = String(repeating: "k", count: 3000)
    try realm.write {
      for index in 0..<20 {
        realm.create(SpecTextKey.self, value: ["key": head + "\(index)", "value": index])
      }
    }
    for index in 0..<20 {
      #expect(
        realm.object(ofType: SpecTextKey.self, forPrimaryKey: head + "\(index)")?.value == index)
    }
  }

  @Test func `an unmanaged object may change its key`() {
    let person = SpecPerson(1, "Ann")
    person.id = 2
    person["id"] = 3
    #expect(person.id == 3)
  }

  @Test func `an object created again with its key is another one`() throws {
    let realm = try specRealm()
    let old = SpecPerson(1, "old")
    let holder = SpecPerson(2, "holder")
    holder.friend = old
    try realm.write { realm.add(holder) }
    let another = try #require(realm.object(ofType: SpecPerson.self, forPrimaryKey: 1))
    try realm.write {
      realm.delete(old)
      realm.add(SpecPerson(1, "new"))
    }
    #expect(old.isInvalidated && another.isInvalidated)
    #expect(holder.friend == nil)
    #expect(realm.object(ofType: SpecPerson.self, forPrimaryKey: 1)?.name == "new")
  }

  @Test func `a lookup reads the instance's version`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    #expect(realm.isEmpty)
    try onAnotherThread {
      let other = try Realm(configuration: configuration)
      try other.write { other.add(SpecPerson(1, "Ann")) }
    }
    #expect(realm.object(ofType: SpecPerson.self, forPrimaryKey: 1) == nil)
    realm.refresh()
    #expect(realm.object(ofType: SpecPerson.self, forPrimaryKey: 1)?.name == "Ann")
  }

  @Test func `indexed properties find the same rows through every change`() throws {
    let realm = try specRealm()
    let objects = try realm.write {
      (0..<30).map { realm.create(SpecIdKey.self, value: ["tag": "t\($0 % 3)"]) }
    }
    #expect(realm.objects(SpecIdKey.self).where { $0.tag == "t1" }.count == 10)
    try realm.write {
      objects[1].tag = "other"
      realm.delete(objects[4])
    }
    #expect(realm.objects(SpecIdKey.self).where { $0.tag == "t1" }.count == 8)
    #expect(realm.objects(SpecIdKey.self).where { $0.tag == "other" }.count == 1)
    #expect(realm.objects(SpecIdKey.self).filter("tag IN {'t1', 'other'}").count == 9)
    realm.beginWrite()
    realm.deleteAll()
    realm.cancelWrite()
    #expect(realm.objects(SpecIdKey.self).where { $0.tag == "t1" }.count == 8)
  }
}
