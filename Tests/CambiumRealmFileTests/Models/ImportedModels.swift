import Cambium
import Foundation

/// A class that only its own tests know.
class Imported: Object, ObjectKeyIdentifiable {
  override static func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// The same for embedded objects.
class ImportedEmbedded: EmbeddedObject {
  override static func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// The classes that a program would have for each sample.
enum ImportedModels {
  static let types: [String: [ObjectBase.Type]] = [
    "tiny": Tiny.types,
    "scalars": Scalars.types,
    "int-widths": IntWidths.types,
    "strings": Strings.types,
    "max-size": MaxSize.types,
    "objects-1000": ObjectKeys.types,
    "objects-100000": ManyObjects.types,
    "collections": Collections.types,
    "list-depth3": LongLists.types,
    "mixed": AnyValues.types,
    "links": Links.types,
    "tombstones": Tombstones.types,
    "primary-keys": PrimaryKeys.types,
    "schema-changes": SchemaChanges.types,
    "commits": Commits.types,
    "commits-earlier": Commits.types,
    "copy": Commits.types,
    "copy-opened": Commits.types,
    "compacted": Commits.types,
    "encrypted": Secrets.types,
    "encrypted-copy": Secrets.types,
    "encrypted-interrupted": Secrets.types,
    "format-11": Format11.types,
    "format-20": Format20.types,
    "format-22": Format22.types,
    "format-23": Format22.types,
    "upgraded": Format22.types,
    "never-written": [], "no-classes": [],
  ]
}

/// The classes of `tiny`.
enum Tiny {
  static let types: [ObjectBase.Type] = [Dog.self]

  final class Dog: Imported {
    @Persisted var name: String
    @Persisted var age: Int?
  }
}

/// The classes of `commits`, `commits-earlier`, `copy`, `copy-opened`, `compacted`.
enum Commits {
  static let types: [ObjectBase.Type] = [Item.self]

  final class Item: Imported {
    @Persisted var n: Int
    @Persisted var s: String?
  }
}

/// The classes of `encrypted`, `encrypted-copy`, `encrypted-interrupted`.
enum Secrets {
  static let types: [ObjectBase.Type] = [Secret.self]

  final class Secret: Imported {
    @Persisted var n: Int
    @Persisted var s: String
    @Persisted var d: Data
  }
}

/// The classes of `objects-100000`.
enum ManyObjects {
  static let types: [ObjectBase.Type] = [Dense.self, Holes.self, Ordinary.self, Scattered.self]

  final class Dense: Imported {
    @Persisted var number: Int
    @Persisted var name: String
    @Persisted var even: Bool
    @Persisted var ratio: Double?
  }

  final class Holes: Imported {
    @Persisted var number: Int
    @Persisted var name: String
    @Persisted var even: Bool
    @Persisted var ratio: Double?
  }

  final class Ordinary: Imported {
    @Persisted var number: Int
    @Persisted var name: String
    @Persisted var even: Bool
    @Persisted var ratio: Double?
  }

  final class Scattered: Imported {
    @Persisted var number: Int
    @Persisted var name: String
    @Persisted var even: Bool
    @Persisted var ratio: Double?
  }
}

/// The classes of `objects-1000`.
enum ObjectKeys {
  static let types: [ObjectBase.Type] = [
    Dense.self, Emptied.self, FirstGone.self, Holes.self, LeafFull.self, LeafFullPlusOne.self,
    One.self, Ordinary.self, Reverse.self, Scattered.self, Zero.self,
  ]

  final class Dense: Imported {
    @Persisted var number: Int
    @Persisted var name: String
    @Persisted var even: Bool
    @Persisted var ratio: Double?
  }

  final class Emptied: Imported {
    @Persisted var number: Int
    @Persisted var name: String
    @Persisted var even: Bool
    @Persisted var ratio: Double?
  }

  final class FirstGone: Imported {
    @Persisted var number: Int
    @Persisted var name: String
    @Persisted var even: Bool
    @Persisted var ratio: Double?
  }

  final class Holes: Imported {
    @Persisted var number: Int
    @Persisted var name: String
    @Persisted var even: Bool
    @Persisted var ratio: Double?
  }

  final class LeafFull: Imported {
    @Persisted var number: Int
    @Persisted var name: String
    @Persisted var even: Bool
    @Persisted var ratio: Double?
  }

  final class LeafFullPlusOne: Imported {
    @Persisted var number: Int
    @Persisted var name: String
    @Persisted var even: Bool
    @Persisted var ratio: Double?
  }

  final class One: Imported {
    @Persisted var number: Int
    @Persisted var name: String
    @Persisted var even: Bool
    @Persisted var ratio: Double?
  }

