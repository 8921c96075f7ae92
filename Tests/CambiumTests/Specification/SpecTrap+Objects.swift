import Cambium
import Dispatch
import Foundation
import TestSupport

// Misuse of objects and collections.
extension SpecTrap {
  static let objects: [SpecTrap] = [
    SpecTrap("reading a deleted object", "Object has been deleted or invalidated.") {
      let (realm, person) = try ann()
      try realm.write { realm.delete(person) }
      _ = person.name
    },
    SpecTrap("deleting the objects of a list without a Realm", "Can only delete an object from the")
    {
      let person = SpecPerson(1, "Ann")
      person.dogs.append(SpecDog())
      let realm = try specRealm()
      try realm.write { realm.delete(person.dogs) }
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
    SpecTrap("reading a small integer that is too large", "convert value '300' to type 'Int8'") {
      let realm = try specRealm()
      let values = try realm.write { realm.create(SpecValues.self, value: ["int8": 300]) }
      _ = values.int8
    },
    SpecTrap("reading one of an unmanaged object", "Could not convert value '300' to type 'Int8'") {
      _ = SpecValues(value: ["int8O": 300]).int8O
    },
    SpecTrap("reading a raw value without a case", "value 'mauve' to type 'SpecColor' in a non-opt")
    {
      let realm = try specRealm()
      let values = try realm.write { realm.create(SpecValues.self, value: ["color": "mauve"]) }
      _ = values.color
    },
    SpecTrap("reading one of an unmanaged enum", "value '6' to type 'SpecLevel' in a non-optional")
    {
      _ = SpecValues(value: ["level": 6]).level
    },
    SpecTrap("a list of small integers", "Invalid value '[\"mauve\"]' of type 'Array<String>' for")
    {
      _ = SpecValues(value: ["colors": ["mauve"]])
    },
    SpecTrap("a truth value for a double", "Invalid value 'true' of type 'Bool' for 'double' prop")
    {
      _ = SpecValues(value: ["double": true])
    },
    SpecTrap(
      "a truth value for a float", "Invalid value 'true' of type 'Bool' for 'float?' property"
    ) {
      SpecValues()["floatO"] = true
    },
    SpecTrap("a boxed truth value for a double", "for 'double' property 'SpecValues.double'.") {
      SpecValues().setValue(NSNumber(value: true), forKey: "double")
    },
    SpecTrap("a boxed fraction for an integer", "Invalid value '5.0' of type 'Double' for 'int'") {
      SpecValues().setValue(NSNumber(value: 5.0), forKey: "int")
    },
    SpecTrap("a case of another enumeration", "Invalid value 'calm' of type 'MigratedMood' for") {
      _ = SpecValues(value: ["color": MigratedMood.calm])
    },
    SpecTrap("a case of another one with numbers", "Invalid value 'five' of type 'SpecOtherLevel'")
    {
      SpecValues()["level"] = SpecOtherLevel.five
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
    SpecTrap("no value for an unmanaged object", "Must provide a non-nil value.") {
      _ = SpecDog(value: NSNull())
    },
    SpecTrap("another class that lacks a property", "missing key 'name'") {
      _ = SpecDog(value: SpecTextKey())
    },
    SpecTrap("an unknown property", "Invalid property name 'nope' for class 'SpecDog'.") {
      _ = SpecDog()["nope"]
    },
    SpecTrap(
      "a class that is not listed",
      "Object type 'SpecDogLike' is not managed by the Realm. If using a custom"
    ) { _ = try specRealm([SpecTextKey.self]).objects(SpecDogLike.self) },
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
    SpecTrap(
      "an unknown raw text",
      "Failed to convert persisted value 'mauve' to type 'Color' in a non-optional context"
    ) {
      let name = UUID().uuidString
      let writer = try testRealm([Paint.self], name)
      try writer.write { _ = writer.create(Paint.self, value: ["color": "mauve"]) }
      // Without the writer the memory would go.
      try withExtendedLifetime(writer) {
        _ = try testRealm([Faded.self], name).objects(Faded.self).first?.color
      }
    },
    SpecTrap("assigning linking objects", "LinkingObjects properties are read-only") {
      let (realm, person) = try ann()
      realm.beginWrite()
      person.dogs[0].owners = LinkingObjects(fromType: SpecPerson.self, property: "dogs")
    },
    SpecTrap("assigning linking objects by name", "property 'SpecDog.owners'.") {
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
    SpecTrap("removing at a negative index", "Cannot pass a negative value for 'index'.") {
      List<Int>().remove(at: -1)
    },
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
    SpecTrap("a results index too high", "Index 1 is out of bounds (must be less than 1).") {
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
    SpecTrap("a condition on an unmanaged list", "'nope' not found in object of type 'SpecDog'") {
      _ = List<SpecDog>().index(matching: "nope == 1")
    },
    SpecTrap("a condition on unmanaged values", "'length' not found in object of type 'String'") {
      _ = List<String>().index(matching: "length == 1")
    },
    SpecTrap(
      "a condition on unmanaged dynamic objects",
      "An unmanaged list of dynamic objects has no class to be queried by."
    ) { _ = List<DynamicObject>().index(matching: "name == 1") },
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
}
