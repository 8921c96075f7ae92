import Cambium
import Foundation
import TestSupport
import Testing

private enum Before {
  final class SpecEvolving: Object {
    @Persisted var kept = 1
    @Persisted var dropped = "x"
    @Persisted var retyped = 5
    @Persisted var widened = 7
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  final class SpecIndexed: Object {
    @Persisted var a = 1
    @Persisted(indexed: true) var b = 2
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  final class SpecKeyless: Object {
    @Persisted var a = 1
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

private enum After {
  final class SpecEvolving: Object {
    @Persisted var kept = 1
    @Persisted var retyped = "5"
    @Persisted var widened: Int?
    @Persisted var added = 3
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  final class SpecIndexed: Object {
    @Persisted var b = 2
    @Persisted(indexed: true) var a = 1
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
  final class SpecKeyless: Object {
    @Persisted(primaryKey: true) var a = 1
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }
}

private final class SpecDeclining: SpecDogLike {
  @Persisted var own = 3
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Sections A16 and B23: schema description, discovery, what opening does with changed classes.
@Suite struct B23SchemaTests {
  @Test func `a schema describes classes and properties`() throws {
    let realm = try specRealm()
    let person = try #require(realm.schema["SpecPerson"])
    #expect(person.className == "SpecPerson")
    #expect(!person.isEmbedded)
    #expect(
      person.properties.map(\.name) == [
        "id", "name", "age", "dogs", "favorite", "friend", "nicknames",
      ])
    #expect(person["befriendedBy"] != nil)
    let dogs = try #require(person["dogs"])
    #expect(dogs.type == .object && dogs.isArray && dogs.objectClassName == "SpecDog")
    #expect(person["age"]?.isOptional == true && person["age"]?.type == .int)
    #expect(person["favorite"]?.isOptional == true && person["favorite"]?.isArray == false)
    #expect(person["nicknames"]?.type == .string && person["nicknames"]?.isArray == true)
    #expect(realm.schema["SpecDog"]?["owners"]?.type == .linkingObjects)
    #expect(realm.schema["SpecDog"]?["owners"]?.isArray == true)
    let values = try #require(realm.schema["SpecValues"])
    let types: [(String, PropertyType)] = [
      ("bool", .bool), ("int8", .int), ("float", .float), ("double", .double),
      ("decimal", .decimal128), ("string", .string), ("data", .data), ("date", .date),
      ("objectId", .objectId), ("uuid", .UUID), ("color", .string), ("level", .int),
      ("other", .object), ("intsO", .int),
    ]
    for (name, type) in types { #expect(values[name]?.type == type, "\(name)") }
    #expect(values["intsO"]?.isOptional == true)
    #expect(realm.schema["SpecIdKey"]?["tag"]?.isIndexed == true)
    #expect(PropertyType.decimal128.rawValue == 11 && PropertyType.UUID.rawValue == 12)
    #expect(realm.schema["SpecPuppy"]?.properties.first?.name == "name")
    #expect(realm.schema["SpecPuppy"]?["notStored"] == nil)
    #expect(SpecPerson().objectSchema.className == "SpecPerson")
    #expect(!realm.schema.description.isEmpty && !person.description.isEmpty)
  }

  @Test func `stored names are described`() throws {
    let realm = try specRealm()
    let renamed = try #require(realm.schema["SpecStoredName"])
    #expect(renamed["shown"]?.columnName == "stored_column")
  }

  @Test func `all classes of the program are found unless they decline`() throws {
    let realm = try Realm(
      configuration: Realm.Configuration(inMemoryIdentifier: UUID().uuidString))
    let names = Set(realm.schema.objectSchema.map(\.className))
    #expect(names.isSuperset(of: ["SpecPerson", "SpecDog", "SpecPuppy", "SpecValues"]))
    #expect(!names.contains("SpecEvolving"))
    #expect(!names.contains("SpecDeclining"))
    #expect(!names.contains("Object"))
  }

  @Test func `classes come and go and indexes change without a version`() throws {
    let folder = try TemporaryFolder()
    do {
      let realm = try Realm(configuration: specFile(folder, [Before.SpecIndexed.self]))
      try realm.write { realm.create(Before.SpecIndexed.self, value: ["a": 4, "b": 5]) }
    }
    do {
      let realm = try Realm(configuration: specFile(folder, [SpecTextKey.self]))
      #expect(realm.isEmpty)
    }
    do {
      let realm = try Realm(
        configuration: specFile(folder, [After.SpecIndexed.self, SpecTextKey.self]))
      let object = try #require(realm.objects(After.SpecIndexed.self).first)
      #expect(object.a == 4 && object.b == 5)
      #expect(realm.objects(After.SpecIndexed.self).where { $0.a == 4 }.count == 1)
      #expect(realm.objects(After.SpecIndexed.self).where { $0.b == 5 }.count == 1)
    }
  }

  @Test func `other changes need a migration and are listed`() throws {
    let folder = try TemporaryFolder()
    do {
      let realm = try Realm(configuration: specFile(folder, [Before.SpecEvolving.self]))
      try realm.write { realm.create(Before.SpecEvolving.self, value: ["kept": 9]) }
    }
    let error = #expect(throws: Realm.Error.self) {
      try Realm(configuration: specFile(folder, [After.SpecEvolving.self]))
    }
    #expect(error?.code == .schemaMismatch)
    let text = error?.localizedDescription ?? ""
    #expect(text.contains("Migration is required due to the following errors:"))
    #expect(text.contains("- Property 'SpecEvolving.added' has been added."))
    #expect(text.contains("- Property 'SpecEvolving.dropped' has been removed."))
    #expect(
      text.contains(
        "- Property 'SpecEvolving.retyped' has been changed from '<int>' to '<string>'.")
        || text.contains(
          "- Property 'SpecEvolving.retyped' has been changed from 'int' to 'string'.")
    )
    #expect(text.contains("- Property 'SpecEvolving.widened' has been made optional."))
    let realm = try Realm(configuration: specFile(folder, [Before.SpecEvolving.self]))
    #expect(realm.objects(Before.SpecEvolving.self).first?.kept == 9)
  }

  @Test func `a new primary key is listed`() throws {
    let folder = try TemporaryFolder()
    do {
      let realm = try Realm(configuration: specFile(folder, [Before.SpecKeyless.self]))
      try realm.write { realm.create(Before.SpecKeyless.self) }
    }
    let error = #expect(throws: Realm.Error.self) {
      try Realm(configuration: specFile(folder, [After.SpecKeyless.self]))
    }
    #expect(
      error?.localizedDescription.contains("- Primary Key for class 'SpecKeyless' has been added.")
        == true)
  }

  @Test func `a reset starts with the new classes`() throws {
    let folder = try TemporaryFolder()
    do {
      let realm = try Realm(
        configuration: specFile(folder, [Before.SpecEvolving.self, SpecTextKey.self]))
      try realm.write {
        realm.create(Before.SpecEvolving.self)
        realm.create(SpecTextKey.self, value: ["key": "a"])
      }
    }
    var configuration = specFile(folder, [After.SpecEvolving.self, SpecTextKey.self])
    configuration.deleteRealmIfMigrationNeeded = true
    let realm = try Realm(configuration: configuration)
    #expect(realm.isEmpty)
    try realm.write { realm.create(After.SpecEvolving.self) }
  }

  @Test(arguments: [UInt64(7), 3])
  func `a reset happens at any difference of the version`(version: UInt64) throws {
    let folder = try TemporaryFolder()
    var configuration = specFile(folder, [SpecTextKey.self])
    configuration.schemaVersion = 5
    configuration.deleteRealmIfMigrationNeeded = true
    func reopened() throws -> Int {
      try Realm(configuration: configuration).objects(SpecTextKey.self).count
    }
    do {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.create(SpecTextKey.self, value: ["key": "a"]) }
    }
    #expect(try reopened() == 1)
    configuration.objectTypes = [SpecTextKey.self, SpecDogLike.self]
    #expect(try reopened() == 1)
    configuration.schemaVersion = version
    #expect(try reopened() == 0)
  }

  @Test func `a higher version keeps what did not change`() throws {
    let folder = try TemporaryFolder()
    do {
      let realm = try Realm(configuration: specFile(folder, [Before.SpecEvolving.self]))
      try realm.write { realm.create(Before.SpecEvolving.self, value: ["kept": 9, "widened": 8]) }
    }
    var configuration = specFile(folder, [After.SpecEvolving.self])
    configuration.schemaVersion = 1
    do {
      let realm = try Realm(configuration: configuration)
      let object = try #require(realm.objects(After.SpecEvolving.self).first)
      #expect(object.kept == 9 && object.widened == 8)
      #expect(object.added == 0 && object.retyped == "")
    }
    configuration.schemaVersion = 0
    #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
  }

  @Test func `an inherited class stores all properties`() throws {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString,
        objectTypes: [SpecDeclining.self, SpecDogLike.self]))
    try realm.write { realm.create(SpecDeclining.self, value: ["name": "a", "age": 2]) }
    #expect(realm.objects(SpecDeclining.self).first?.age == 2)
    #expect(realm.objects(SpecDeclining.self).first?.own == 3)
    #expect(realm.objects(SpecDogLike.self).isEmpty)
  }

