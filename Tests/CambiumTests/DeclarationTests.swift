import Cambium
import Foundation
import TestSupport
import Testing

/// Declarations that break a rule, each refused with the documented text.
@Suite struct DeclarationTests {
  init() { TemporaryFolder.prepareForChildren() }

  private static func expectText(_ result: ExitTest.Result?, _ text: String) {
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains(text), "expected “\(text)” in “\(output.prefix(400))”")
  }

  @Test func `links are optional`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try testRealm([RequiredLink.self, Dog.self, Person.self]) }
    Self.expectText(result, "Object property 'dog' must be marked as optional.")
  }

  @Test func `objects in lists are not optional`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try testRealm([OptionalElements.self, Dog.self, Person.self]) }
    Self.expectText(result, "List<Dog> property 'dogs' must not be marked as optional.")
  }

  @Test func `linking objects name their origin`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try testRealm([NoOrigin.self, Dog.self, Person.self]) }
    Self.expectText(
      result, "LinkingObjects<Dog> property 'dogs' must set the origin property name with")
  }

  @Test func `an origin exists`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try testRealm([MissingOrigin.self, Dog.self, Person.self]) }
    Self.expectText(
      result,
      "Property 'Dog.nothing' declared as origin of linking objects property 'MissingOrigin.dogs' "
        + "does not exist")
  }

  @Test func `an origin is a link`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try testRealm([ValueOrigin.self, Dog.self, Person.self]) }
    Self.expectText(result, "is not a link")
  }

  @Test func `an origin links here`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try testRealm([ForeignOrigin.self, Dog.self, Person.self]) }
    Self.expectText(result, "links to type 'Dog'")
  }

  @Test func `a class has properties`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try testRealm([Empty.self]) }
    Self.expectText(result, "No properties are defined for 'Empty'.")
  }

  @Test func `embedded objects have no primary key`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try testRealm([KeyedEmbedded.self]) }
    Self.expectText(result, "Embedded object type 'KeyedEmbedded' cannot have a primary key.")
  }

  @Test func `sets hold no embedded objects`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try testRealm([EmbeddedSet.self, SpecLamp.self, SpecMaker.self]) }
    Self.expectText(
      result, "Set property 'EmbeddedSet.lamps' cannot contain embedded object type 'SpecLamp'.")
  }

  @Test func `embedded objects do not hold each other for ever`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try testRealm([Outer.self, Inner.self]) }
    Self.expectText(
      result, "Cycles containing embedded objects are not currently supported: 'Inner.outers.inner'"
    )
  }

  @Test func `a class has one primary key`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try testRealm([TwoKeys.self]) }
    Self.expectText(
      result, "Properties 'a' and 'b' are both marked as the primary key of 'TwoKeys'")
  }

  @Test func `truth values are no primary keys`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try testRealm([TruthKey.self]) }
    Self.expectText(
      result,
      "Property 'a' cannot be made the primary key of 'TruthKey' because it is not a 'string', "
        + "'int', 'objectId', or 'uuid' property.")
  }

  @Test func `link targets belong to the Realm`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try testRealm([Person.self]) }
    Self.expectText(result, "Invalid class subset list: 'Person.dogs' links to class 'Dog'")
  }

  @Test func `class names are short`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try testRealm([LongName.self]) }
    Self.expectText(result, "Name too long")
  }

  @Test func `two classes do not share a name`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try testRealm([Paint.self, Faded.self]) }
    Self.expectText(result, "Two classes are named 'Paint'")
  }

  @Test func `an initialiser does not open a Realm`() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { _ = try testRealm([Recursive.self]) }
    Self.expectText(result, "Illegal recursive call")
  }

  @Test func `classes are found without being listed`() throws {
    let realm = try Realm(
      configuration: Realm.Configuration(inMemoryIdentifier: UUID().uuidString))
    let names = realm.schema.objectSchema.map(\.className)
    #expect(names.contains("Person"))
    #expect(names.contains("Dog"))
    #expect(!names.contains("Empty"))
    #expect(names == names.sorted())
  }

  @Test func `properties come in order of declaration, those of superclasses first`() throws {
    let schema = try #require(testRealm([Puppy.self]).schema["Puppy"])
    #expect(schema.properties.map(\.name) == ["a", "b", "c"])
    #expect(schema.properties.map(\.columnName) == ["a", "bee", "c"])
    #expect(schema["b"]?.isIndexed == true)
    #expect(schema.primaryKeyProperty?.name == "a")
    #expect(schema["c"]?.isArray == true && schema["c"]?.isOptional == true)
  }
}

class Hidden: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class RequiredLink: Hidden { @Persisted var dog: Dog }
final class OptionalElements: Hidden { @Persisted var dogs: List<Dog?> }
final class NoOrigin: Hidden { @Persisted var dogs: LinkingObjects<Dog> }
final class MissingOrigin: Hidden {
  @Persisted(originProperty: "nothing") var dogs: LinkingObjects<Dog>
}
final class ValueOrigin: Hidden {
  @Persisted(originProperty: "name") var dogs: LinkingObjects<Dog>
}
final class ForeignOrigin: Hidden {
  @Persisted(originProperty: "best") var people: LinkingObjects<Person>
}
final class Empty: Hidden {}
final class TwoKeys: Hidden {
  @Persisted(primaryKey: true) var a: Int
  @Persisted(primaryKey: true) var b: Int
}
final class TruthKey: Hidden { @Persisted(primaryKey: true) var a: Bool }
final class LongName: Hidden {
  @Persisted var a = 0
  override class func _realmObjectName() -> String? { String(repeating: "x", count: 58) }
}
final class Recursive: Hidden {
  @Persisted var a = 0
  required init() {
    super.init()
    _ = objectSchema
  }
}
class Animal: Hidden {
  @Persisted(primaryKey: true) var a: String
  @Persisted(indexed: true) var b: Date
  override class func propertiesMapping() -> [String: String] { ["b": "bee"] }
}
final class Puppy: Animal { @Persisted var c: List<Int?> }

final class KeyedEmbedded: SpecEmbedded { @Persisted(primaryKey: true) var id = 0 }

final class EmbeddedSet: MigratedObject { @Persisted var lamps: MutableSet<SpecLamp> }

final class Outer: SpecEmbedded { @Persisted var inner: Inner? }

final class Inner: SpecEmbedded { @Persisted var outers: List<Outer> }
