import Cambium
import TestSupport

// Misuse of sets.
extension SpecTrap {
  private static func filled() throws -> (Realm, SpecSets) {
    let realm = try specRealm([SpecSets.self, SpecSetMember.self])
    let sets = SpecSets(value: ["ints": [1, 2]])
    try realm.write { realm.add(sets) }
    return (realm, sets)
  }

  static let sets: [SpecTrap] = [
    SpecTrap("inserting outside of a transaction", "Cannot modify Set outside of a write transact")
    { try filled().1.ints.insert(3) },
    SpecTrap("removing what is not there outside", "Cannot modify Set outside of a write transact")
    { try filled().1.ints.remove(9) },
    SpecTrap("changing a frozen set", "Attempting to modify a frozen object") {
      try filled().1.ints.freeze().insert(3)
    },
    SpecTrap(
      "a set whose owner was deleted",
      "Set is no longer valid. Either the parent object was deleted or the containing Realm"
    ) {
      let (realm, sets) = try filled()
      let ints = sets.ints
      try realm.write { realm.delete(sets) }
      _ = ints.count
    },
    SpecTrap("uniting with an unmanaged set", "Right hand side value must be a managed Set.") {
      let (realm, sets) = try filled()
      realm.beginWrite()
      sets.ints.formUnion(MutableSet<Int>())
    },
    SpecTrap("comparing with an unmanaged set", "Right hand side value must be a managed Set.") {
      _ = try filled().1.ints.isSubset(of: MutableSet<Int>())
    },
    SpecTrap("a place in a set", "index(of:) is not available on MutableSet") {
      _ = try filled().1.ints.index(of: 1)
    },
    SpecTrap("a set's index out of bounds", "Index 2 is out of bounds (must be less than 2).") {
      _ = try filled().1.ints[2]
    },
    SpecTrap("sorting an unmanaged set", "This method may only be called on RLMSet instances") {
      _ = MutableSet<Int>().sorted()
    },
    SpecTrap("a set that observes without a Realm", "only supported on managed collections.") {
      _ = MutableSet<Int>().observe { _ in }
    },
    SpecTrap("a set that is named as a list", "Property 'members' is not a list of objects.") {
      _ = try filled().1.dynamicList("members")
    },
    SpecTrap("a list without a Realm by name", "Property 'dogs' belongs to an unmanaged object.") {
      _ = SpecPerson(1, "Ann").dynamicList("dogs")
    },
    SpecTrap("an operator that is none", "Unsupported KVC collection operator found in key path '@")
    {
      _ = List<Int>().value(forKeyPath: "@median.self")
    },
    SpecTrap("an operator without a path", "Missing key path for KVC collection operator 'sum'") {
      _ = List<Int>().value(forKeyPath: "@sum")
    },
    SpecTrap("a path through a value", "The property at 'name' leads to no object.") {
      try ann().1.setValue(1, forKeyPath: "name.length")
    },
    SpecTrap("a stored value of which none can be made", "Failed to convert persisted value '3' to")
    {
      let realm = try specRealm([SpecCustom.self])
      _ = try realm.write { realm.create(SpecCustom.self, value: ["even": 3]) }.even
    },
    SpecTrap("an element of which none can be made", "value '3' to type 'SpecEven' in a non-optio")
    {
      let realm = try specRealm([SpecCustom.self])
      try realm.write {
        let stored = realm.dynamicCreate("SpecCustom", value: ["id": "x"])
        (stored["evens"] as? List<Int>)?.append(objectsIn: [2, 3])
      }
      let objects = realm.objects(SpecCustom.self)
      _ = objects[0].evens[1]
    },
    SpecTrap("a default of which none can be made", "Failed to default construct a SpecNonEmpty") {
      _ = SpecNonEmpty._rlmDefaultPersistedValue()
    },
    SpecTrap("a wrong value for a set", "Invalid value '[\"x\"]' of type 'Array<String>' for") {
      _ = SpecSets(value: ["ints": ["x"]])
    },
    SpecTrap("a deleted object in a set", "Adding a deleted or invalidated object to a Realm") {
      let (realm, sets) = try filled()
      let member = SpecSetMember(value: ["name": "a"])
      realm.beginWrite()
      realm.add(member)
      realm.delete(member)
      sets.members.insert(member)
    },
  ]
}