  @Test func `class names and mapping hooks are as documented`() {
    #expect(SpecPerson.className() == "SpecPerson")
    #expect(SpecPerson.shouldIncludeInDefaultSchema())
    #expect(SpecPerson._realmObjectName() == nil)
    #expect(SpecPerson.propertiesMapping().isEmpty)
  }

  @Test func `a class may be listed twice, and in any order`() throws {
    var configuration = specConfiguration([SpecTextKey.self, SpecSmallKey.self, SpecTextKey.self])
    let realm = try Realm(configuration: configuration)
    try realm.write { _ = realm.create(SpecTextKey.self, value: ["key": "a"]) }
    #expect(realm.schema.objectSchema.map(\.className) == ["SpecSmallKey", "SpecTextKey"])
    configuration.objectTypes = [SpecSmallKey.self, SpecTextKey.self]
    #expect(try Realm(configuration: configuration) == realm)
  }

  @Test func `of two classes of one name the listed one is used`() throws {
    let configuration = specConfiguration([OneName.Spoon.self])
    let realm = try Realm(configuration: configuration)
    let spoon = try realm.write { realm.create(OneName.Spoon.self, value: ["size": 3]) }
    #expect(realm.objects(OneName.Spoon.self).where { $0.size == 3 }.count == 1)
    #expect(spoon.freeze().thaw()?.size == 3)
    let reference = ThreadSafeReference(to: spoon)
    let size = try onAnotherThread {
      try Realm(configuration: configuration).resolve(reference)?.size
    }
    #expect(size == 3)
    let other = try Realm(configuration: specConfiguration([SameName.Spoon.self]))
    try other.write { _ = other.create(SameName.Spoon.self, value: ["metal": "tin"]) }
    #expect(other.objects(SameName.Spoon.self).first?.metal == "tin")
  }

  @Test func `a primary key is indexed`() throws {
    let schema = try specRealm().schema
    #expect(schema["SpecPerson"]?.primaryKeyProperty?.isIndexed == true)
    #expect(schema["SpecTextKey"]?.primaryKeyProperty?.isIndexed == true)
    #expect(schema["SpecIdKey"]?["tag"]?.isIndexed == true)
    #expect(schema["SpecPerson"]?["name"]?.isIndexed == false)
  }
}

/// Classes that are called alike.
private enum OneName {
  final class Spoon: MigratedObject { @Persisted var size = 0 }
}

private enum SameName {
  final class Spoon: MigratedObject { @Persisted var metal = "" }
}
