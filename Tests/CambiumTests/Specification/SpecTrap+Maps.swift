import Cambium
import TestSupport

// Misuse of maps.
extension SpecTrap {
  private static func filledMaps() throws -> (Realm, SpecMaps) {
    let realm = try specRealm(B14MapTests.types)
    let maps = SpecMaps(value: ["ints": ["a": 1]])
    try realm.write { realm.add(maps) }
    return (realm, maps)
  }

  private static let badKey = "Invalid key '"

  static let maps: [SpecTrap] = [
    SpecTrap("a map outside of a transaction", "Cannot modify Dictionary outside of a write trans")
    {
      try filledMaps().1.ints["b"] = 2
    },
    SpecTrap("a frozen map", "Attempting to modify a frozen object") {
      try filledMaps().1.ints.freeze().removeAll()
    },
    SpecTrap("a map whose owner was deleted", "Dictionary is no longer valid. Either the parent") {
      let (realm, maps) = try filledMaps()
      let ints = maps.ints
      try realm.write { realm.delete(maps) }
      _ = ints.count
    },
    SpecTrap("a key with a point", "\(badKey)a.b' of a Map") { Map<String, Int>()["a.b"] = 1 },
    SpecTrap("a key with a dollar", "\(badKey)$a' of a Map") {
      let (realm, maps) = try filledMaps()
      realm.beginWrite()
      maps.ints["$a"] = 1
    },
    SpecTrap("sorting an unmanaged map", "called on RLMDictionary instances retrieved") {
      _ = Map<String, Int>().sorted()
    },
    SpecTrap("observing an unmanaged map", "only supported on managed collections.") {
      _ = Map<String, Int>().observe { _ in }
    },
    SpecTrap("a map of another class", "Can't set object of type 'SpecMaps' to property of type") {
      let (realm, maps) = try filledMaps()
      realm.beginWrite()
      let members: Map<String, DynamicObject?> = maps.dynamicMap("members")
      members["a"] = .some(realm.dynamicObjects("SpecMaps").first)
    },
    SpecTrap("an embedded object in two entries", "existing managed embedded object to a Diction") {
      let (realm, maps) = try filledMaps()
      realm.beginWrite()
      maps.rooms["a"] = SpecRoom("a")
      maps.rooms["b"] = maps.rooms["a"] ?? nil
    },
    SpecTrap("an index into a map", "a dictionary has keys that are texts") {
      _ = try filledMaps().0.objects(SpecMaps.self).filter("ints[0] == 1")
    },
    SpecTrap("a list that is named as a map", "Property 'ints' is not a map of objects.") {
      let _: Map<String, DynamicObject?> = try filledMaps().1.dynamicMap("ints")
    },
  ]
}