  final class Ordinary: Imported {
    @Persisted var number: Int
    @Persisted var name: String
    @Persisted var even: Bool
    @Persisted var ratio: Double?
  }

  final class Reverse: Imported {
    @Persisted var number: Int
    @Persisted var name: String
    @Persisted var even: Bool
    @Persisted var ratio: Double?
  }

  final class Scattered: Imported {
    @Persisted var number: Int
    @Persisted var name: String
    @Persisted var even: Bool
    @Persisted var ratio: Double?
  }

  final class Zero: Imported {
    @Persisted var number: Int
    @Persisted var name: String
    @Persisted var even: Bool
    @Persisted var ratio: Double?
  }
}

/// The classes of `primary-keys`.
enum PrimaryKeys {
  static let types: [ObjectBase.Type] = [
    PkInt.self, PkIntOpt.self, PkObjectId.self, PkObjectIdOpt.self, PkString.self, PkStringOpt.self,
    PkUUID.self, PkUUIDOpt.self,
  ]

  final class PkInt: Imported {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var value: Int
    @Persisted var next: PkInt?
  }

  final class PkIntOpt: Imported {
    @Persisted(primaryKey: true) var id: Int?
    @Persisted var value: Int
    @Persisted var next: PkIntOpt?
  }

  final class PkObjectId: Imported {
    @Persisted(primaryKey: true) var id: ObjectId
    @Persisted var value: Int
    @Persisted var next: PkObjectId?
  }

  final class PkObjectIdOpt: Imported {
    @Persisted(primaryKey: true) var id: ObjectId?
    @Persisted var value: Int
    @Persisted var next: PkObjectIdOpt?
  }

  final class PkString: Imported {
    @Persisted(primaryKey: true) var id: String
    @Persisted var value: Int
    @Persisted var next: PkString?
  }

  final class PkStringOpt: Imported {
    @Persisted(primaryKey: true) var id: String?
    @Persisted var value: Int
    @Persisted var next: PkStringOpt?
  }

  final class PkUUID: Imported {
    @Persisted(primaryKey: true) var id: UUID
    @Persisted var value: Int
    @Persisted var next: PkUUID?
  }

  final class PkUUIDOpt: Imported {
    @Persisted(primaryKey: true) var id: UUID?
    @Persisted var value: Int
    @Persisted var next: PkUUIDOpt?
  }
}

/// The classes of `links`.
enum Links {
  static let types: [ObjectBase.Type] = [Address.self, Dog.self, Geo.self, Person.self]

  final class Address: ImportedEmbedded {
    @Persisted var street: String
    @Persisted var geo: Geo?
  }

  final class Dog: Imported {
    @Persisted var name: String
    @Persisted var owner: Person?
  }

  final class Geo: ImportedEmbedded {
    @Persisted var lat: Double
    @Persisted var lon: Double
  }

  final class Person: Imported {
    @Persisted var name: String
    @Persisted var spouse: Person?
    @Persisted var dogs: List<Dog>
    @Persisted var favourites: MutableSet<Dog>
    @Persisted var byName: Map<String, Dog?>
    @Persisted var home: Address?
    @Persisted var addresses: List<Address>
    @Persisted var addressBook: Map<String, Address?>
    @Persisted var any: AnyRealmValue
  }
}

/// The classes of `tombstones`.
enum Tombstones {
  static let types: [ObjectBase.Type] = [Dog.self, Person.self]

  final class Dog: Imported {
    @Persisted(primaryKey: true) var id: String
  }

  final class Person: Imported {
    @Persisted var one: Dog?
    @Persisted var list: List<Dog>
    @Persisted var set: MutableSet<Dog>
    @Persisted var dict: Map<String, Dog?>
    @Persisted var any: AnyRealmValue
    @Persisted var anyList: List<AnyRealmValue>
  }
}

/// The classes of `schema-changes`.
enum SchemaChanges {
  static let types: [ObjectBase.Type] = [
    A.self, Again.self, B.self, Indexed.self, IntKeyed.self, Last.self,
  ]

  final class A: Imported {
    @Persisted var drei: Int
    @Persisted var afterBacklink: String
    @Persisted var fillsHole: Date?
    @Persisted var one: Int?
  }

  final class Again: Imported {
    @Persisted var flag: Bool
    @Persisted var toB: List<B>
  }

  final class B: Imported {
    @Persisted var toA: A?
  }

  final class Indexed: Imported {
    @Persisted var plain: String
    @Persisted(indexed: true) var indexed: String
    @Persisted var fulltext: String
  }

  final class IntKeyed: Imported {
    @Persisted var map: Map<String, String?>
  }

  final class Last: Imported {
    @Persisted var toA: A?
  }
}
