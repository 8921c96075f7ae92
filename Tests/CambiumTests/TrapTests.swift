import Cambium
import Dispatch
import Foundation
import Testing

/// Every stop of the object layer, with the text that users search for.
@Suite struct TrapTests {
  private static func expectText(_ result: ExitTest.Result?, _ text: String) {
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains(text), "expected “\(text)” in “\(output.prefix(400))”")
  }

  @Test func `another thread may not read`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      // Unchecked: the misuse that is tested.
      nonisolated(unsafe) let smuggled = realm
      runOnNewThread { _ = smuggled.objects(Dog.self) }
    }
    Self.expectText(result, "Realm accessed from incorrect thread.")
  }

  @Test func `a Realm opens only on its queue`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = try Realm(queue: DispatchQueue(label: "elsewhere"))
    }
    Self.expectText(result, "Realm opened from incorrect dispatch queue.")
  }

  @Test func `global queues are refused`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = try Realm(queue: DispatchQueue.global())
    }
    Self.expectText(result, "Realms can only be confined to serial queues or the main queue.")
  }

  @Test func `write transactions do not nest`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      realm.beginWrite()
      realm.beginWrite()
    }
    Self.expectText(result, "The Realm is already in a write transaction")
  }

  @Test func `there is nothing to commit outside of a transaction`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try memoryRealm().commitWrite()
    }
    Self.expectText(result, "Can't commit a non-existing write transaction")
  }

  @Test func `there is nothing to cancel outside of a transaction`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try memoryRealm().cancelWrite()
    }
    Self.expectText(result, "Can't cancel a non-existing write transaction")
  }

  @Test func `a frozen Realm takes no transactions`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try memoryRealm().freeze().beginWrite()
    }
    Self.expectText(result, "Can't perform transactions on a frozen Realm")
  }

  @Test func `a frozen Realm has no autorefresh`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let frozen = try memoryRealm().freeze()
      frozen.autorefresh = true
    }
    Self.expectText(result, "Auto-refresh cannot be enabled for frozen Realms.")
  }

  @Test func `properties change only in a transaction`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let dog = Dog()
      try realm.write { realm.add(dog) }
      dog.name = "Max"
    }
    Self.expectText(result, "Attempting to modify object outside of a write transaction - call")
  }

  @Test func `objects are added only in a transaction`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try memoryRealm().add(Dog())
    }
    Self.expectText(
      result, "Can only add, remove, or create objects in a Realm in a write transaction - call")
  }

  @Test func `lists change only in a transaction`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let person = Person()
      try realm.write { realm.add(person) }
      person.nicknames.append("x")
    }
    Self.expectText(result, "Cannot modify List outside of a write transaction.")
  }

  @Test func `frozen objects do not change`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let dog = Dog()
      try realm.write { realm.add(dog) }
      let frozen = dog.freeze()
      try realm.write { frozen.name = "Max" }
    }
    Self.expectText(
      result, "Attempting to modify a frozen object - call thaw on the Object instance first.")
  }

  @Test func `a deleted object is not read`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let dog = Dog()
      try realm.write { realm.add(dog) }
      let other = realm.objects(Dog.self)[0]
      try realm.write { realm.delete(other) }
      _ = dog.name
    }
    Self.expectText(result, "Object has been deleted or invalidated.")
  }

  @Test func `a deleted object is not added`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let dog = Dog()
      try realm.write {
        realm.add(dog)
        realm.delete(dog)
        realm.add(dog)
      }
    }
    Self.expectText(result, "Adding a deleted or invalidated object to a Realm is not permitted")
  }

  @Test func `a list ends with its owner`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let person = Person()
      try realm.write { realm.add(person) }
      let list = person.nicknames
      try realm.write { realm.delete(person) }
      _ = list.count
    }
    Self.expectText(
      result, "List is no longer valid. Either the parent object was deleted or the containing")
  }

  @Test func `an object of another Realm is not added`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let first = try memoryRealm()
      let second = try memoryRealm()
      let dog = Dog()
      try first.write { first.add(dog) }
      try second.write { second.add(dog) }
    }
    Self.expectText(
      result,
      "Object is already managed by another Realm. Use create instead to copy it into this Realm.")
  }

  @Test func `an unmanaged object is not deleted`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      try realm.write { realm.delete(Dog()) }
    }
    Self.expectText(result, "Can only delete an object from the Realm it belongs to.")
  }

  @Test func `a primary key is not used twice`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      try realm.write {
        realm.create(Person.self, value: ["id": 3])
        realm.create(Person.self, value: ["id": 3])
      }
    }
    Self.expectText(
      result,
      "Attempting to create an object of type 'Person' with an existing primary key value '3'.")
  }

  @Test func `a primary key does not change`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      try realm.write {
        let person = realm.create(Person.self, value: ["id": 3])
        person.id = 4
      }
    }
    Self.expectText(result, "Primary key can't be changed after an object is inserted.")
  }

  @Test func `a primary key does not change by name`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      try realm.write {
        let person = realm.create(Person.self, value: ["id": 3])
        person["id"] = 4
      }
    }
    Self.expectText(result, "Primary key can't be changed to '4' after an object is inserted.")
  }

  @Test func `updates need a primary key`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      try realm.write { realm.add(Dog(), update: .modified) }
    }
    Self.expectText(result, "'Dog' does not have a primary key and can not be updated")
  }

  @Test func `lookups need a primary key`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = try memoryRealm().object(ofType: Dog.self, forPrimaryKey: 1)
    }
    Self.expectText(result, "'Dog' does not have a primary key defined")
  }

  @Test func `a value of a wrong type is refused`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Person(value: ["name": 5])
    }
    Self.expectText(
      result, "Invalid value '5' of type 'Int' for 'string' property 'Person.name'.")
  }

  @Test func `an array has at most as many values as there are properties`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Dog(value: ["a", 1.0, 3])
    }
    Self.expectText(result, "Invalid array input: more values (3) than properties (2).")
  }

  @Test func `nothing is made from nil`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Dog(value: NSNull())
    }
    Self.expectText(result, "Must provide a non-nil value.")
  }

  @Test func `an unknown property has no value`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Dog()["size"]
    }
    Self.expectText(result, "Invalid property name 'size' for class 'Dog'.")
  }

  @Test func `indexes stay in bounds`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let person = Person()
      _ = person.nicknames[0]
    }
    Self.expectText(result, "Index 0 is out of bounds (must be less than 0).")
  }

  @Test func `indexes are not negative`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      Person().nicknames.remove(at: -1)
    }
    Self.expectText(result, "Cannot pass a negative value for 'index'.")
  }

  @Test func `results have bounds`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = try memoryRealm().objects(Dog.self)[0]
    }
    Self.expectText(result, "Index 0 is out of bounds (must be less than 0).")
  }

  @Test func `index sets have bounds`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = try memoryRealm().objects(Dog.self).objects(at: IndexSet(integer: 2))
    }
    Self.expectText(result, "Indexes for collection are out of bounds.")
  }

  @Test func `no more is removed than there is`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      Person().nicknames.removeLast(2)
    }
    Self.expectText(
      result,
      "It is not possible to remove more objects (2) from a list than it already contains (0).")
  }

  @Test func `unmanaged lists are not queried`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Person().dogs.filter("weight > 1")
    }
    Self.expectText(
      result, "This method may only be called on RLMArray instances retrieved from an RLMRealm")
  }

  @Test func `lists of values are not queried`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let person = Person()
      try realm.write { realm.add(person) }
      _ = person.nicknames.filter("self == 'x'")
    }
    Self.expectText(result, "Querying is currently only implemented for arrays of Realm Objects")
  }

  @Test func `a class outside of the Realm is refused`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = try memoryRealm([Everything.self]).objects(Dog.self)
    }
    Self.expectText(result, "Object type 'Dog' is not managed by the Realm. If using a custom")
  }

  @Test func `unmanaged objects are not frozen`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Dog().freeze()
    }
    Self.expectText(result, "Unmanaged objects cannot be frozen.")
  }

  @Test func `unmanaged objects are not thawed`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = Dog().thaw()
    }
    Self.expectText(result, "Unmanaged objects cannot be thawed.")
  }

  @Test func `an object of the running transaction is not frozen`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      realm.beginWrite()
      let dog = realm.create(Dog.self)
      _ = dog.freeze()
    }
    Self.expectText(
      result, "Cannot freeze an object in the same write transaction as it was created in.")
  }

  @Test func `a reference is resolved once`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let dog = Dog()
      try realm.write { realm.add(dog) }
      let reference = ThreadSafeReference(to: dog)
      _ = realm.resolve(reference)
      _ = realm.resolve(reference)
    }
    Self.expectText(result, "Can only resolve a thread safe reference once.")
  }

  @Test func `unmanaged objects need no reference`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = ThreadSafeReference(to: Dog())
    }
    Self.expectText(
      result,
      "Cannot construct reference to unmanaged object, which can be passed across threads directly")
  }

  @Test func `a deleted object has no reference`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      let dog = Dog()
      try realm.write { realm.add(dog) }
      try realm.write { realm.delete(dog) }
      _ = ThreadSafeReference(to: dog)
    }
    Self.expectText(result, "Cannot construct reference to invalidated object")
  }

  @Test func `a reference stays with its database`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let first = try memoryRealm()
      let second = try memoryRealm()
      let dog = Dog()
      try first.write { first.add(dog) }
      _ = second.resolve(ThreadSafeReference(to: dog))
    }
    Self.expectText(result, "Cannot resolve a thread safe reference in the Realm at path")
  }

  @Test func `an encryption key has 64 bytes`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      var configuration = Realm.Configuration()
      configuration.encryptionKey = Data([1])
      _ = try Realm(configuration: configuration)
    }
    Self.expectText(result, "Encryption key must be exactly 64 bytes long")
  }

  @Test func `memory is not encrypted`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      var configuration = Realm.Configuration(inMemoryIdentifier: "x")
      configuration.encryptionKey = Data(count: 64)
      _ = try Realm(configuration: configuration)
    }
    Self.expectText(result, "Encryption is not supported for in-memory realms")
  }

  @Test func `a configuration says where`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = try Realm(configuration: Realm.Configuration(fileURL: nil))
    }
    Self.expectText(result, "A Realm Configuration must specify a path or an in-memory identifier.")
  }

  @Test func `an identifier is not empty`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: ""))
    }
    Self.expectText(result, "In-memory identifier must not be empty")
  }

  @Test func `what is only read is not deleted`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      _ = try Realm(
        configuration: Realm.Configuration(readOnly: true, deleteRealmIfMigrationNeeded: true))
    }
    Self.expectText(result, "Cannot set `deleteRealmIfMigrationNeeded` when `readOnly` is set.")
  }

  @Test func `one context agrees on its options`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      var configuration = Realm.Configuration(
        inMemoryIdentifier: "x", objectTypes: [Person.self, Dog.self])
      let realm = try Realm(configuration: configuration)
      configuration.schemaVersion = 2
      _ = try Realm(configuration: configuration)
      withExtendedLifetime(realm) {}
    }
    Self.expectText(result, "Realm at path 'x' already opened with different schema version")
  }

  @Test func `linking objects are not assigned`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try memoryRealm()
      try realm.write {
        let dog = realm.create(Dog.self)
        dog.owners = LinkingObjects(fromType: Person.self, property: "dogs")
      }
    }
    Self.expectText(result, "LinkingObjects properties are read-only")
  }

  @Test func `a stored value that no case has stops`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let name = UUID().uuidString
      let first = try memoryRealm([Paint.self], name)
      try first.write { _ = first.create(Paint.self, value: ["color": "mauve"]) }
      let second = try memoryRealm([Faded.self], name)
      let faded = try #require(second.objects(Faded.self).first)
      _ = faded.color
    }
    Self.expectText(
      result,
      "Failed to convert persisted value 'mauve' to type 'Color' in a non-optional context")
  }
}

/// Runs `body` on a thread of its own and waits for it.
func runOnNewThread(_ body: @escaping () -> Void) {
  let done = DispatchSemaphore(value: 0)
  // The thread ends before this returns.
  nonisolated(unsafe) let body = body
  Thread {
    body()
    done.signal()
  }.start()
  done.wait()
}

final class Paint: Object {
  @Persisted var color = ""
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class Faded: Object {
  @Persisted var color: Color
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
  override class func _realmObjectName() -> String? { "Paint" }
}
