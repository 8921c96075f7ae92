import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Cambium

/// What Realm instances share of their classes.
@Suite struct ClassLayoutTests {
  /// The instance of `configuration` on a queue of its own, which it outlives here.
  private static func instance(
    _ configuration: Realm.Configuration
  ) throws -> Smuggled<RealmInstance> {
    let queue = DispatchQueue(label: "other")
    return try queue.sync {
      Smuggled(value: try Realm(configuration: configuration, queue: queue).instance)
    }
  }

  @Test func `all Realms of one schema version share what their classes are`() throws {
    let configuration = specConfiguration()
    let realm = try Realm(configuration: configuration)
    let first = realm.freeze()
    try realm.addDogs("Rex")
    let second = realm.freeze()
    let other = try Self.instance(configuration)
    for instance in [first.instance, second.instance, other.value] {
      #expect(instance !== realm.instance)
      #expect(instance.layout === realm.instance.layout)
    }
    #expect(first.objects(SpecDog.self).isEmpty)
    #expect(second.objects(SpecDog.self).map(\.name) == ["Rex"])
  }

  @Test func `who opens after tables were described otherwise gets layouts of that`() throws {
    let configuration = specConfiguration([SpecDog.self, SpecPerson.self])
    let realm = try Realm(configuration: configuration)
    try realm.addDogs("Rex")
    var grown = configuration
    grown.objectTypes = [SpecDog.self, SpecPerson.self, SpecTextKey.self]
    let larger = try Realm(configuration: grown)
    #expect(larger.instance.layout !== realm.instance.layout)
    let later = try Self.instance(configuration)
    #expect(later.value.layout !== realm.instance.layout)
    #expect(later.value.layout === (try Self.instance(configuration)).value.layout)
    // What was open goes on with what it has.
    try realm.addDogs("Ben")
    #expect(realm.freeze().instance.layout === realm.instance.layout)
    #expect(realm.freeze().objects(SpecDog.self).map(\.name) == ["Rex", "Ben"])
  }

  @Test func `a Realm that is only read shares them, too`() throws {
    let folder = try TemporaryFolder()
    var configuration = Realm.Configuration(
      fileURL: folder.url("read.realm"), objectTypes: [SpecDog.self, SpecPerson.self])
    try autoreleasepool { _ = try Realm(configuration: configuration).addDogs("Rex") }
    configuration.readOnly = true
    let realm = try Realm(configuration: configuration)
    let other = try Self.instance(configuration)
    #expect(other.value !== realm.instance && other.value.layout === realm.instance.layout)
    #expect(realm.freeze().objects(SpecDog.self).map(\.name) == ["Rex"])
  }

  @Test func `several threads may be the first to read a frozen version`() throws {
    let realm = try specRealm()
    let ann = SpecPerson(1, "Ann")
    try realm.write { realm.add(ann) }
    for round in 1...20 {
      try realm.write {
        ann.friend = realm.create(SpecPerson.self, value: ["id": round + 1, "name": "\(round)"])
      }
      let frozen = Smuggled(value: realm.freeze())
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        let realm = frozen.value
        let ann = realm.object(ofType: SpecPerson.self, forPrimaryKey: 1)
        #expect(ann?.friend?.name == "\(round)" && ann?.friend?.dogs.count == 0)
        #expect(realm.objects(SpecPerson.self).count == round + 1)
        #expect(realm.objects(SpecDog.self).isEmpty)
      }
    }
  }
}
