import Cambium
import Dispatch
import Foundation
import TestSupport
import Testing

/// Section B26: each misuse stops the process with the documented text.
@Suite struct B26TrapTests {
  @Test(arguments: SpecTrap.all)
  func `misuse stops with its documented text`(trap: SpecTrap) async throws {
    let name = trap.name
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [name = name as String] in
      try SpecTrap.all.first { $0.name == name }?.body()
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains(trap.message), "\(text.prefix(600))")
  }
}

struct SpecTrap: Sendable, CustomTestStringConvertible {
  let name: String
  let message: String
  let body: @Sendable () throws -> Void

  init(_ name: String, _ message: String, _ body: @escaping @Sendable () throws -> Void) {
    self.name = name
    self.message = message
    self.body = body
  }

  var testDescription: String { name }

  static let all = confinement + transactions + objects + collections + queries + declarations
}

extension SpecTrap {
  private static let wrongThread = "Realm accessed from incorrect thread."

  /// Runs `body` on another thread with something that belongs to this one.
  private static func elsewhere<Value>(_ value: Value, _ body: @escaping (Value) throws -> Void)
    throws
  {
    let smuggled = Smuggled(value: (value, body))
    try onAnotherThread { try smuggled.value.1(smuggled.value.0) }
  }

  private static func ann() throws -> (Realm, SpecPerson) {
    let realm = try specRealm()
    let person = SpecPerson(1, "Ann")
    person.dogs.append(SpecDog())
    person.nicknames.append("A")
    try realm.write { realm.add(person) }
    return (realm, person)
  }

