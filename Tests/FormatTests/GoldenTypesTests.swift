import Cambium
import CambiumCore
import CambiumFile
import Foundation
import TestSupport
import Testing

final class GoldenPlace: EmbeddedObject {
  @Persisted(indexed: true) var name = ""
  @Persisted var inner: GoldenInner?

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class GoldenInner: EmbeddedObject {
  @Persisted var depth = 0

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class GoldenTypes: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var place: GoldenPlace?
  @Persisted var places: List<GoldenPlace>
  @Persisted var texts: MutableSet<String>
  @Persisted var doubles: MutableSet<Double>
  @Persisted var numbers: Map<String, Int>
  @Persisted var others: Map<String, GoldenTypes?>
  @Persisted var value: AnyRealmValue
  @Persisted var values: List<AnyRealmValue>
  @Persisted var valueSet: MutableSet<AnyRealmValue>
  @Persisted var valueMap: Map<String, AnyRealmValue>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A file with embedded objects, sets, maps and values of any type, small ones and such that have trees of
/// their own; added to, never made again.
@Suite struct GoldenTypesTests {
  private static let types: [ObjectBase.Type] = [
    GoldenTypes.self, GoldenPlace.self, GoldenInner.self,
  ]

  private static func configuration(_ url: URL, readOnly: Bool = false) -> Realm.Configuration {
    Realm.Configuration(fileURL: url, readOnly: readOnly, objectTypes: types)
  }

  /// Files of the first form, and with backlinks in groups.
  private static let names = ["types-1", "types-2"]

  private static func withCopy(_ name: String, _ body: (URL) throws -> Void) throws {
    let golden = try #require(
      Bundle.module.url(
        forResource: name, withExtension: "cambium", subdirectory: "Golden"))
    try TemporaryFolder.with { folder in
      let copy = folder.appendingPathComponent("copy.cambium")
      try Data(contentsOf: golden).write(to: copy)
      try body(copy)
    }
  }

  private static let date = Date(timeIntervalSince1970: 1_700_000_000)

  private static func write(to realm: Realm) throws {
    try realm.write {
      for (id, count) in [(1, 3), (2, 900)] {
        let object = GoldenTypes()
        object.id = id
        object.place = GoldenPlace(value: ["name": "place \(id)", "inner": [id]] as [String: Any])
        object.places.append(
          objectsIn: (0..<count / 3).map {
            GoldenPlace(
              value: ["name": "\($0)", "inner": $0 == 0 ? [7] : NSNull()] as [String: Any])
          })
        object.texts.insert(objectsIn: (0..<count).map { "text \($0 * 7919 % 1000)" })
        object.doubles.insert(objectsIn: (0..<count).map { Double($0) / 2 })
        for index in 0..<count { object.numbers["key \(index)"] = index }
        object.others["self"] = object
        object.others["none"] = .some(nil)
        object.value = .fromDictionary([
          "list": .fromArray([.int(id), .string("x"), .none, .object(object)]),
          "empty": .fromDictionary([:]),
        ])
        object.values.append(objectsIn: scalars)
        object.values.append(objectsIn: (0..<count).map { .int($0) })
        object.valueSet.insert(objectsIn: scalars)
        for (index, value) in scalars.enumerated() { object.valueMap["v\(index)"] = value }
        realm.add(object)
      }
    }
  }

  private static var scalars: [AnyRealmValue] {
    [
      .none, .bool(true), .int(-5), .int(70_000), .int(.max), .float(1.5), .double(-2.25),
      .decimal128("12.50"), .string("ä"), .data(Data([1, 2])), .date(date),
      .objectId(ObjectId("0123456789abcdef01234567")),
      .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))),
    ]
  }

  private static func expectContent(_ realm: Realm) throws {
    for (id, count) in [(1, 3), (2, 900)] {
      let object = try #require(realm.object(ofType: GoldenTypes.self, forPrimaryKey: id))
      #expect(object.place?.name == "place \(id)" && object.place?.inner?.depth == id)
      #expect(object.places.map(\.name) == (0..<count / 3).map { "\($0)" })
      #expect(object.places.first?.inner?.depth == 7)
      #expect(Set(object.texts) == Set((0..<count).map { "text \($0 * 7919 % 1000)" }))
      #expect(Array(object.doubles) == (0..<count).map { Double($0) / 2 })
      #expect(object.numbers.count == count && object.numbers["key 2"] == 2)
      #expect(object.others["self"]??.id == id && object.others["none"] == .some(nil))
      let list = try #require(object.value.dictionaryValue?["list"]?.listValue)
      #expect(list[0] == .int(id) && list[2] == .none && list[3].object(GoldenTypes.self)?.id == id)
      #expect(object.value.dictionaryValue?["empty"]?.dictionaryValue?.count == 0)
      #expect(Array(object.values.prefix(scalars.count)) == scalars)
      #expect(object.values.count == scalars.count + count)
      #expect(Set(object.valueSet) == Set(scalars))
      #expect(scalars.indices.allSatisfy { object.valueMap["v\($0)"] == scalars[$0] })
    }
    #expect(realm.objects(GoldenTypes.self).where { $0.places.name == "5" }.count == 1)
  }

  @Test(arguments: names) func `a golden file holds values of every type`(name: String) throws {
    try Self.withCopy(name) { url in
      try Self.expectContent(Realm(configuration: Self.configuration(url, readOnly: true)))
    }
  }

  @Test(arguments: names)
  func `a golden file with values of every type is sound and can be written to`(name: String) throws
  {
    try Self.withCopy(name) { url in
      try autoreleasepool {
        let realm = try Realm(configuration: Self.configuration(url))
        try realm.write {
          let object = try #require(realm.object(ofType: GoldenTypes.self, forPrimaryKey: 2))
          object.numbers["key 2"] = 77
          object.value.dictionaryValue?["list"]?.listValue?.append(.int(1))
          object.places.removeFirst()
          realm.create(GoldenTypes.self, value: ["id": 3, "place": ["new"], "values": [1, "a"]])
        }
        #expect(realm.object(ofType: GoldenTypes.self, forPrimaryKey: 2)?.numbers["key 2"] == 77)
      }
      let database = try Database(
        store: FileStore(path: url.path, options: FileStoreOptions(isReadOnly: true)))
      #expect(try database.verify().findings == [])
      var verifier = ObjectVerifier(snapshot: try database.snapshot())
      #expect(try verifier.run() == [])
      #expect(try database.snapshot().value("schema/features") == [31, 0, 0, 0, 0, 0, 0, 0])
      try database.close()
    }
  }

  @Test(.enabled(if: ProcessInfo.processInfo.environment["CAMBIUM_WRITE_GOLDEN"] != nil))
  func `the golden file of types is written on request`() throws {
    let path = try #require(ProcessInfo.processInfo.environment["CAMBIUM_WRITE_GOLDEN"])
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let url = URL(fileURLWithPath: path).appendingPathComponent("types-2.cambium")
    try autoreleasepool {
      let realm = try Realm(configuration: Self.configuration(url))
      try Self.write(to: realm)
      try Self.expectContent(realm)
    }
    _ = try FileStore.compact(path: url.path)
  }
}
