import Cambium
import Foundation
import TestSupport
import Testing

private final class Walker: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted(indexed: true) var age: Int
  @Persisted var name: String
  @Persisted var team: String?
  @Persisted var dog: WalkerDog?
  @Persisted var marks: Map<String, Int>
}

private final class WalkerDog: Object {
  @Persisted var name: String
  @Persisted(originProperty: "dog") var walkers: LinkingObjects<Walker>
}

/// Queries that come as text from outside of the program, over a database that describes its classes itself.
struct TextQueryTests {
  private func database() throws -> (TemporaryFolder, Realm.Configuration) {
    let folder = try TemporaryFolder()
    var configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: folder.file("walkers.realm")), schemaVersion: 7,
      objectTypes: [Walker.self, WalkerDog.self])
    configuration.durability = .relaxed
    let realm = try Realm(configuration: configuration)
    try realm.write {
      let dogs = ["Ace", "Bo"].map { realm.create(WalkerDog.self, value: ["name": $0]) }
      for id in 0..<400 {
        realm.create(
          Walker.self,
          value: [
            "id": id, "age": id % 97, "name": "walker \(id % 50)",
            "team": id % 3 == 0 ? nil : "t\(id % 4)",
            "dog": id % 5 == 0 ? nil : dogs[id % 2], "marks": ["maths": id % 6],
          ] as [String: Any?])
      }
    }
    realm.invalidate()
    configuration.objectTypes = nil
    configuration.schemaVersion = 0
    configuration.usesStoredClasses = true
    return (folder, configuration)
  }

  private func ids(_ text: String, in realm: Realm) throws -> [Int] {
    let query = try TextQuery(text)
    let results = try query.results(in: realm, ofType: "Walker")
    return results.prefix(query.limit ?? .max).map { $0["id"] as? Int ?? -1 }
  }

  @Test func `a database opens with the classes that it describes itself`() throws {
    let (folder, configuration) = try database()
    let realm = try Realm(configuration: configuration)
    #expect(realm.schema.objectSchema.map(\.className) == ["Walker", "WalkerDog"])
    #expect(realm.configuration.schemaVersion == 7)
    #expect(realm.dynamicObjects("Walker").count == 400)
    let first = try #require(realm.dynamicObject(ofType: "Walker", forPrimaryKey: 3))
    #expect(first["name"] as? String == "walker 3")
    #expect((first["dog"] as? DynamicObject)?["name"] as? String == "Bo")
    try realm.write { first["name"] = "changed" }
    #expect(try ids("name = 'changed'", in: realm) == [3])
    // The program's own classes read what was written.
    realm.invalidate()
    var own = configuration
    own.usesStoredClasses = false
    own.schemaVersion = 7
    own.objectTypes = [Walker.self, WalkerDog.self]
    let typed = try Realm(configuration: own)
    #expect(typed.object(ofType: Walker.self, forPrimaryKey: 3)?.name == "changed")
    withExtendedLifetime(folder) {}
  }

  @Test func `a Realm with the stored classes and one with the program's are open side by side`()
    throws
  {
    let (folder, configuration) = try database()
    var own = configuration
    own.usesStoredClasses = false
    own.schemaVersion = 7
    own.objectTypes = [Walker.self, WalkerDog.self]
    let typed = try Realm(configuration: own)
    let stored = try Realm(configuration: configuration)
    try typed.write { typed.object(ofType: Walker.self, forPrimaryKey: 1)?.age = 1_000 }
    stored.refresh()
    #expect(try ids("age = 1000", in: stored) == [1])
    #expect(try Realm(configuration: configuration) == stored)
    withExtendedLifetime(folder) {}
  }

  @Test
  func `a file that holds no classes has none, and one that is only read must have been filled`()
    throws
  {
    let folder = try TemporaryFolder()
    var configuration = Realm.Configuration(
      fileURL: URL(fileURLWithPath: folder.file("empty.realm")))
    configuration.usesStoredClasses = true
    #expect(try Realm(configuration: configuration).schema.objectSchema.isEmpty)
    configuration.fileURL = URL(fileURLWithPath: folder.file("missing.realm"))
    configuration.readOnly = true
    #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
  }

  @Test func `conditions, order, distinct and limit are applied in the order of the grammar`()
    throws
  {
    let (folder, configuration) = try database()
    let realm = try Realm(configuration: configuration)
    let all = realm.dynamicObjects("Walker")
    #expect(try ids("", in: realm) == Array(0..<400))
    #expect(
      try ids("age > 90 AND team != nil", in: realm)
        == (0..<400).filter { $0 % 97 > 90 && $0 % 3 != 0 })
    let sorted = (0..<400).sorted { ($1 % 97, $0) < ($0 % 97, $1) }
    #expect(try ids("SORT(age DESC)", in: realm) == sorted)
    #expect(try ids("sort(age descending) limit(3)", in: realm) == Array(sorted.prefix(3)))
    #expect(try ids("TRUEPREDICATE SORT(age DESC, id ASC) LIMIT(0)", in: realm) == [])
    #expect(try ids("DISTINCT(name) LIMIT(10)", in: realm) == Array(0..<10))
    // The first of each name in the order by age, not in that of the keys.
    let byAge = (0..<400).sorted { ($0 % 97, $0) < ($1 % 97, $1) }
    var seen: Set<Int> = []
    #expect(
      try ids("SORT(age ASC) DISTINCT(name)", in: realm)
        == byAge.filter { seen.insert($0 % 50).inserted })
    #expect(
      try ids("dog.name = 'Ace' SORT(dog.name, marks['maths'] DESC) LIMIT(1)", in: realm) == [4])
    #expect(try ids("marks['maths'] = 5 LIMIT(2)", in: realm) == [5, 11])
    #expect(all.count == 400)
    withExtendedLifetime(folder) {}
  }

  @Test func `words of clauses may be names of properties`() throws {
    let query = try TextQuery("sort > 3 AND limit = 4 SORT(distinct) LIMIT(7)")
    #expect(query.limit == 7)
  }

  @Test(arguments: [
    ("age >", 5, "expected a property or a value"), ("age > 3 SORT name", 13, "expected '('"),
    ("age > 3 LIMIT(2) SORT(age)", 17, "nothing may follow LIMIT"),
    ("age > 3 LIMIT(x)", 14, "expected a number"), ("age > 3 TAKE(3)", 8, "unexpected 'TAKE'"),
    ("SORT(marks.@count)", 5, "cannot be arranged"), ("SORT()", 5, "expected a property"),
    ("(age > 3", 8, "expected ')'"),
    ("age > %@", 6, "fewer arguments"), ("'é' = name SORT(", 17, "expected a property"),
  ])
  func `mistakes in the grammar name their place`(text: String, offset: Int, reason: String) {
    let error = #expect(throws: QueryError.self) { _ = try TextQuery(text) }
    #expect(error?.offset == offset, "\(error?.description ?? "")")
    if reason != "expected a property or a value" {
      #expect(
        error?.message.localizedCaseInsensitiveContains(reason) ?? false, "\(error?.message ?? "")")
    }
  }

  @Test(arguments: [
    ("age > 3 AND agee = 4", 12), ("name > 3 OR age = 3", 0), ("age = 1 SORT(nme)", 13),
    ("DISTINCT(team, dog)", 15), ("age = 1 OR SUBQUERY(dog, $x, $x.agee = 3).@count > 0", 11),
    ("age = 1 AND NONE marks.@allKeys > 4", 12),
  ])
  func `names that do not fit the schema are told with their place`(text: String, offset: Int)
    throws
  {
    let (folder, configuration) = try database()
    let realm = try Realm(configuration: configuration)
    let error = #expect(throws: QueryError.self) { try ids(text, in: realm) }
    #expect(error?.offset == offset, "\(error?.description ?? "")")
    #expect(throws: QueryError.self) { try TextQuery("").results(in: realm, ofType: "Nobody") }
    withExtendedLifetime(folder) {}
  }

  @Test func `no text stops the program`() throws {
    let (folder, configuration) = try database()
    let realm = try Realm(configuration: configuration)
    var generator = SeededGenerator(seed: 20_260)
    let words = [
      "age", "name", "team", "dog", "marks", "SORT", "DISTINCT", "LIMIT", "(", ")", ",", ">", "=",
      "IN", "{", "}",
      "[", "]", "'a'", "3", "9223372036854775807", "99999999999999999999", "-", "@count", ".",
      "AND", "NOT",
      "SUBQUERY", "$x", "nil", "ANY", "BETWEEN", "\u{0}", "é", "#", "%", "LIKE", "[c]", "geoWithin",
    ]
    for _ in 0..<3_000 {
      let text = (0..<Int.random(in: 1...9, using: &generator))
        .map { _ in words.randomElement(using: &generator) ?? "" }.joined(separator: " ")
      do {
        _ = try ids(text, in: realm)
      } catch is QueryError {}
    }
    #expect(throws: QueryError.self) {
      _ = try TextQuery(String(repeating: "(", count: 100_000))
    }
    withExtendedLifetime(folder) {}
  }

  @Test func `an explanation tells whether an index is used`() throws {
    let (folder, configuration) = try database()
    let realm = try Realm(configuration: configuration)
    func access(_ text: String) throws -> QueryExplanation? {
      try TextQuery(text).results(in: realm, ofType: "Walker").explanation()
    }
    #expect(try access("")?.access == .all)
    #expect(try access("age = 5 AND name != 'x'")?.access == .index(["Walker.age"], atMost: 5))
    #expect(try access("id IN {3, 4}")?.access == .index(["primary key"], atMost: 2))
    #expect(try access("name = 'walker 3'")?.access == .scan)
    #expect(try access("age > 3")?.access == .scan)
    #expect(try access("age > 3 AND age < 3")?.access == .index([], atMost: 0))
    #expect(try access("dog.name = 'Ace'")?.access == .scan)
    let arranged = try #require(
      try access("age = 5 SORT(id, dog.name DESC, marks['maths']) DISTINCT(team)"))
    #expect(
      arranged.description == """
        Walker.age: at most 5 of 400 objects of Walker, each tested
        sorted by id ASC, dog.name DESC, marks['maths'] ASC
        the first of each team
        """)
    withExtendedLifetime(folder) {}
  }
}
