import Cambium
import Foundation
import TestSupport
import Testing

/// What the page Limits says of objects, values and names: what is at a limit works, and what is past it is
/// refused by a text that says why.
@Suite struct LimitTests {
  final class Everything: Object {
    @Persisted(primaryKey: true) var key: String
    @Persisted(indexed: true) var mark: String
    @Persisted var data: Data
    @Persisted var texts: List<String>
    @Persisted var set: MutableSet<String>
    @Persisted var numbers: Map<String, Int>
    @Persisted var value: AnyRealmValue
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  final class Numbered: Object {
    @Persisted(primaryKey: true) var key: Int
    @Persisted var next: Numbered?
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  init() { TemporaryFolder.prepareForChildren() }

  // MARK: Keys and depths

  @Test func `texts of any length are keys and are found, whatever zeros they have`() throws {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString, objectTypes: [Everything.self]))
    var keys = (490...530).map { String(repeating: "k", count: $0) }
    keys += [200, 246, 251, 252, 253, 300, 448, 511, 512, 513, 600, 5000].map {
      String(repeating: "\0", count: $0)
    }
    // The same beginning, and a difference that only the hash sees.
    keys += ["a", "b"].map { String(repeating: "\0", count: 400) + $0 }
    keys += ["a", "b"].map { String(repeating: "k\0", count: 300) + $0 }
    try realm.write {
      for key in keys { realm.create(Everything.self, value: ["key": key, "mark": key]) }
    }
    let all = realm.objects(Everything.self)
    for key in keys {
      #expect(realm.object(ofType: Everything.self, forPrimaryKey: key)?.mark == key)
      #expect(all.where { $0.mark == key }.count == 1, "\(key.utf8.count) bytes")
      let expected = keys.count { $0.hasPrefix(key) }
      #expect(all.where { $0.mark.starts(with: key) }.count == expected, "\(key.utf8.count) bytes")
      #expect(all.filter("mark >= %@", key).count == keys.count { !($0 < key) })
    }
    try realm.write { realm.delete(all) }
    #expect(all.isEmpty && realm.object(ofType: Everything.self, forPrimaryKey: keys[0]) == nil)
  }

