import Cambium
import Foundation
import TestSupport
import Testing

extension SpecFile {
  /// Runs `body` in a transaction.
  fileprivate func withEmptyMaps(_ body: (Realm) throws -> Void) throws {
    let realm = try Realm(configuration: configuration)
    try realm.write { try body(realm) }
  }

  /// Runs `body` in a transaction with a managed object.
  fileprivate func withManagedMaps(_ body: (SpecMaps) throws -> Void) throws {
    try withEmptyMaps { realm in try body(realm.create(SpecMaps.self)) }
    try expectSound()
  }

  /// Runs `body` with a map of two members, by names of properties.
  fileprivate func withDynamicMap(_ body: (Map<String, DynamicObject?>) throws -> Void) throws {
    let realm = try Realm(configuration: configuration)
    try realm.write {
      let maps = SpecMaps()
      maps.members["x"] = SpecMapMember("Bob", 5)
      maps.members["y"] = SpecMapMember("Ann", 3)
      realm.add(maps)
    }
    try body(#require(realm.dynamicObjects("SpecMaps").first).dynamicMap("members"))
  }
}

/// Section B14: queries, orders and aggregates of maps.
@Suite struct B14MapQueryTests {
  private let file: SpecFile

  init() throws { file = try SpecFile(B14MapTests.types) }

