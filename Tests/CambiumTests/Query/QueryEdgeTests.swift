import Cambium
import Foundation
import TestSupport
import Testing

/// An object with properties of many kinds.
private final class EdgeRow: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var text = ""
  @Persisted(indexed: true) var number = 0
  @Persisted var double = 0.0
  @Persisted var friends: List<EdgeRow>
  @Persisted var ints: List<Int>
  @Persisted var value: AnyRealmValue
  @Persisted var other: AnyRealmValue
  @Persisted var values: List<AnyRealmValue>
  @Persisted var valueMap: Map<String, AnyRealmValue>
  @Persisted var prices: Map<String, Int>
  @Persisted var kids: Map<String, EdgeRow?>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Queries at the edges of what values and collections can be.
@Suite struct QueryEdgeTests {
  private let realm: Realm

  init() throws { realm = try specRealm([EdgeRow.self]) }

  private var rows: Results<EdgeRow> { realm.objects(EdgeRow.self) }

  private func fill(_ values: [[String: Any]]) throws {
    try realm.write {
      for (id, value) in values.enumerated() {
        realm.create(EdgeRow.self, value: value.merging(["id": id]) { one, _ in one })
      }
    }
  }

  private func ids(_ format: String, _ argument: Any? = nil) -> [Int] {
    let found = argument.map { rows.filter(format, $0) } ?? rows.filter(format)
    return found.map(\.id).sorted()
  }

  @Test func `a sum in a condition that does not fit into 64 bits is a great number`() throws {
    try fill([["ints": [Int.max, 1]], ["ints": [Int.min, -1]], ["ints": [1, 2]]])
    #expect(ids("ints.@sum > 0") == [0, 2])
    #expect(ids("ints.@sum < 0") == [1])
    #expect(ids("ints.@sum == 3") == [2])
    #expect(rows.where { $0.ints.sum > 5 }.map(\.id) == [0])
    let plain = EdgeRow(value: ["ints": [Int.max, 1]])
    let list = List<EdgeRow>()
    list.append(plain)
    #expect(list.index(matching: "ints.@sum > 0") == 0)
  }

  @Test func `texts and data of any type are compared with each other as texts and data are`()
    throws
  {
    try fill([
      ["value": "abc", "other": "b"], ["value": "A", "other": "a"],
      ["value": "abc", "other": "a*"], ["value": 1, "other": "1"],
      ["value": Data([1, 2]), "other": Data([2])], ["value": "a", "other": Data("a".utf8)],
    ])
    #expect(ids("value CONTAINS other") == [0, 4])
    #expect(ids("value LIKE other") == [2])
    #expect(ids("value ==[c] other") == [1])
    #expect(ids("value !=[c] other") == [0, 2, 3, 4, 5])
    #expect(ids("value BEGINSWITH other") == [])
    #expect(ids("value ENDSWITH other") == [4])
  }

  @Test func `one of many values of any type is found as each alone`() throws {
    let date = Date(timeIntervalSince1970: 5)
    let uuid = UUID()
    let objectId = ObjectId.generate()
    let values: [Any] = [
      1, 2.5, "a", true, Data([7]), date, uuid, objectId, NSNull(), Decimal128(3), "B", 2,
    ]
    try fill(values.map { ["value": $0] })
    for (id, value) in values.enumerated() {
      let expected = ids("value == %@", value)
      #expect(expected == [id])
      #expect(ids("value IN %@", [value]) == expected)
      #expect(ids("value IN %@", ["none", value, 77]) == expected)
    }
    #expect(ids("value IN %@", values) == Array(values.indices))
    #expect(ids("value IN {}") == [])
    #expect(ids("value IN[c] %@", ["b", "A"]) == [2, 10])
    // Numbers compare by value, and texts with the data of their bytes.
    #expect(ids("value IN %@", [1.0, Decimal128(2), 3]) == [0, 9, 11])
    #expect(ids("NOT value IN %@", [1, "a"]).count == values.count - 2)
    try realm.write {
      rows[0].value = .object(rows[1])
      rows[2].value = .object(rows[2])
    }
    #expect(ids("value IN %@", [rows[1], rows[2]]) == [0, 2])
  }

  @Test func `nil is no object, and results stay as they are`() throws {
    try fill([[:], [:], [:]])
    try realm.write {
      for id in 0..<3 { rows[0].kids["\(id)"] = rows[id] }
    }
    let kids = rows[0].kids.sorted(byKeyPath: "id")
    #expect(kids.index(of: nil) == nil)
    #expect(kids.count == 3)
    #expect(kids.index(of: rows[2]) == 2)
    try realm.write { kids.setValue("y", forKey: "text") }
    #expect(kids.value(forKey: "text") as? [String] == ["y", "y", "y"])
  }

  @Test func `numbers that are none share a section`() throws {
    try fill([["double": Double.nan], ["double": 1.0], ["double": Double.nan]])
    let sections = rows.sectioned(by: \.double)
    #expect(sections.map(\.count).sorted() == [1, 2])
    let none = try #require(sections.first { $0.key.isNaN })
    #expect(!none.isInvalidated && none.map(\.id).sorted() == [0, 2])
  }

  @Test func `a path as an argument may begin with a variable`() throws {
    try fill([[:], [:], ["text": "x"]])
    try realm.write { rows[0].friends.append(objectsIn: [rows[1], rows[2]]) }
    #expect(ids("SUBQUERY(friends, $friend, %K == 2).@count == 1", "$friend.id") == [0])
    #expect(ids("SUBQUERY(friends, $friend, %K == 0).@count == 1", "$friend.id") == [])
  }

  @Test func `the first that matches is found wherever it is`() throws {
    try fill((0..<700).map { ["number": $0 % 300] })
    for number in [0, 1, 63, 64, 65, 200, 299] {
      #expect(rows.sorted(byKeyPath: "id").index(matching: "number == %@", number) == number)
    }
    #expect(rows.index(matching: "number == 300") == nil)
    #expect(rows.filter("id >= 650").index(matching: "number > 60") == 11)
    #expect(rows.filter("id < 0").index(matching: "number == 1") == nil)
  }

  @Test func `long alternatives are found through an index`() throws {
    try fill((0..<100).map { ["number": $0] })
    let condition = (0..<3_000).map { "number == \($0 * 2)" }.joined(separator: " OR ")
    #expect(rows.filter(condition).count == 50)
  }

  @Test func `keys of dictionaries may have any characters`() throws {
    try fill([["prices": ["me@home": 2]], ["prices": ["me@home": 1]]])
    #expect(rows.sorted(byKeyPath: "prices[me@home]").map(\.id) == [1, 0])
  }

  @Test func `the capital of the German sharp s is one`() throws {
    try fill([["text": "STRA\u{1E9E}E"], ["text": "straße"], ["text": "STRASSE"]])
    #expect(ids("text ==[c] 'STRA\u{1E9E}E'") == [0, 1, 2])
    #expect(ids("text ==[c] 'strasse'") == [0, 1, 2])
    #expect(ids("text LIKE[c] 'stra?e'") == [0, 1])
  }

  @Test func `text that subscripts a collection of any values is refused`() throws {
    try fill([["values": [1, 2]], ["valueMap": ["m": ["k": 1]]]])
    for text in ["values[0] == 1", "ANY values['k'] == 1"] {
      #expect(throws: (any Error).self) {
        _ = try TextQuery(text).results(in: realm, ofType: "EdgeRow").count
      }
    }
    #expect(ids("valueMap['m']['k'] == 1") == [1])
  }
}