  static let confinement: [SpecTrap] = [
    SpecTrap("reading a property elsewhere", wrongThread) {
      try elsewhere(try ann().1) { _ = $0.name }
    },
    SpecTrap("writing a property elsewhere", wrongThread) {
      let (realm, person) = try ann()
      realm.beginWrite()
      try elsewhere(person) { $0.name = "x" }
    },
    SpecTrap("counting a list elsewhere", wrongThread) {
      try elsewhere(try ann().1.dogs) { _ = $0.count }
    },
    SpecTrap("counting results elsewhere", wrongThread) {
      try elsewhere(try ann().0.objects(SpecDog.self)) { _ = $0.count }
    },
    SpecTrap("counting linking objects elsewhere", wrongThread) {
      try elsewhere(try ann().1.dogs[0].owners) { _ = $0.count }
    },
    SpecTrap("objects elsewhere", wrongThread) {
      try elsewhere(try ann().0) { _ = $0.objects(SpecDog.self) }
    },
    SpecTrap("a lookup elsewhere", wrongThread) {
      try elsewhere(try ann().0) { _ = $0.object(ofType: SpecPerson.self, forPrimaryKey: 1) }
    },
    SpecTrap("a transaction elsewhere", wrongThread) {
      try elsewhere(try ann().0) { try $0.write {} }
    },
    SpecTrap("refresh elsewhere", wrongThread) { try elsewhere(try ann().0) { $0.refresh() } },
    SpecTrap("invalidate elsewhere", wrongThread) {
      try elsewhere(try ann().0) { $0.invalidate() }
    },
    SpecTrap("freeze elsewhere", wrongThread) { try elsewhere(try ann().1) { _ = $0.freeze() } },
    SpecTrap("a reference made elsewhere", wrongThread) {
      try elsewhere(try ann().1) { _ = ThreadSafeReference(to: $0) }
    },
    SpecTrap("printing elsewhere", wrongThread) { try elsewhere(try ann().1) { _ = "\($0)" } },
    SpecTrap("an object of a thread that has ended", wrongThread) {
      let configuration = specConfiguration()
      let keeper = try Realm(configuration: configuration)
      let dog = try onAnotherThread {
        Smuggled(value: try Realm(configuration: configuration).addDogs("Ben")[0])
      }
      for _ in 0..<50 { try onAnotherThread { _ = dog.value.isFrozen } }
      keeper.refresh()
      try onAnotherThread { _ = dog.value.name }
    },
    SpecTrap("opening for another queue", "Realm opened from incorrect dispatch queue.") {
      _ = try Realm(
        configuration: specConfiguration(), queue: DispatchQueue(label: "somewhere else"))
    },
    SpecTrap("opening for a global queue", "Realms can only be confined to serial queues") {
      _ = try Realm(configuration: specConfiguration(), queue: .global())
    },
    SpecTrap("a queue's Realm off the queue", wrongThread) {
      let queue = DispatchQueue(label: "spec")
      let realm = try queue.sync {
        Smuggled(value: try Realm(configuration: specConfiguration(), queue: queue))
      }
      try onAnotherThread { _ = realm.value.isEmpty }
    },
    SpecTrap("resolving twice", "Can only resolve a thread safe reference once.") {
      let (realm, person) = try ann()
      let reference = ThreadSafeReference(to: person)
      _ = realm.resolve(reference)
      _ = realm.resolve(reference)
    },
    SpecTrap("a reference to an unmanaged object", "Cannot construct reference to unmanaged object")
    { _ = ThreadSafeReference(to: SpecDog()) },
    SpecTrap("a reference to a deleted object", "Cannot construct reference to invalidated object")
    {
      let (realm, person) = try ann()
      try realm.write { realm.delete(person) }
      _ = ThreadSafeReference(to: person)
    },
    SpecTrap("resolving in another database", "resolve") {
      let reference = ThreadSafeReference(to: try ann().1)
      _ = try specRealm().resolve(reference)
    },
    SpecTrap("freezing an unmanaged object", "Unmanaged objects cannot be frozen.") {
      _ = SpecDog().freeze()
    },
    SpecTrap("thawing an unmanaged object", "Unmanaged objects cannot be thawed.") {
      _ = SpecDog().thaw()
    },
    SpecTrap("freezing a deleted object", "Object has been deleted or invalidated.") {
      let (realm, person) = try ann()
      try realm.write { realm.delete(person) }
      _ = person.freeze()
    },
    SpecTrap(
      "freezing what is new", "Cannot freeze an object in the same write transaction as it was"
    ) {
      let realm = try specRealm()
      realm.beginWrite()
      _ = realm.create(SpecDog.self).freeze()
    },
    SpecTrap(
      "freezing an unmanaged list",
      "This method may only be called on RLMArray instances retrieved from an RLMRealm"
    ) { _ = List<Int>().freeze() },
    SpecTrap(
      "reading an invalidated frozen Realm",
      "Cannot read from a frozen Realm which has been invalidated."
    ) {
      let frozen = try ann().0.freeze()
      frozen.invalidate()
      _ = frozen.objects(SpecDog.self).count
    },
  ]

