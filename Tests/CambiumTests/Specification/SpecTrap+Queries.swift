import Cambium
import Dispatch
import Foundation
import TestSupport

// Misuse of queries, sorting and declarations.
extension SpecTrap {
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

  private static func misplaced(
    _ format: String, _ message: String, _ region: any RLMGeospatial = .anywhere
  ) -> SpecTrap {
    SpecTrap(format + " with a region", message) {
      _ = try specRealm(B19GeoTests.types).objects(SpecShop.self).filter(format, region).count
    }
  }

  static let queries: [SpecTrap] = [
    misplaced(
      "SELF IN %@",
      "A GEOWITHIN query can only operate on a link to an embedded class but 'SpecShop' is at the top "
        + "level"),
    misplaced(
      "neighbor IN %@",
      "A GEOWITHIN query can only operate on a link to an embedded class but 'SpecShop' is at the top "
        + "level"),
    misplaced(
      "misshapen IN %@",
      "Query '(misshapen IN %@)' links to data in the wrong format for a geoWithin query"),
    misplaced("branches IN %@", "must use aggregate operations"),
    misplaced("id IN %@", "A GEOWITHIN query can only operate on a link to an embedded class"),
    misplaced(
      "place IN %@", "Invalid region in GEOWITHIN query for parameter 'GeoPolygon(", .crossed),
    misplaced("place == %@", "Cannot compare value"),
    refused("nope == 1", "Property 'nope' not found in object of type 'SpecPerson'"),
    refused("name.x == 1", "is not a link or collection and can only appear at the end"),
    refused("favorite. == 1", "Invalid keypath 'favorite.': no key name after last '.'"),
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
    SpecTrap("an unmanaged object in a query", "Object must be from the Realm being queried") {
      _ = try specRealm().objects(SpecPerson.self).where { $0.favorite == SpecDog() }.count
    },
    SpecTrap("an unmanaged object in a text", "Object must be from the Realm being queried") {
      _ = try specRealm().objects(SpecPerson.self).filter("favorite IN %@", [SpecDog()]).count
    },
    SpecTrap("a query on values", "Querying is currently only implemented for arrays of Realm") {
      _ = try ann().1.nicknames.where { $0 == "A" }.count
    },
    SpecTrap("an unknown key of a list of values", "Invalid property name 'length'") {
      _ = try ann().1.nicknames.value(forKey: "length")
    },
    SpecTrap("an unknown key assigned to a list of values", "Invalid property name 'length'") {
      let (realm, person) = try ann()
      try realm.write { person.nicknames.setValue("x", forKey: "length") }
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
    unsortable("name[x]", "property 'SpecPerson.name' is of unsupported type"),
    unsortable("nicknames[0]", "property 'SpecPerson.nicknames' is of unsupported type"),
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

extension RLMGeospatial where Self == GeoBox {
  fileprivate static var anywhere: GeoBox {
    guard let box = GeoBox(bottomLeft: (0, 0), topRight: (10, 10)) else { fatalError("no box") }
    return box
  }
}

extension RLMGeospatial where Self == GeoPolygon {
  fileprivate static var crossed: GeoPolygon {
    guard let polygon = GeoPolygon(outerRing: [(0, 0), (10, 10), (0, 10), (10, 0), (0, 0)]) else {
      fatalError("no polygon")
    }
    return polygon
  }
}
