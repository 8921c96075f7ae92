import Cambium
import TestSupport

// Misuse of values of any type.
extension SpecTrap {
  private static func filledAny() throws -> SpecAny {
    let realm = try specRealm(B15AnyTests.types)
    realm.beginWrite()
    let object = SpecAny(1, .fromArray([.int(1)]))
    realm.add(object)
    return object
  }

  static let anyValues: [SpecTrap] = [
    SpecTrap("a list in a set", "A set cannot contain a list or a dictionary.") {
      try filledAny().set.insert(.fromArray([]))
    },
    SpecTrap("a list in a new set", "A set cannot contain a list or a dictionary.") {
      let (object, other) = (try filledAny(), SpecAny(2))
      other.set.insert(.fromArray([]))
      object.realm?.add(other)
    },
    SpecTrap("a list whose place was taken", "List is no longer valid.") {
      let object = try filledAny()
      let list = object.value.listValue
      object.value = .int(1)
      _ = list?.count
    },
    SpecTrap("a dictionary whose place was taken", "Dictionary is no longer valid.") {
      let object = try filledAny()
      object.value = .fromDictionary(["a": .int(1)])
      let dictionary = object.value.dictionaryValue
      object.value = .none
      dictionary?["a"] = .int(2)
    },
    SpecTrap("an object of a class that is not there", "Object type 'SpecDog' is not managed by") {
      try filledAny().value = .object(SpecDog())
    },
    SpecTrap("an object of another Realm as any value", "already managed by another Realm.") {
      let (object, other) = (try filledAny(), try filledAny())
      object.value = .object(other)
    },
    SpecTrap("a value of no type", "Invalid value") { try filledAny()["value"] = SpecTrap.self },
    SpecTrap("pieces of any value without case", "Lexicographical comparisons must be case-sens") {
      _ = try filledAny().realm?.objects(SpecAny.self).filter("value <[c] 'a'")
    },
  ]
}