  @Test func `queries look into maps`() throws {
    try file.withManagedMaps { maps in
      let realm = try #require(maps.realm)
      let ann = SpecMapMember("Ann", 40)
      for id in 1...4 {
        let made = realm.create(SpecMaps.self, value: ["id": id])
        made.ints["n"] = id
        if id > 2 { made.ints["extra"] = -id }
        made.strings["k\(id)"] = "text \(id)"
        made.intOs["o"] = id == 1 ? .some(nil) : id
        made.members["m"] = id == 3 ? .some(nil) : SpecMapMember("M\(id)", id)
        if id == 4 { made.members["ann"] = ann }
      }
      let all = realm.objects(SpecMaps.self)
      func ids(_ results: Results<SpecMaps>) -> [Int] { results.map(\.id).sorted() }
      func check(
        _ expected: [Int], _ format: String, _ arguments: [Any] = [],
        _ typed: ((Query<SpecMaps>) -> Query<Bool>)? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
      ) {
        let found: Results<SpecMaps>
        switch arguments.count {
        case 0: found = all.filter(format)
        case 1: found = all.filter(format, arguments[0])
        default: found = all.filter(format, arguments[0], arguments[1])
        }
        #expect(ids(found) == expected, sourceLocation: sourceLocation)
        if let typed { #expect(ids(all.where(typed)) == expected, sourceLocation: sourceLocation) }
      }
      check([3], "ints['n'] == 3") { $0.ints["n"] == 3 }
      check([2, 3, 4], "ints['n'] >= 2") { $0.ints["n"] >= 2 }
      check([0], "ints['n'] == nil")
      check([0, 1], "intOs['o'] == nil") { $0.intOs["o"] == nil }
      check([0, 1, 2, 3], "ints[%@] != %@", ["extra", -4]) { $0.ints["extra"] != -4 }
      check([2], "strings['k2'] BEGINSWITH 'text'") { $0.strings["k2"].starts(with: "text") }
      check([4], "ANY ints.@allValues == -4") { $0.ints.values == -4 }
      check([4], "ANY ints == -4") { $0.ints == -4 }
      check([3], "ANY members == nil")
      check([3], "ANY members.@allValues == nil")
      check([0, 1, 2, 4], "NONE members == nil")
      check([1, 2, 4], "ANY members != nil")
      check([4], "ANY members == %@", [ann])
      check([1, 2, 3, 4], "ANY members != %@", [ann])
      check([0, 1, 2, 3], "NONE members == %@", [ann])
      check([4], "ANY members IN %@", [[ann]])
      check([1, 2, 3, 4], "ANY ints > 0") { $0.ints > 0 }
      check([3], "ANY strings.@allKeys == 'k3'") { $0.strings.keys == "k3" }
      check([1, 2, 3, 4], "ANY strings.@allKeys BEGINSWITH 'k'") {
        $0.strings.keys.starts(with: "k")
      }
      check([0, 1, 2], "ints.@count < 2") { $0.ints.count < 2 }
      check([3, 4], "ints.@min < 0") { $0.ints.min < 0 }
      check([3, 4], "ints.@sum == 0 AND ints.@count > 0") { $0.ints.sum == 0 && $0.ints.count > 0 }
      check([2], "%@ IN ints", [2]) { $0.ints.contains(2) }
      check([1, 2], "ANY ints IN {1, 2}") { $0.ints.containsAny(in: [1, 2]) }
      check([1, 2], "ints.@min >= 1 AND ints.@max <= 2") { $0.ints.contains(1...2) }
      check([2], "members['m'].age == 2") { $0.members["m"].age == 2 }
      check([0, 3], "members['m'].name == nil")
      check([0, 3], "members['m'] == nil")
      check([4], "members['ann'] == %@", [ann])
      check([4], "ANY members.name == 'Ann'") { $0.members.name == "Ann" }
      check([4], "ANY members == %@", [ann])
      check([4], "members.@max.age == 40")
      check([4], "SUBQUERY(members, $m, $m.age > 30).@count > 0")
      check([2], "members['m'].age == ints['n'] AND id == 2")
      #expect(realm.objects(SpecMapMember.self).where { $0.owners.id == 4 }.count == 2)
      let (text, values) = Query<SpecMaps>._constructForTesting().ints["n"]._constructPredicate(3)
      #expect(text == "(ints[%@] == %@)" && values.count == 2)
    }
  }

  @Test func `a map's values are filtered, sorted and added up`() throws {
    try file.withManagedMaps { maps in
      for (key, name, age) in [("x", "Cid", 3), ("y", "Ann", 5), ("z", "Bob", 4)] {
        maps.members[key] = SpecMapMember(name, age)
      }
      maps.members["null"] = .some(nil)
      #expect(maps.members.sorted(byKeyPath: "name").map { $0?.name } == ["Ann", "Bob", "Cid"])
      #expect(maps.members.sorted(by: \.age, ascending: false).first??.name == "Ann")
      #expect(maps.members.filter("age > 3").count == 2)
      #expect(maps.members.where { $0.name == "Bob" }.first??.age == 4)
      #expect(maps.members.sum(of: \.age) == 12 && maps.members.max(ofProperty: "age") == 5)
      maps.ints.merge([("a", 3), ("b", 1), ("c", 2)].map { (key: $0.0, value: $0.1) }) { $1 }
      #expect(Array(maps.ints.sorted()) == [1, 2, 3])
      #expect(Array(maps.ints.sorted(ascending: false)) == [3, 2, 1])
    }
  }

  @Test func `objects are sorted and told apart by the value of a key`() throws {
    try file.withEmptyMaps { realm in
      var expected: [(id: Int, rank: Int?)] = []
      for id in 0..<40 {
        let made = realm.create(SpecMaps.self, value: ["id": id])
        let rank = id % 4 == 0 ? nil : id * 7 % 11
        if let rank { made.ints["rank"] = rank }
        if id % 2 == 0 { made.intOs["o"] = .some(nil) } else { made.intOs["o"] = id % 3 }
        made.strings["s"] = String(repeating: "x", count: id * 7 % 13) + "end"
        expected.append((id, rank))
      }
      let all = realm.objects(SpecMaps.self)
      let ascending = expected.sorted { ($0.rank ?? -1, $0.id) < ($1.rank ?? -1, $1.id) }
      #expect(all.sorted(byKeyPath: "ints[rank]").map(\.id) == ascending.map(\.id))
      let descending = expected.sorted { ($1.rank ?? -1, $0.id) < ($0.rank ?? -1, $1.id) }
      #expect(
        all.sorted(byKeyPath: "ints[rank]", ascending: false).map(\.id) == descending.map(\.id))
      #expect(
        all.sorted(by: [SortDescriptor(keyPath: "strings[s]"), "id"]).first?.id == 0)
      #expect(all.distinct(by: ["ints[rank]"]).count == 12)
      #expect(all.distinct(by: ["intOs[o]"]).count == 4)
      let live = all.where { $0.id < 6 }.sorted(byKeyPath: "ints[rank]", ascending: false)
      #expect(
        live.map(\.id)
          == [1, 5, 2, 3, 0, 4].sorted { left, right in
            let (a, b) = (expected[left].rank ?? -1, expected[right].rank ?? -1)
            return a == b ? left < right : a > b
          })
      realm.object(ofType: SpecMaps.self, forPrimaryKey: 4)?.ints["rank"] = 100
      #expect(live.first?.id == 4)
    }
  }

  @Test func `observers of objects in the order of a key's values are told places`() async throws {
    let desk = try Desk(specConfiguration(B14MapTests.types))
    desk.run { realm in
      realm.beginWrite()
      for (id, rank) in [1000, -5, 20, 300].enumerated() {
        realm.create(SpecMaps.self, value: ["id": id, "ints": ["rank": rank]])
      }
      #expect(throws: Never.self) { try realm.commitWrite() }
      desk.tokens = [
        realm.objects(SpecMaps.self).sorted(byKeyPath: "ints[rank]")
          .observe { [unowned desk] change in desk.note(change) }
      ]
    }
    #expect(await desk.next() == "initial 4")
    desk.run { realm in
      realm.beginWrite()
      realm.object(ofType: SpecMaps.self, forPrimaryKey: 0)?.ints["rank"] = 10
      #expect(throws: Never.self) { try realm.commitWrite() }
    }
    #expect(await desk.next() == "-[3] +[1] ~[]")
  }

  @Test func `a dynamic map's values are filtered and sorted`() throws {
    try file.withDynamicMap { map in
      #expect(map.sorted(byKeyPath: "name").map { $0?["name"] as? String } == ["Ann", "Bob"])
      #expect(map.filter("age > 3").first??["name"] as? String == "Bob")
      #expect(map.sorted(byKeyPath: "age", ascending: false).first??.realm == map.realm)
    }
  }
}

extension Query {
  /// The text of the path compared with a value.
  fileprivate func _constructPredicate(_ value: T) -> (String, [Any]) {
    (self == value)._constructPredicate()
  }
}
