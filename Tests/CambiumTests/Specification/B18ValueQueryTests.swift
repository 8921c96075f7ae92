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

  @Test func `every ordered type compares with null as documented`() throws {
    let realm = try specQueryRealm()
    for name in [
      "intO", "int8O", "floatO", "doubleO", "decimalO", "stringO", "dataO", "dateO", "colorO",
      "levelO",
    ] {
      let all = realm.objects(SpecValues.self)
      func labels(_ format: String) -> [String] { Array(all.filter(format, name).map(\.label)) }
      let nulls = labels("%K == nil")
      #expect(!nulls.isEmpty)
      #expect(labels("%K <= nil") == nulls, "\(name)")
      #expect(labels("%K >= nil") == nulls, "\(name)")
      #expect(labels("nil <= %K") == nulls, "\(name)")
      #expect(all.filter("%K < nil", name).isEmpty, "\(name)")
      #expect(all.filter("nil < %K", name).isEmpty, "\(name)")
    }
    same(realm, "stringO >= nil", [], { $0.stringO >= nil }, { $0.stringO == nil })
    same(realm, "stringO > nil", [], { $0.stringO > nil }, { _ in false })
    same(realm, "dataO >= nil", [], { $0.dataO >= nil }, { $0.dataO == nil })
    same(realm, "decimalO <= nil", [], { $0.decimalO <= nil }, { $0.decimalO == nil })
    same(realm, "dateO >= nil", [], { $0.dateO >= nil }, { $0.dateO == nil })
    same(realm, "colorO >= nil", [], { $0.colorO >= nil }, { $0.colorO == nil })
    same(realm, "levelO < nil", [], { $0.levelO < nil }, { _ in false })
    same(realm, "ints.@min >= nil", [], nil, { $0.ints.isEmpty })
  }

  @Test func `a range asks for all elements of a list`() throws {
    let realm = try specRealm()
    func day(_ number: Int) -> Date { Date(timeIntervalSince1970: Double(number) * 86_400) }
    try realm.write {
      for numbers in [[], [1], [1, 5], [0, 3], [3, 6], [2, 9, 3]] {
        let object = realm.create(SpecValues.self, value: ["label": "\(numbers)"])
        object.ints.append(objectsIn: numbers)
        object.intsO.append(objectsIn: numbers + [nil])
        object.doubles.append(objectsIn: numbers.map { Double($0) })
        object.decimals.append(objectsIn: numbers.map { Decimal128(value: $0) })
        object.dates.append(objectsIn: numbers.map(day))
        object.levelsO.append(objectsIn: numbers.map { SpecLevel(rawValue: $0) })
      }
    }
    func expect(
      _ typed: SpecCondition<SpecValues>, _ isIncluded: (SpecValues) -> Bool,
      _ location: SourceLocation = #_sourceLocation
    ) {
      let all = realm.objects(SpecValues.self)
      let (text, arguments) = typed(Query._constructForTesting())._constructPredicate()
      let expected = Array(all).filter(isIncluded).map(\.label)
      #expect(Array(all.where(typed)).map(\.label) == expected, sourceLocation: location)
      let found = all.filter(text, arguments[0], arguments[1])
      #expect(Array(found).map(\.label) == expected, sourceLocation: location)
    }
    func all<Element>(_ list: List<Element>, _ isIncluded: (Element) -> Bool) -> Bool {
      !list.isEmpty && list.allSatisfy(isIncluded)
    }
    expect({ $0.ints.contains(1...5) }) { all($0.ints) { (1...5).contains($0) } }
    expect({ $0.ints.contains(1..<5) }) { all($0.ints) { (1..<5).contains($0) } }
    expect({ $0.intsO.contains(1...5) }) { object in
      !object.ints.isEmpty && object.intsO.allSatisfy { $0.map { (1...5).contains($0) } ?? true }
    }
    expect({ $0.doubles.contains(1...5) }) { all($0.doubles) { (1...5).contains($0) } }
    expect({ $0.decimals.contains(1..<5) }) { all($0.decimals) { (1..<5).contains($0) } }
    expect({ $0.dates.contains(day(1)...day(5)) }) {
      all($0.dates) { (day(1)...day(5)).contains($0) }
    }
    expect({ $0.levelsO.contains(.low ... .mid) }) { object in
      let levels = object.levelsO.compactMap { $0 }
      return !levels.isEmpty && levels.allSatisfy { (.low ... .mid).contains($0) }
    }
    let colors = realm.objects(SpecValues.self)
    try realm.write { colors[1].colors.append(objectsIn: [.red, .green]) }
    #expect(colors.where { $0.colors.rawValue.contains("red") }.count == 1)
  }

  @Test func `a range with a bound that is no number holds nothing`() throws {
    let realm = try specQueryRealm()
    for bounds in [[Double.nan, 5], [-10, .nan], [.nan, .nan]] {
      same(realm, "double BETWEEN {%@, %@}", bounds, nil, { _ in false })
      same(realm, "float BETWEEN %@", [bounds], nil, { _ in false })
      same(realm, "NOT doubleO BETWEEN %@", [bounds], nil, { _ in true })
    }
    same(realm, "double != %@", [Double.nan], { $0.double != .nan }, { _ in true })
    same(realm, "double < %@", [-Double.infinity], { $0.double < -.infinity }, { _ in false })
    same(realm, "double IN %@", [[Double.nan, 2]], nil, { $0.double == 2 })
  }
}