  static let transactions: [SpecTrap] = [
    SpecTrap("nesting", "The Realm is already in a write transaction") {
      let realm = try specRealm()
      realm.beginWrite()
      realm.beginWrite()
    },
    SpecTrap("nesting write", "The Realm is already in a write transaction") {
      let realm = try specRealm()
      try realm.write { try realm.write {} }
    },
    SpecTrap("commit outside", "Can't commit a non-existing write transaction") {
      try specRealm().commitWrite()
    },
    SpecTrap("cancel outside", "Can't cancel a non-existing write transaction") {
      try specRealm().cancelWrite()
    },
    SpecTrap("writing a frozen Realm", "Can't perform transactions on a frozen Realm") {
      try specRealm().freeze().write {}
    },
    SpecTrap("writing a Realm that is only read", "Can't perform transactions on read-only Realms.")
    { try readOnly().write {} },
    SpecTrap("refreshing a Realm that is only read", "Read-only Realms do not change") {
      try readOnly().refresh()
    },
    SpecTrap("autorefresh of a frozen Realm", "Auto-refresh cannot be enabled for frozen Realms.") {
      try specRealm().freeze().autorefresh = true
    },
    SpecTrap("assigning outside", "Attempting to modify object outside of a write transaction") {
      try ann().1.name = "x"
    },
    SpecTrap("assigning by name outside", "outside of a write transaction") {
      try ann().1["name"] = "x"
    },
    SpecTrap("adding outside", "Can only add, remove, or create objects in a Realm in a write") {
      try specRealm().add(SpecDog())
    },
    SpecTrap("creating outside", "Can only add, remove, or create objects in a Realm in a write") {
      try specRealm().create(SpecDog.self)
    },
    SpecTrap("deleting outside", "Can only add, remove, or create objects in a Realm in a write") {
      let (realm, person) = try ann()
      realm.delete(person)
    },
    SpecTrap(
      "deleting everything outside", "Can only add, remove, or create objects in a Realm in a write"
    ) { try specRealm().deleteAll() },
    SpecTrap("appending outside", "Cannot modify List outside of a write transaction.") {
      try ann().1.nicknames.append("x")
    },
    SpecTrap("setting a key outside", "outside of a write transaction") {
      try ann().0.objects(SpecDog.self).setValue(3, forKey: "age")
    },
    SpecTrap("modifying a frozen object", "Attempting to modify a frozen object - call thaw") {
      let (realm, person) = try ann()
      let frozen = person.freeze()
      realm.beginWrite()
      frozen.name = "x"
    },
    SpecTrap("modifying a frozen list", "Attempting to modify a frozen object - call thaw") {
      let (realm, person) = try ann()
      let frozen = person.nicknames.freeze()
      realm.beginWrite()
      frozen.append("x")
    },
    SpecTrap(
      "the same thread with another version", "already opened with different schema version"
    ) {
      var configuration = specConfiguration()
      let realm = try Realm(configuration: configuration)
      configuration.schemaVersion = 1
      _ = try Realm(configuration: configuration)
      _ = realm.isEmpty
    },
    SpecTrap("a short key", "Encryption key must be exactly 64 bytes long") {
      _ = try Realm(
        configuration: Realm.Configuration(
          fileURL: URL(fileURLWithPath: "/tmp/x.realm"), encryptionKey: Data(count: 3)))
    },
    SpecTrap("an encrypted Realm in memory", "Encryption is not supported for in-memory realms") {
      _ = try Realm(
        configuration: Realm.Configuration(
          inMemoryIdentifier: "x", encryptionKey: Data(count: 64)))
    },
    SpecTrap("an empty identifier", "In-memory identifier must not be empty") {
      _ = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: ""))
    },
    SpecTrap("neither path nor identifier", "must specify a path or an in-memory identifier.") {
      _ = try Realm(configuration: Realm.Configuration(fileURL: nil))
    },
    SpecTrap("resetting what is only read", "Cannot set `deleteRealmIfMigrationNeeded` when") {
      _ = try Realm(
        configuration: Realm.Configuration(
          fileURL: URL(fileURLWithPath: "/tmp/x.realm"), readOnly: true,
          deleteRealmIfMigrationNeeded: true))
    },
  ]

  private static func readOnly() throws -> Realm {
    let folder = try TemporaryFolder()
    var configuration = specFile(folder)
    do { _ = try Realm(configuration: configuration) }
    configuration.readOnly = true
    let realm = try Realm(configuration: configuration)
    return realm
  }

  static let objects: [SpecTrap] = [
    SpecTrap("reading a deleted object", "Object has been deleted or invalidated.") {
      let (realm, person) = try ann()
      try realm.write { realm.delete(person) }
      _ = person.name
    },
    SpecTrap("reading another accessor of a deleted object", "has been deleted or invalidated.") {
      let (realm, person) = try ann()
      let twin = realm.objects(SpecPerson.self).first
      try realm.write { realm.delete(person) }
      _ = twin?.name
    },
    SpecTrap("reading after invalidation", "has been deleted or invalidated.") {
      let (realm, person) = try ann()
      realm.invalidate()
      _ = realm.isEmpty
      _ = person.name
    },
    SpecTrap("adding a deleted object", "Adding a deleted or invalidated object to a Realm") {
      let (realm, person) = try ann()
      realm.beginWrite()
      realm.delete(person)
      realm.add(person)
    },
    SpecTrap("linking a deleted object", "deleted or invalidated") {
      let (realm, person) = try ann()
      realm.beginWrite()
      let dog = person.dogs[0]
      realm.delete(dog)
      person.favorite = dog
    },
    SpecTrap("deleting twice", "delete") {
      let (realm, person) = try ann()
      realm.beginWrite()
      realm.delete(person)
      realm.delete(person)
    },
    SpecTrap("adding to another Realm", "Object is already managed by another Realm. Use create") {
      let realm = try specRealm()
      realm.beginWrite()
      realm.add(try ann().1)
    },
    SpecTrap("linking from another Realm", "Object is already managed by another Realm.") {
      let (realm, person) = try ann()
      realm.beginWrite()
      person.favorite = try ann().1.dogs[0]
    },
    SpecTrap("appending a frozen object", "Object is already managed by another Realm.") {
      let (realm, person) = try ann()
      let frozen = person.dogs[0].freeze()
      realm.beginWrite()
      person.dogs.append(frozen)
    },
    SpecTrap("deleting from another Realm", "Can only delete an object from the Realm it belongs") {
      let realm = try specRealm()
      realm.beginWrite()
      realm.delete(try ann().1)
    },
    SpecTrap("deleting an unmanaged object", "Can only delete an object from the Realm it belongs")
    {
      let realm = try specRealm()
      realm.beginWrite()
      realm.delete(SpecDog())
    },
    SpecTrap("a taken key", "an object of type 'SpecPerson' with an existing primary key value '1'")
    {
      let (realm, _) = try ann()
      realm.beginWrite()
      realm.add(SpecPerson(1, "x"))
    },
    SpecTrap("a key taken in this transaction", "with an existing primary key value '2'.") {
      let (realm, _) = try ann()
      realm.beginWrite()
      realm.create(SpecPerson.self, value: ["id": 2])
      realm.create(SpecPerson.self, value: ["id": 2])
    },
    SpecTrap("a key taken through a link", "with an existing primary key value '1'.") {
      let (realm, person) = try ann()
      realm.beginWrite()
      person.friend = SpecPerson(1, "x")
    },
    SpecTrap("changing a key", "Primary key can't be changed after an object is inserted.") {
      let (realm, person) = try ann()
      realm.beginWrite()
      person.id = 3
    },
    SpecTrap("changing a key by name", "Primary key can't be changed to '3' after an object is") {
      let (realm, person) = try ann()
      realm.beginWrite()
      person["id"] = 3
    },
    SpecTrap("updating without a key", "'SpecDog' does not have a primary key and can not be") {
      let realm = try specRealm()
      realm.beginWrite()
      realm.create(SpecDog.self, value: [String: Any](), update: .modified)
    },
    SpecTrap("looking up without a key", "'SpecDog' does not have a primary key defined") {
      _ = try specRealm().object(ofType: SpecDog.self, forPrimaryKey: 1)
    },
    SpecTrap("looking up a wrong type", "Invalid value") {
      _ = try specRealm().object(ofType: SpecPerson.self, forPrimaryKey: "one")
    },
    SpecTrap(
      "a wrong type", "Invalid value 'x' of type 'String' for 'int' property 'SpecDog.age'."
    ) { _ = SpecDog(value: ["age": "x"]) },
    SpecTrap("null for a required property", "Invalid value") {
      _ = SpecDog(value: ["age": NSNull()])
    },
    SpecTrap("text for an object id", "property 'SpecValues.objectId'.") {
      _ = SpecValues(value: ["objectId": "0123456789abcdef01234567"])
    },
    SpecTrap("a double for a float that does not fit", "property 'SpecValues.float'.") {
      _ = SpecValues(value: ["float": 1e300])
    },
    SpecTrap(
      "too many values", "Invalid array input: more values (4) than properties (3)."
    ) { _ = SpecDog(value: ["a", 1, 2.0, 4] as [Any]) },
    SpecTrap("no value", "Must provide a non-nil value.") {
      let realm = try specRealm()
      realm.beginWrite()
      realm.create(SpecDog.self, value: NSNull())
    },
    SpecTrap("another class that lacks a property", "missing key 'name'") {
      _ = SpecDog(value: SpecTextKey())
    },
    SpecTrap("an unknown property", "Invalid property name 'nope' for class 'SpecDog'.") {
      _ = SpecDog()["nope"]
    },
    SpecTrap("a class that is not listed", "Object type 'SpecDogLike' is not managed by the Realm.")
    { _ = try specRealm([SpecTextKey.self]).objects(SpecDogLike.self) },
    SpecTrap("creating a class that is not listed", "is not managed by the Realm.") {
      let realm = try specRealm([SpecTextKey.self])
      realm.beginWrite()
      realm.create(SpecDogLike.self)
    },
    SpecTrap("an unknown raw value", "Failed to convert persisted value '77' to type 'SpecLevel'") {
      let realm = try SpecStoredRaw.unknown(in: TemporaryFolder())
      _ = realm.objects(SpecTypedRaw.SpecRaw.self).first?.level
    },
    SpecTrap("an integer that does not fit", "Could not convert value '300' to type 'Int8'.") {
      let realm = try SpecStoredRaw.unknown(in: TemporaryFolder())
      _ = realm.objects(SpecTypedRaw.SpecRaw.self).first?.small
    },
    SpecTrap("assigning linking objects", "property 'SpecDog.owners'.") {
      let (realm, person) = try ann()
      realm.beginWrite()
      person.dogs[0]["owners"] = [person]
    },
  ]

  static let collections: [SpecTrap] = [
    SpecTrap("a list index too high", "Index 1 is out of bounds (must be less than 1).") {
      _ = try ann().1.dogs[1]
    },
    SpecTrap("a negative list index", "Cannot pass a negative value for 'index'.") {
      _ = try ann().1.dogs[-1]
    },
    SpecTrap("an unmanaged list index", "Index 0 is out of bounds (must be less than 0).") {
      _ = List<Int>()[0]
    },
    SpecTrap("inserting too far", "Index 2 is out of bounds (must be less than 2).") {
      let (realm, person) = try ann()
      realm.beginWrite()
      person.nicknames.insert("x", at: 2)
    },
    SpecTrap("swapping too far", "Index 5 is out of bounds") {
      let (realm, person) = try ann()
      realm.beginWrite()
      person.nicknames.swapAt(0, 5)
    },
    SpecTrap("swapping a negative index", "Cannot pass a negative value for 'index1'.") {
      let list = List<Int>()
      list.swapAt(-1, 0)
    },
    SpecTrap("moving too far", "Index 1 is out of bounds") {
      let (realm, person) = try ann()
      realm.beginWrite()
      person.nicknames.move(from: 0, to: 1)
    },
    SpecTrap(
      "removing more than there is",
      "It is not possible to remove more objects (3) from a list than it already contains (1)."
    ) {
      let (realm, person) = try ann()
      realm.beginWrite()
      person.nicknames.removeFirst(3)
    },
    SpecTrap(
      "removing the last of nothing",
      "It is not possible to remove more objects (1) from a list than it already contains (0)."
    ) { List<Int>().removeLast() },
    SpecTrap("removing at an index too high", "Index 4 is out of bounds") {
      let (realm, person) = try ann()
      realm.beginWrite()
      person.nicknames.remove(at: 4)
    },
    SpecTrap(
      "a list whose owner was deleted",
      "List is no longer valid. Either the parent object was deleted or the containing Realm"
    ) {
      let (realm, person) = try ann()
      let list = person.dogs
      try realm.write { realm.delete(person) }
      _ = list.count
    },
    SpecTrap("a results index too high", "out of bounds") {
      _ = try ann().0.objects(SpecDog.self)[1]
    },
    SpecTrap("indexes out of bounds", "Indexes for collection are out of bounds.") {
      _ = try ann().0.objects(SpecDog.self).objects(at: IndexSet([0, 3]))
    },
    SpecTrap("the index of a deleted object", "Object has been deleted or invalidated.") {
      let (realm, person) = try ann()
      let dog = person.dogs[0]
      try realm.write { realm.delete(dog) }
      _ = realm.objects(SpecDog.self).index(of: dog)
    },
    SpecTrap("the index of a foreign object", "Object must be from the Realm") {
      let (realm, _) = try ann()
      _ = realm.objects(SpecDog.self).index(of: try ann().1.dogs[0])
    },
    SpecTrap("filtering an unmanaged list", "This method may only be called on RLMArray instances")
    { _ = List<SpecDog>().filter("age == 1") },
    SpecTrap("sorting an unmanaged list", "This method may only be called on RLMArray instances") {
      _ = List<Int>().sorted()
    },
    SpecTrap("filtering scalars", "Querying is currently only implemented for arrays of Realm") {
      _ = try ann().1.nicknames.filter("self == 'A'")
    },
    SpecTrap("sorting scalars by a path", "can only be sorted on 'self'") {
      _ = try ann().1.nicknames.sorted(by: [SortDescriptor(keyPath: "x")])
    },
    SpecTrap("aggregating an unknown property", "Invalid property name 'x' for class 'SpecDog'.") {
      let _: Int? = try ann().0.objects(SpecDog.self).max(ofProperty: "x")
    },
    SpecTrap("aggregating text", "Operation 'max' not supported for") {
      let _: Int? = try ann().0.objects(SpecDog.self).max(ofProperty: "name")
    },
    SpecTrap("aggregating a path", "Invalid property name 'favorite.age' for class 'SpecPerson'.") {
      let _: Int? = try ann().0.objects(SpecPerson.self).max(ofProperty: "favorite.age")
    },
    SpecTrap("aggregating scalars by a path", "can only be aggregated on \"self\"") {
      let realm = try specRealm()
      let object = SpecValues()
      try realm.write { realm.add(object) }
      let _: Int? = object.ints.max(ofProperty: "x")
    },
  ]

  private static func refused(
    _ format: String, _ message: String, _ arguments: (any Sendable)...
  ) -> SpecTrap {
    SpecTrap(format, message) {
      let realm = try specRealm()
      let people = realm.objects(SpecPerson.self)
      switch arguments.count {
      case 0: _ = people.filter(format).count
      default: _ = people.filter(format, arguments[0]).count
      }
    }
  }

  private static func unsortable(_ path: String, _ message: String) -> SpecTrap {
    SpecTrap("sorting by \(path)", "Cannot sort on key path '\(path)': " + message) {
      _ = try specRealm().objects(SpecPerson.self).sorted(byKeyPath: path).count
    }
  }

  static let queries: [SpecTrap] = [
    refused("nope == 1", "Property 'nope' not found in object of type 'SpecPerson'"),
    refused("name.x == 1", "is not a link or collection and can only appear at the end"),
    refused("favorite. == 1", "no key name after last '.'"),
    refused("dogs.name == 'x'", "Key paths that include a collection property must use aggregate"),
    refused("ANY name == 'x'", "can only be used on key paths that include an collection property"),
    refused("name > 5", "Cannot compare value '5' of type 'int' to property 'name' of type"),
    refused("id == 'x'", "Cannot compare value 'x' of type"),
    refused("id == %@", "Cannot compare value", 1.0),
    refused("favorite > nil", "Operator '>' not supported for type"),
    refused("id CONTAINS 'x'", "Operator 'CONTAINS' not supported for type 'int'"),
    refused("'x' CONTAINS name", "Operator 'CONTAINS' requires a keypath on the left side."),
    refused("name <[c] 'x'", "Lexicographical comparisons must be case-sensitive"),
    refused(
      "name LIKE[d] 'x'", "Operator 'LIKE' not supported with diacritic-insensitive modifier."),
    refused("ALL dogs.age > 1", "ALL modifier not supported"),
    refused("id BETWEEN %@", "must contain exactly two objects for BETWEEN operations", [1, 2, 3]),
    refused("id IN %@", "IN clause requires an array of items", 5),
    refused("dogs.@count == 'x'", "@count can only be compared with a numeric value."),
    refused("SUBQUERY(dogs, $d, $d.age > 1).@min == 1", "SUBQUERY is only supported when"),
    refused("id == name", "Property type mismatch between int and string"),
    refused("name MATCHES 'x'", "'MATCHES' not supported"),
    refused("1 == 1", "must compare a keypath and another keypath or a constant"),
    refused("id ==", "Unable to parse the format string"),
    SpecTrap("a foreign object in a query", "Object must be from the Realm being queried") {
      let dog = try ann().1.dogs[0]
      _ = try specRealm().objects(SpecPerson.self).where { $0.favorite == dog }.count
    },
    SpecTrap("ordering identifiers", "Operator '>' not supported for type 'uuid'") {
      _ = try specRealm().objects(SpecValues.self).filter("uuid > %@", UUID()).count
    },
    SpecTrap("a Bool that is 2", "Cannot compare value '2' of type") {
      _ = try specRealm().objects(SpecValues.self).filter("bool == 2").count
    },
    SpecTrap("two collections", "Comparing two collection columns is not permitted.") {
      _ = try specRealm().objects(SpecPerson.self).where { $0.dogs.age == $0.dogs.age }.count
    },
    SpecTrap("a subquery without a collection", "Subqueries must contain a keypath starting with") {
      _ = try specRealm().objects(SpecPerson.self).where { ($0.name == "x").count > 1 }.count
    },
    unsortable("nope", "property 'SpecPerson.nope' does not exist."),
    unsortable("nicknames", "property 'SpecPerson.nicknames' is of unsupported type"),
    unsortable("favorite", "property 'SpecPerson.favorite' of type 'object' cannot be the final"),
    unsortable("name.x", "property 'SpecPerson.name' of type 'string' may only be the final"),
    unsortable("@count", "KVC collection operators are not supported."),
    unsortable("favorite.", "missing property name."),
    SpecTrap(
      "distinct by an operator",
      "Cannot distinct on keypath '@count': KVC collection operators are not supported."
    ) { _ = try specRealm().objects(SpecPerson.self).distinct(by: ["@count"]).count },
  ]

  private static func invalid(_ type: ObjectBase.Type..., message: String) -> SpecTrap {
    SpecTrap("declaring \(type[0])", message) {
      _ = try Realm(
        configuration: Realm.Configuration(inMemoryIdentifier: "x", objectTypes: type))
    }
  }

  static let declarations: [SpecTrap] = [
    invalid(SpecBadEmpty.self, message: "No properties are defined for 'SpecBadEmpty'."),
    invalid(
      SpecBadTwoKeys.self,
      message: "Properties 'a' and 'b' are both marked as the primary key of 'SpecBadTwoKeys'"),
    invalid(
      SpecBadBoolKey.self,
      message: "Property 'a' cannot be made the primary key of 'SpecBadBoolKey' because it is not a"
    ),
    invalid(
      SpecBadOrigin.self,
      message: "declared as origin of linking objects property 'SpecBadOrigin.b'"),
    invalid(SpecBadTarget.self, SpecPerson.self, message: "links to class"),
    invalid(
      SpecBadLinkless.self,
      message: "must set the origin property name with @Persisted(originProperty: \"name\")."),
  ]
}

final class SpecBadEmpty: Object {
  var transient = 1
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class SpecBadTwoKeys: Object {
  @Persisted(primaryKey: true) var a: Int
  @Persisted(primaryKey: true) var b: Int
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class SpecBadBoolKey: Object {
  @Persisted(primaryKey: true) var a: Bool
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class SpecBadOrigin: Object {
  @Persisted var a: Int
  @Persisted(originProperty: "nope") var b: LinkingObjects<SpecBadOrigin>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class SpecBadTarget: Object {
  @Persisted var dog: SpecDogLike?
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class SpecBadLinkless: Object {
  @Persisted var a: Int
  @Persisted var b: LinkingObjects<SpecBadLinkless>
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
