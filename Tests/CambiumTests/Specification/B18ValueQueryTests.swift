import Cambium
import Foundation
import Testing

/// Section B18: conditions on values, through both front ends.
@Suite struct B18ValueQueryTests {
  @Test func `numbers compare`() throws {
    let realm = try specQueryRealm()
    same(realm, "int == %@", [3], { $0.int == 3 }, { $0.int == 3 })
    same(realm, "int != 3", [], { $0.int != 3 }, { $0.int != 3 })
    same(realm, "int < -1", [], { $0.int < -1 }, { $0.int < -1 })
    same(realm, "int <= %d", [2], { $0.int <= 2 }, { $0.int <= 2 })
    same(realm, "int =< 2", [], nil, { $0.int <= 2 })
    same(realm, "5 < int", [], nil, { $0.int > 5 })
    same(realm, "int => %@", [5], { $0.int >= 5 }, { $0.int >= 5 })
    same(realm, "int <> 5", [], nil, { $0.int != 5 })
    same(realm, "int BETWEEN {0, 4}", [], { $0.int.contains(0...4) }, { (0...4).contains($0.int) })
    same(realm, "int BETWEEN %@", [[0, 4]], nil, { (0...4).contains($0.int) })
    same(
      realm, "int >= 0 AND int < 4", [], { $0.int.contains(0..<4) }, { (0..<4).contains($0.int) })
    same(realm, "int IN {1, 2, 99}", [], { $0.int.in([1, 2, 99]) }, { [1, 2].contains($0.int) })
    same(realm, "int IN %@", [[Int]()], { $0.int.in([]) }, { _ in false })
    same(realm, "double > 2.5", [], { $0.double > 2.5 }, { $0.double > 2.5 })
    same(realm, "double >= %@", [3], nil, { $0.double >= 3 })
    same(realm, "double == %f", [1.5], { $0.double == 1.5 }, { $0.double == 1.5 })
    same(realm, "decimal > '7'", [], { $0.decimal > 7 }, { $0.decimal > 7 })
    same(realm, "decimal == 7", [], { $0.decimal == 7 }, { $0.decimal == 7 })
    same(realm, "bool == YES", [], { $0.bool == true }, { $0.bool })
    same(realm, "bool == 0", [], { !$0.bool }, { !$0.bool })
  }

  @Test func `dates, data, enums and identifiers compare`() throws {
    let realm = try specQueryRealm()
    let five = Date(timeIntervalSince1970: 5)
    same(realm, "date < %@", [five], { $0.date < five }, { $0.date < five })
    same(realm, "date == %@", [five], { $0.date == five }, { $0.date == five })
    same(
      realm, "date BETWEEN {%@, %@}", [five, Date(timeIntervalSince1970: 8)],
      { $0.date.contains(five...Date(timeIntervalSince1970: 8)) },
      { $0.date >= five && $0.date.timeIntervalSince1970 <= 8 })
    let data = Data([3, 7])
    same(realm, "data == %@", [data], { $0.data == data }, { $0.data == data })
    same(realm, "data > %@", [data], { $0.data > data }, { $0.data.first! > 3 })
    same(
      realm, "data ENDSWITH %@", [Data([7])], { $0.data.ends(with: Data([7])) }, { _ in true })
    same(realm, "color == %@", ["red"], { $0.color == .red }, { $0.color == .red })
    same(realm, "color == %@", [SpecColor.red], nil, { $0.color == .red })
    same(realm, "level > %@", [1], { $0.level.rawValue > 1 }, { $0.level != .low })
    same(realm, "level IN {1, 9}", [], { $0.level.in([.low, .high]) }, { $0.level != .mid })
    let some = try #require(realm.objects(SpecValues.self).first)
    let id = some.objectId
    let uuid = some.uuid
    same(realm, "objectId == %@", [id], { $0.objectId == id }, { $0.objectId == id })
    same(realm, "uuid == %@", [uuid], { $0.uuid == uuid }, { $0.uuid == uuid })
    same(realm, "uuid == %@", [uuid.uuidString], nil, { $0.uuid == uuid })
    same(realm, "uuid != %@", [uuid], { $0.uuid != uuid }, { $0.uuid != uuid })
    same(realm, "uuid IN %@", [[uuid]], { $0.uuid.in([uuid]) }, { $0.uuid == uuid })
  }

  @Test func `null compares as documented`() throws {
    let realm = try specQueryRealm()
    same(realm, "intO == nil", [], { $0.intO == nil }, { $0.intO == nil })
    same(realm, "intO != NULL", [], { $0.intO != nil }, { $0.intO != nil })
    same(realm, "intO != 4", [], { $0.intO != 4 }, { $0.intO != 4 })
    same(realm, "intO < 6", [], { $0.intO < 6 }, { $0.intO.map { $0 < 6 } ?? false })
    same(realm, "intO >= 6", [], { $0.intO >= 6 }, { $0.intO.map { $0 >= 6 } ?? false })
    same(realm, "intO <= nil", [], { $0.intO <= nil }, { $0.intO == nil })
    same(realm, "intO >= nil", [], { $0.intO >= nil }, { $0.intO == nil })
    same(realm, "intO < nil", [], { $0.intO < nil }, { _ in false })
    same(realm, "intO > nil", [], { $0.intO > nil }, { _ in false })
    same(
      realm, "intO IN %@", [[1, nil] as [Int?]], { $0.intO.in([1, nil]) },
      { $0.intO == nil || $0.intO == 1 })
    same(
      realm, "stringO == %@", [String?.none as Any], { $0.stringO == nil }, { $0.stringO == nil })
    same(realm, "stringO != 'Bob'", [], { $0.stringO != "Bob" }, { $0.stringO != "Bob" })
    same(realm, "boolO != true", [], { $0.boolO != true }, { $0.boolO != true })
    same(realm, "colorO == nil", [], { $0.colorO == nil }, { $0.colorO == nil })
    same(
      realm, "dateO == nil OR doubleO > 4", [], nil,
      {
        $0.dateO == nil || ($0.doubleO ?? 0) > 4
      })
    same(
      realm, "intO BETWEEN {2, 7}", [], { $0.intO.contains(2...7) },
      { $0.intO.map { (2...7).contains($0) } ?? false })
  }