  @Test func `a collection that is put into another one counts its levels from the value`()
    async throws
  {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let realm = try Realm(
        configuration: Realm.Configuration(
          inMemoryIdentifier: UUID().uuidString, objectTypes: [LimitTests.Everything.self]))
      try realm.write {
        let object = realm.create(LimitTests.Everything.self, value: ["key": "a"])
        object.value = .fromArray([.string("kept")])
        guard var list = object.value.listValue else { return }
        for _ in 1..<100 {
          list.append(.fromArray([]))
          guard let inner = list.last?.listValue else { return }
          list = inner
        }
        // The hundredth level is full; this would be the next one.
        list.append(.fromArray([]))
      }
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("nested deeper than 100 levels"))
  }

  @Test func `a path leads over two hundred links, and not over more`() throws {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString, objectTypes: [Numbered.self]))
    func path(_ steps: Int) -> String { String(repeating: "next.", count: steps - 1) + "key" }
    #expect(try TextQuery("\(path(201)) == 1").results(in: realm, ofType: "Numbered").isEmpty)
    #expect(try TextQuery("SORT(\(path(201)))").results(in: realm, ofType: "Numbered").isEmpty)
    for text in ["\(path(202)) == 1", "SORT(\(path(100_000)))"] {
      #expect { try TextQuery(text) } throws: { "\($0)".contains("nests more than 200 levels") }
    }
  }

  @Test func `conditions that grow in a loop, and those that alternate, are read in passing`()
    throws
  {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString, objectTypes: [Numbered.self]))
    try realm.write { for key in 0..<10 { realm.create(Numbered.self, value: ["key": key]) } }
    let all = realm.objects(Numbered.self)
    let found = all.where { query in
      (1..<3000).reduce(query.key == 0) { $0 || query.key == $1 * 3 }
    }
    #expect(found.map(\.key) == [0, 3, 6, 9])
    #expect(
      all.where { query in
        (1..<3000).reduce(query.key == 0) { (query.key == $1 * 3) || $0 }
      }.count == 4)
    #expect(
      all.where { query in (0..<3000).reduce(query.key > 7) { $0 && query.key != $1 + 9 } }.count
        == 1)
    let text = (0..<99).reduce("key = 0") { "((\($0)) OR key = \($1)) AND key < 5" }
    #expect(try TextQuery(text).results(in: realm, ofType: "Numbered").count == 5)
  }

  @Test func `embedded classes that share others are checked once each`() throws {
    let classes = (0..<200).map { number in
      ObjectSchema(
        className: "E\(number)", objectClass: DynamicObject.self,
        properties: number == 199
          ? [Property(name: "p", type: .int)]
          : ["a", "b"].map { name in
            var property = Property(name: name, type: .object)
            property.objectClassName = "E\(number + 1)"
            property.isOptional = true
            return property
          }, isEmbedded: true)
    }
    _ = try Realm(
      configuration: Realm.Configuration(inMemoryIdentifier: UUID().uuidString), adding: classes)
  }

  // MARK: Classes

  /// Opens a database with one more class, which is known by its name alone.
  private func open(
    adding name: String, _ propertyNames: [String]
  ) throws -> Realm {
    let schema = ObjectSchema(
      className: name, objectClass: DynamicObject.self,
      properties: propertyNames.map { Property(name: $0, type: .int) })
    return try Realm(
      configuration: Realm.Configuration(inMemoryIdentifier: UUID().uuidString), adding: [schema])
  }

  private func refusal(_ name: String, _ propertyNames: [String]) -> String {
    do { _ = try open(adding: name, propertyNames) } catch { return "\(error)" }
    return "none"
  }

  @Test func `a class has 8,191 properties, and the next one is refused`() throws {
    let names = (0..<8192).map { "p\($0)" }
    #expect(refusal("Wide", names).contains("no more columns of a table; the limit is 8192"))
    let realm = try open(adding: "Wide", Array(names.dropLast()))
    #expect(realm.schema["Wide"]?.properties.count == 8191)
  }

  @Test func `names of classes have 57 bytes and those of properties 63`() throws {
    let (long, longer) = (
      String(repeating: "ä", count: 28) + "x", String(repeating: "ä", count: 29)
    )
    #expect(long.utf8.count == 57 && longer.utf8.count == 58)
    #expect(refusal(long, ["p"]) == "none")
    #expect(refusal(longer, ["p"]).contains("has 58 bytes, the limit is 57"))
    let name = String(repeating: "p", count: 63)
    #expect(refusal("Short", [name]) == "none")
    #expect(refusal("Short", [name + "p"]).contains("has 64 bytes, the limit is 63"))
    for wrong in ["", "a/b", "a\nb"] {
      #expect(refusal(wrong, ["p"]).contains("No class can have the name"))
    }
  }

  @Test func `there may be a thousand classes`() throws {
    let schemas = (0..<1000).map {
      ObjectSchema(
        className: "C\($0)", objectClass: DynamicObject.self,
        properties: [Property(name: "p", type: .int)])
    }
    let configuration = Realm.Configuration(inMemoryIdentifier: UUID().uuidString)
    let realm = try Realm(configuration: configuration, adding: schemas)
    try realm.write { _ = realm.dynamicCreate("C999", value: ["p": 7]) }
    #expect(realm.dynamicObjects("C999").first?["p"] as? Int == 7)
    #expect(realm.schema.objectSchema.count == 1000)
  }

  @Test func `a schema version is any number of 64 bits`() throws {
    let folder = try TemporaryFolder()
    var configuration = specFile(folder, [Numbered.self])
    for version in [0, 1, UInt64.max - 1, UInt64.max] {
      configuration.schemaVersion = version
      try autoreleasepool { _ = try Realm(configuration: configuration) }
      #expect(try Realm.schemaVersion(for: configuration) == version)
    }
  }

  // MARK: Objects and values

  @Test func `texts, data, keys and elements of a megabyte come back as they were`() throws {
    let realm = try specRealm([Everything.self])
    let long = String(repeating: "long ", count: 200_000)
    try realm.write {
      let object = realm.create(Everything.self, value: ["key": long, "mark": long + "m"])
      object.data = Data(repeating: 7, count: 1 << 20)
      object.texts.append(objectsIn: [long, "short", long + "2"])
      object.set.insert(objectsIn: [long, "short", long + "2"])
      object.numbers[long] = 1
      object.numbers[long + "2"] = 2
      object.value = .fromDictionary([long: .string(long)])
    }
    let object = try #require(realm.object(ofType: Everything.self, forPrimaryKey: long))
    #expect(realm.objects(Everything.self).where { $0.mark == long + "m" }.count == 1)
    #expect(realm.objects(Everything.self).where { $0.mark == long }.count == 0)
    #expect(object.data == Data(repeating: 7, count: 1 << 20))
    #expect(Array(object.texts) == [long, "short", long + "2"])
    #expect(object.set.contains(long + "2") && object.set.count == 3)
    #expect(object.numbers[long + "2"] == 2 && object.numbers.count == 2)
    #expect(object.value.dictionaryValue?[long] == .string(long))
  }

  @Test func `an integer key is any number of 64 bits`() throws {
    let realm = try specRealm([Numbered.self])
    let keys = [Int.min, -1, 0, Int.max - 1, Int.max]
    try realm.write { for key in keys { realm.create(Numbered.self, value: [key]) } }
    #expect(realm.objects(Numbered.self).sorted(byKeyPath: "key").map(\.key) == keys)
    for key in keys {
      #expect(realm.object(ofType: Numbered.self, forPrimaryKey: key)?.key == key)
    }
  }

  @Test func `a hundred thousand new objects that lead to one another are added at once`() throws {
    let realm = try specRealm([Numbered.self])
    let head = Numbered(value: [0])
    var last = head
    for key in 1..<100_000 {
      let next = Numbered(value: [key])
      last.next = next
      last = next
    }
    try realm.write { realm.add(head) }
    #expect(realm.objects(Numbered.self).count == 100_000)
    #expect(head.next?.next?.key == 2)
  }

  /// A number in so many lists.
  private static func nested(_ depth: Int) -> AnyRealmValue {
    (0..<depth).reduce(.int(1)) { value, _ in .fromArray([value]) }
  }

  @Test func `a value of any type lies in 99 lists and no more`() async throws {
    let realm = try specRealm([Everything.self])
    try realm.write {
      realm.create(Everything.self, value: ["key": "a", "value": Self.nested(99)])
    }
    var value = try #require(realm.objects(Everything.self).first).value
    for _ in 0..<99 { value = try #require(value.listValue?.first) }
    #expect(value == .int(1))
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try specRealm([Everything.self])
      try realm.write {
        _ = realm.create(Everything.self, value: ["key": "a", "value": LimitTests.nested(100)])
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("A value of any type is nested deeper than 100 levels."))
  }

  @Test func `a sum that does not fit into 64 bits stops, and says so`() async throws {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let realm = try specRealm([Numbered.self])
      try realm.write { for key in [Int.max, 1] { realm.create(Numbered.self, value: [key]) } }
      _ = realm.objects(Numbered.self).sum(of: \.key) as Int
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("The sum 9223372036854775808 does not fit into 64 bits."))
  }

  @Test func `a description shows a hundred elements`() throws {
    let realm = try specRealm([Everything.self])
    let object = try realm.write { () -> Everything in
      let object = realm.create(Everything.self, value: ["key": "a"])
      object.texts.append(objectsIn: (0..<150).map { "text \($0)" })
      return object
    }
    let text = object.texts.description
    #expect(text.contains("[99] text 99") && !text.contains("[100]"))
    #expect(text.contains("50 objects skipped"))
  }

  // MARK: Queries

  @Test func `a condition has ten thousand parts, and a hundred thousand values`() throws {
    let realm = try specRealm([Numbered.self])
    try realm.write {
      for key in [1, 99_999, 100_000] { realm.create(Numbered.self, value: [key]) }
    }
    let text = (90_000..<100_000).map { "key == \($0)" }.joined(separator: " OR ")
    #expect(try TextQuery(text).results(in: realm, ofType: "Numbered").count == 1)
    #expect(realm.objects(Numbered.self).where { $0.key.in(Array(0..<100_000)) }.count == 2)
  }

  @Test func `a path leads over two hundred links`() throws {
    let realm = try specRealm([Numbered.self])
    let head = Numbered(value: [0])
    var last = head
    for key in 1...199 {
      let next = Numbered(value: [key])
      last.next = next
      last = next
    }
    try realm.write { realm.add(head) }
    let path = String(repeating: "next.", count: 199) + "key"
    #expect(
      try TextQuery("\(path) == 199").results(in: realm, ofType: "Numbered").map {
        $0["key"] as? Int
      } == [0])
  }

  // MARK: Files

  @Test func `a file's name leaves room for those of the files beside it`() throws {
    let folder = try TemporaryFolder()
    func configuration(_ byteCount: Int) -> Realm.Configuration {
      Realm.Configuration(
        fileURL: folder.url(String(repeating: "n", count: byteCount)), objectTypes: [Numbered.self])
    }
    let realm = try Realm(configuration: configuration(246))
    try realm.write { _ = realm.create(Numbered.self, value: [1]) }
    #expect(realm.objects(Numbered.self).count == 1)
    let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration(247)) }
    #expect(error?.code == .fileAccess)
    #expect(error?.localizedDescription.contains("File name too long") == true)
  }

  @Test func `a series has 256 backups, and the next one is refused`() throws {
    let folder = try TemporaryFolder()
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString, objectTypes: [Numbered.self]))
    var last: URL?
    for index in 0..<256 {
      let next = folder.url("\(index).backup")
      try realm.backup(to: next, after: last)
      last = next
    }
    let error = #expect(throws: Realm.Error.self) {
      try realm.backup(to: folder.url("256.backup"), after: last)
    }
    #expect(
      error?.localizedDescription.contains(
        "no more backups that build on one another; the limit is 256")
        == true)
    try realm.backup(to: folder.url("anew.backup"))
  }

  // MARK: Notifications

  @Test @MainActor func `an observer looks over four links and no further`() async throws {
    let realm = try await Realm(configuration: specConfiguration([Numbered.self]))
    try realm.write {
      var next: Numbered?
      for key in (0..<7).reversed() {
        next = realm.create(Numbered.self, value: ["key": key, "next": next as Any])
      }
    }
    let (told, tell) = AsyncStream.makeStream(of: Void.self)
    var assigned: Int?
    var seen: [Int?] = []
    let first = realm.objects(Numbered.self).where { $0.key == 0 }.observe { _ in
      seen.append(assigned)
    }
    let all = realm.objects(Numbered.self).observe { _ in tell.yield() }
    for await _ in told {
      switch assigned {
      case nil: assigned = 5
      case 5: assigned = 4
      default:
        tell.finish()
        continue
      }
      try realm.write {
        let object = realm.object(ofType: Numbered.self, forPrimaryKey: assigned)
        object?.next = object?.next
      }
    }
    // First as it is, and then for the object that is four links away.
    #expect(seen == [nil, 4])
    withExtendedLifetime((first, all)) {}
  }
}
