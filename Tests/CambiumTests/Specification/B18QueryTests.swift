import Cambium
import Foundation
import Testing

/// Section B18: queries through both front ends.
@Suite struct B18QueryTests {
  typealias Condition<T> = (Query<T>) -> Query<Bool>

  private func text<T: Object>(_ type: T.Type, _ condition: Condition<T>) -> String {
    condition(Query<T>._constructForTesting())._constructPredicate().0
  }

  @Test func `typed conditions have the documented text`() {
    func values(_ condition: Condition<SpecValues>) -> String { text(SpecValues.self, condition) }
    func person(_ condition: Condition<SpecPerson>) -> String { text(SpecPerson.self, condition) }
    #expect(values { $0.int == 5 } == "(int == %@)")
    #expect(values { $0.label == $0.string } == "(label == string)")
    #expect(values { $0.stringO == nil } == "(stringO == %@)")
    #expect(values { $0.bool } == "bool == true")
    #expect(values { !$0.bool } == "bool == false")
    #expect(values { $0.bool && $0.int > 1 } == "(bool == true && (int > %@))")
    #expect(values { $0.int < 1 || $0.int != 2 } == "((int < %@) || (int != %@))")
    #expect(values { !($0.int == 1) } == "NOT (int == %@)")
    #expect(values { $0.int.contains(1...5) } == "(int BETWEEN {%@, %@})")
    #expect(values { $0.int.contains(1..<5) } == "((int >= %@) && (int < %@))")
    #expect(values { $0.int.in([1, 2]) } == "(int IN %@)")
    #expect(
      values { $0.string.contains("x", options: [.caseInsensitive, .diacriticInsensitive]) }
        == "(string CONTAINS[cd] %@)")
    #expect(values { $0.string.starts(with: "x") } == "(string BEGINSWITH %@)")
    #expect(
      values { $0.string.ends(with: "x", options: .caseInsensitive) } == "(string ENDSWITH[c] %@)")
    #expect(values { $0.string.like("x*", caseInsensitive: true) } == "(string LIKE[c] %@)")
    #expect(values { $0.string.equals("x", options: .diacriticInsensitive) } == "(string ==[d] %@)")
    #expect(values { $0.string.notEquals("x", options: .caseInsensitive) } == "(string !=[c] %@)")
    #expect(person { $0.favorite.name == "x" } == "(favorite.name == %@)")
    #expect(person { $0.dogs.name == "x" } == "(ANY dogs.name == %@)")
    #expect(values { $0.ints.contains(5) } == "(%@ IN ints)")
    #expect(values { $0.ints.containsAny(in: [1, 2]) } == "(ANY ints IN %@)")
    #expect(values { $0.ints.contains(1...5) } == "((ints.@min >= %@) && (ints.@max <= %@))")
    #expect(values { $0.ints.count > 1 } == "(ints.@count > %@)")
    #expect(values { $0.ints.min == 1 } == "(ints.@min == %@)")
    #expect(values { $0.ints.sum == 1 } == "(ints.@sum == %@)")
    #expect(person { $0.dogs.age.min == 1 } == "(dogs.@min.age == %@)")
    #expect(
      person { ($0.dogs.age > 3 && $0.dogs.name == "x").count >= 1 }
        == "(SUBQUERY(dogs, $col1, (($col1.age > %@) && ($col1.name == %@))).@count >= %@)")
    #expect(values { $0.level.rawValue > 3 } == "(level > %@)")
    #expect(values { $0.color.persistableValue == "red" } == "(color == %@)")
  }

  private func realm() throws -> Realm {
    let realm = try specRealm()
    try realm.write {
      for index in 0..<12 {
        let object = SpecValues(label: "\(index)")
        object.bool = index % 2 == 0
        object.int = index - 4
        object.double = Double(index) / 2
        object.decimal = Decimal128(value: index)
        object.string = ["", "Ann", "anna", "ÄNNA", "Bob", "b*b"][index % 6]
        object.data = Data([UInt8(index), 7])
        object.date = Date(timeIntervalSince1970: Double(index))
        object.color = SpecColor.allCases[index % 3]
        object.level = SpecLevel.allCases[index % 3]
        if index % 3 != 0 {
          object.intO = index
          object.stringO = object.string
          object.doubleO = object.double
          object.dateO = object.date
          object.boolO = object.bool
          object.colorO = object.color
        }
        object.ints.append(objectsIn: 0..<(index % 4))
        object.strings.append(objectsIn: ["s\(index % 4)", "common"])
        realm.add(object)
      }
    }
    return realm
  }

  /// Both front ends and plain Swift must name the same objects.
  private func same(
    _ realm: Realm, _ format: String, _ arguments: [Any] = [],
    _ typed: Condition<SpecValues>? = nil,
    _ plain: (SpecValues) -> Bool, _ location: SourceLocation = #_sourceLocation
  ) {
    let all = realm.objects(SpecValues.self)
    let expected = Array(all).filter(plain).map(\.label)
    let found: Results<SpecValues>
    switch arguments.count {
    case 0: found = all.filter(format)
    case 1: found = all.filter(format, arguments[0])
    default: found = all.filter(format, arguments[0], arguments[1])
    }
    #expect(found.map(\.label) == expected, "\(format)", sourceLocation: location)
    if let typed {
      #expect(
        all.where(typed).map(\.label) == expected, "typed \(format)",
        sourceLocation: location)
    }
  }

  @Test func `numbers compare`() throws {
    let realm = try realm()
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
    let realm = try realm()
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
    let realm = try realm()
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
    let realm = try realm()
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

  @Test func `strings compare by bytes`() throws {
    let realm = try realm()
    same(realm, "string == 'Ann'", [], { $0.string == "Ann" }, { $0.string == "Ann" })
    same(realm, "string == \"ann\"", [], { $0.string == "ann" }, { _ in false })
    same(
      realm, "string ==[c] 'ANN'", [], { $0.string.equals("ANN", options: .caseInsensitive) },
      {
        $0.string == "Ann"
      })
    same(
      realm, "string ==[cd] 'anna'", [],
      {
        $0.string.equals("anna", options: [.caseInsensitive, .diacriticInsensitive])
      }, { ["anna", "ÄNNA"].contains($0.string) })
    same(realm, "string ==[c] 'änna'", [], nil, { $0.string == "ÄNNA" })
    same(realm, "string ==[d] 'ANNA'", [], nil, { $0.string == "ÄNNA" })
    same(
      realm, "string !=[c] 'ann'", [], { $0.string.notEquals("ann", options: .caseInsensitive) },
      {
        $0.string != "Ann"
      })
    same(realm, "string < 'Bob'", [], { $0.string < "Bob" }, { ["", "Ann"].contains($0.string) })
    same(realm, "string >= 'b'", [], { $0.string >= "b" }, { ["b*b", "ÄNNA"].contains($0.string) })
    same(
      realm, "string BEGINSWITH 'A'", [], { $0.string.starts(with: "A") }, { $0.string == "Ann" })
    same(
      realm, "string BEGINSWITH[c] 'a'", [],
      {
        $0.string.starts(with: "a", options: .caseInsensitive)
      }, { ["Ann", "anna"].contains($0.string) })
    same(realm, "string ENDSWITH 'na'", [], { $0.string.ends(with: "na") }, { $0.string == "anna" })
    same(
      realm, "string CONTAINS[cd] 'NN'", [],
      {
        $0.string.contains("NN", options: [.caseInsensitive, .diacriticInsensitive])
      }, { ["Ann", "anna", "ÄNNA"].contains($0.string) })
    same(realm, "string CONTAINS ''", [], { $0.string.contains("") }, { _ in false })
    same(realm, "string BEGINSWITH ''", [], { $0.string.starts(with: "") }, { _ in false })
    same(realm, "stringO ENDSWITH nil", [], { $0.stringO.ends(with: nil) }, { _ in false })
    same(realm, "string LIKE 'A*'", [], { $0.string.like("A*") }, { $0.string == "Ann" })
    same(
      realm, "string LIKE[c] '?nn*'", [], { $0.string.like("?nn*", caseInsensitive: true) },
      {
        ["Ann", "anna", "ÄNNA"].contains($0.string)
      })
    same(realm, "string LIKE 'b?b'", [], { $0.string.like("b?b") }, { $0.string == "b*b" })
    same(realm, "string LIKE '*'", [], { $0.string.like("*") }, { _ in true })
    same(realm, "string LIKE ''", [], { $0.string.like("") }, { $0.string == "" })
    same(realm, "stringO LIKE '*'", [], { $0.stringO.like("*") }, { $0.stringO != nil })
    same(realm, "stringO LIKE nil", [], { $0.stringO.like(nil) }, { $0.stringO == nil })
    same(realm, "string IN[c] {'ANN', 'BOB'}", [], nil, { ["Ann", "Bob"].contains($0.string) })
  }

  @Test func `columns compare with columns of their type`() throws {
    let realm = try realm()
    same(realm, "string == stringO", [], nil, { $0.stringO != nil && $0.string == $0.stringO })
    same(realm, "date <= dateO", [], nil, { $0.dateO != nil })
    same(realm, "bool != boolO", [], nil, { $0.boolO == nil })
    same(realm, "label != string", [], { $0.label != $0.string }, { _ in true })
    same(realm, "int < intO", [], nil, { $0.intO != nil })
    same(realm, "string CONTAINS stringO", [], nil, { !($0.stringO ?? "").isEmpty })
  }

  @Test func `collections compare by any element, by none and by aggregate`() throws {
    let realm = try realm()
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

  private func people() throws -> Realm {
    let realm = try specRealm()
    try realm.write {
      let names = ["Ann", "Bob", "Cid", "Dan"]
      let people = names.enumerated().map { SpecPerson($0.offset, $0.element, age: $0.offset * 10) }
      for (index, person) in people.enumerated() {
        for number in 0..<index {
          person.dogs.append(SpecDog(value: ["name": "d\(number)", "age": number * 3]))
        }
        if index > 1 {
          person.favorite = person.dogs.first
          person.friend = people[index - 1]
        }
      }
      realm.add(people)
    }
    return realm
  }

  @Test func `paths lead over links and lists`() throws {
    let realm = try people()
    let all = realm.objects(SpecPerson.self)
    func ids(_ results: Results<SpecPerson>) -> [Int] { results.map(\.id).sorted() }
    #expect(ids(all.filter("favorite.name == 'd0'")) == [2, 3])
    #expect(ids(all.where { $0.favorite.name == "d0" }) == [2, 3])
    #expect(ids(all.filter("favorite == nil")) == [0, 1])
    #expect(ids(all.where { $0.favorite == nil }) == [0, 1])
    #expect(ids(all.where { $0.favorite != nil }) == [2, 3])
    #expect(ids(all.filter("friend.friend.name == 'Bob'")) == [3])
    #expect(ids(all.filter("friend.friend == nil")) == [0, 1, 2])
    #expect(ids(all.filter("friend.age == nil")) == [0, 1])
    #expect(ids(all.filter("friend.age != nil")) == [2, 3])
    #expect(ids(all.where { $0.friend.age != nil }) == [2, 3])
    #expect(ids(all.filter("friend.name != 'Bob'")) == [0, 1, 3])
    #expect(ids(all.filter("ANY dogs.age > 2")) == [2, 3])
    #expect(ids(all.where { $0.dogs.age > 2 }) == [2, 3])
    #expect(ids(all.filter("NONE dogs.name == 'd1'")) == [0, 1])
    #expect(ids(all.filter("ANY friend.dogs.name == 'd1'")) == [3])
    #expect(ids(all.where { $0.friend.dogs.name == "d1" }) == [3])
    #expect(ids(all.filter("dogs.@count >= 2")) == [2, 3])
    #expect(ids(all.filter("dogs.@max.age == 6")) == [3])
    #expect(ids(all.where { $0.dogs.age.max == 6 }) == [3])
    #expect(ids(all.filter("dogs.@sum.age == 0")) == [0, 1])
    #expect(ids(all.filter("dogs.@avg.age == 1.5")) == [2])
    #expect(ids(all.filter("dogs.@min.age == nil")) == [0])
    #expect(
      ids(all.filter("SUBQUERY(dogs, $d, $d.age > 0 AND $d.name != 'd2').@count == 1")) == [2, 3])
    #expect(ids(all.where { ($0.dogs.age > 0 && $0.dogs.name != "d2").count == 1 }) == [2, 3])
    #expect(ids(all.filter("befriendedBy.@count == 1")) == [1, 2])
    #expect(ids(all.filter("ANY befriendedBy.name == 'Dan'")) == [2])
    #expect(ids(all.where { $0.befriendedBy.name == "Dan" }) == [2])
    let dogs = realm.objects(SpecDog.self)
    #expect(dogs.filter("ANY owners.name == 'Cid'").count == 2)
    #expect(dogs.where { $0.fans.count > 0 }.count == 2)
    #expect(dogs.filter("ANY fans.friend.name == 'Bob'").count == 1)
  }

  @Test func `objects are constants for links and lists`() throws {
    let realm = try people()
    let all = realm.objects(SpecPerson.self)
    let bob = try #require(realm.object(ofType: SpecPerson.self, forPrimaryKey: 1))
    let dog = try #require(bob.dogs.first)
    #expect(all.where { $0.friend == bob }.map(\.id) == [2])
    #expect(all.filter("friend == %@", bob).map(\.id) == [2])
    #expect(all.filter("friend != %@", bob).map(\.id).sorted() == [0, 1, 3])
    #expect(all.filter("friend IN %@", [bob]).map(\.id) == [2])
    #expect(all.where { $0.dogs.contains(dog) }.map(\.id) == [1])
    #expect(all.filter("%@ IN dogs", dog).map(\.id) == [1])
    #expect(all.filter("ANY dogs == %@", dog).map(\.id) == [1])
    #expect(all.where { $0.dogs.containsAny(in: [dog]) }.map(\.id) == [1])
    #expect(realm.objects(SpecDog.self).where { $0.owners.contains(bob) }.count == 1)
    #expect(all.filter("SELF == %@", bob).map(\.id) == [1])
    let query = all.filter("friend == %@", bob)
    let negated = all.filter("friend != %@", bob)
    try realm.write { realm.delete(bob) }
    #expect(query.isEmpty)
    #expect(negated.count == 3)
  }

  @Test func `a query over a list keeps its order and duplicates`() throws {
    let realm = try specRealm()
    let person = SpecPerson(1, "Ann")
    let dogs = ["x", "y", "x"].map { SpecDog(value: ["name": $0]) }
    person.dogs.append(objectsIn: [dogs[2], dogs[0], dogs[1], dogs[2]])
    try realm.write { realm.add(person) }
    let found = person.dogs.where { $0.name == "x" }
    #expect(found.map { dog in dogs.firstIndex { $0.isSameObject(as: dog) } } == [2, 0, 2])
    #expect(person.dogs.filter("TRUEPREDICATE").count == 4)
  }

  @Test func `renamed properties are found by both names`() throws {
    let realm = try specRealm()
    try realm.write { realm.create(SpecRenamed.self, value: ["shown": 5]) }
    #expect(realm.objects(SpecRenamed.self).filter("shown == 5").count == 1)
    #expect(realm.objects(SpecRenamed.self).filter("stored_column == 5").count == 1)
    #expect(realm.objects(SpecRenamed.self).where { $0.shown == 5 }.count == 1)
    #expect(realm.objects(SpecRenamed.self).sorted(by: \.shown).count == 1)
  }
}