  @Test func `logic follows precedence`() throws {
    let realm = try specQueryRealm()
    same(
      realm, "int < 0 OR int > 5 AND bool == true", [], nil, { $0.int < 0 || $0.int > 5 && $0.bool }
    )
    same(
      realm, "NOT int < 0 AND bool == true", [], { !($0.int < 0) && $0.bool },
      { $0.int >= 0 && $0.bool })
    same(
      realm, "(int < 0 || int > 5) && !(bool == true)", [],
      {
        ($0.int < 0 || $0.int > 5) && !$0.bool
      }, { ($0.int < 0 || $0.int > 5) && !$0.bool })
    same(
      realm, "NOT (int == 1 OR int == 2)", [], { !($0.int == 1 || $0.int == 2) },
      {
        $0.int != 1 && $0.int != 2
      })
    same(realm, "not int == 1 and not bool == yes", [], nil, { $0.int != 1 && !$0.bool })
    same(realm, "TRUEPREDICATE", [], nil, { _ in true })
    same(realm, "FALSEPREDICATE", [], nil, { _ in false })
    same(realm, "TRUEPREDICATE AND int == 3", [], nil, { $0.int == 3 })
    same(realm, "NOT TRUEPREDICATE", [], nil, { _ in false })
    same(realm, "%K == %@", ["int", 3], nil, { $0.int == 3 })
  }

  @Test func `columns compare with columns of their type`() throws {
    let realm = try specQueryRealm()
    same(realm, "string == stringO", [], nil, { $0.stringO != nil && $0.string == $0.stringO })
    same(realm, "date <= dateO", [], nil, { $0.dateO != nil })
    same(realm, "bool != boolO", [], nil, { $0.boolO == nil })
    same(realm, "label != string", [], { $0.label != $0.string }, { _ in true })
    same(realm, "int < intO", [], nil, { $0.intO != nil })
    same(realm, "string CONTAINS stringO", [], nil, { !($0.stringO ?? "").isEmpty })
  }

  @Test func `collections compare by any element, by none and by aggregate`() throws {
    let realm = try specQueryRealm()
    same(realm, "ANY ints == 1", [], { $0.ints == 1 }, { $0.ints.contains(1) })
    same(realm, "SOME ints > 1", [], { $0.ints > 1 }, { $0.ints.contains { $0 > 1 } })
    same(realm, "ANY ints != 0", [], { $0.ints != 0 }, { $0.ints.contains { $0 != 0 } })
    same(realm, "NONE ints == 0", [], { !($0.ints == 0) }, { !$0.ints.contains(0) })
    same(realm, "2 IN ints", [], { $0.ints.contains(2) }, { $0.ints.contains(2) })
    same(
      realm, "%@ IN strings", ["s2"], { $0.strings.contains("s2") }, { $0.strings.contains("s2") })
    same(
      realm, "ANY strings IN %@", [["s1", "s3"]], { $0.strings.containsAny(in: ["s1", "s3"]) },
      {
        $0.strings.contains("s1") || $0.strings.contains("s3")
      })
    same(realm, "ANY strings BEGINSWITH 's'", [], nil, { _ in true })
    same(realm, "ints.@count == 2", [], { $0.ints.count == 2 }, { $0.ints.count == 2 })
    same(
      realm, "ints.@count > 0 AND ints.@sum < 3", [], { $0.ints.count > 0 && $0.ints.sum < 3 },
      {
        !$0.ints.isEmpty && $0.ints.sum() < 3
      })
    same(realm, "ints.@min == 0", [], { $0.ints.min == 0 }, { !$0.ints.isEmpty })
    same(realm, "ints.@min == nil", [], nil, { $0.ints.isEmpty })
    same(realm, "ints.@max < 2", [], { $0.ints.max < 2 }, { ($0.ints.max() ?? 9) < 2 })
    same(realm, "ints.@avg == 0.5", [], nil, { $0.ints.count == 2 })
    same(realm, "ints.@sum == 0", [], { $0.ints.sum == 0 }, { $0.ints.sum() == 0 })
    same(realm, "ints.@count == 0", [], { $0.ints.count == 0 }, { $0.ints.isEmpty })
    same(
      realm, "ints.@min >= 0 AND ints.@max <= 1", [], { $0.ints.contains(0...1) },
      {
        !$0.ints.isEmpty && $0.ints.allSatisfy { (0...1).contains($0) }
      })
  }
}
