import Cambium
import Foundation
import Testing

/// Section B14: conditions find elements in managed and in unmanaged lists alike.
@Suite struct B14SearchTests {
  /// Three people with dogs, in a list of an unmanaged object or of one that was added.
  private func people(isManaged: Bool) throws -> List<SpecValues> {
    let owner = SpecValues(label: "owner")
    for index in 0..<4 {
      let object = SpecValues(label: "\(index)")
      object.bool = index > 1
      object.int = index * 10
      object.intO = index == 1 ? nil : index
      object.int8 = Int8(index)
      object.float = 0.1
      object.decimal = Decimal128(value: index) / 4
      object.string = ["Ann", "Böb", "cid", "Dan"][index]
      object.stringO = index == 2 ? nil : object.string
      object.data = Data([UInt8(index)])
      object.date = Date(timeIntervalSince1970: Double(index))
      object.uuid = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(index)))
      object.color = [.red, .green, .blue, .red][index]
      object.levelO = index == 0 ? nil : .mid
      object.ints.append(objectsIn: 0..<index)
      object.strings.append(objectsIn: ["s\(index)", "common"])
      object.others.append(objectsIn: owner.others)
      object.other = owner.others.last
      owner.others.append(object)
    }
    guard isManaged else { return owner.others }
    let realm = try specRealm()
    try realm.write { realm.add(owner) }
    return owner.others
  }

  @Test(arguments: [true, false])
  func `a text finds the first element that it holds for`(isManaged: Bool) throws {
    let list = try people(isManaged: isManaged)
    func index(_ text: String) -> Int? { list.index(matching: text) }
    #expect(list.index(matching: "int > %@", 3) == 1)
    #expect(list.index(matching: "%K == %@", "string", "cid") == 2)
    #expect(index("intO == nil") == 1)
    #expect(index("intO != 0") == 1)
    #expect(index("intO > 0") == 2)
    #expect(index("int8 BETWEEN {2, 3}") == 2)
    #expect(list.index(matching: "float == %@", 0.1) == 0)
    #expect(index("decimal == 0.5") == 2)
    #expect(index("string CONTAINS[cd] 'OB'") == 1)
    #expect(index("string BEGINSWITH 'c'") == 2)
    #expect(index("string LIKE '*n' AND bool == TRUE") == 3)
    #expect(index("stringO IN {'Dan', NULL}") == 2)
    #expect(list.index(matching: "data >= %@", Data([3])) == 3)
    #expect(list.index(matching: "date > %@", Date(timeIntervalSince1970: 1)) == 2)
    #expect(index("uuid == '00000000-0000-0000-0000-000000000002'") == 2)
    #expect(list.index(matching: "color == %@", SpecColor.blue) == 2)
    #expect(index("levelO == 5") == 1)
    #expect(index("other.string == 'Ann'") == 1)
    #expect(index("other.other.int >= 0") == 2)
    #expect(index("other.other == nil") == 0)
    #expect(index("ANY ints == 1") == 2)
    #expect(index("2 IN ints") == 3)
    #expect(index("NONE strings IN {'s0', 's1'}") == 2)
    #expect(index("ints.@sum == 3") == 3)
    #expect(index("ints.@avg == 0.5") == 2)
    #expect(index("others.@count > 1") == 2)
    #expect(index("others.@max.int == 10") == 2)
    #expect(index("ANY others.other.string == 'Ann'") == 2)
    #expect(index("ANY others.ints > 0") == 3)
    #expect(index("int == other.int") == nil)
    #expect(index("int > other.int") == 1)
    #expect(index("SUBQUERY(others, $o, $o.int > 0 AND $o.bool == FALSE).@count == 1") == 2)
    #expect(index("NOT (int < 10 OR string == 'Böb')") == 2)
    #expect(index("TRUEPREDICATE") == 0)
    #expect(index("FALSEPREDICATE") == nil)
  }

  @Test(arguments: [true, false])
  func `a condition in Swift finds the first element that it holds for`(isManaged: Bool) throws {
    let list = try people(isManaged: isManaged)
    #expect(list.index(matching: { $0.int > 3 }) == 1)
    #expect(list.index(matching: { $0.bool && $0.color == .red }) == 3)
    #expect(
      list.index(matching: { $0.other.string.ends(with: "B", options: .caseInsensitive) }) == 2)
    #expect(list.index(matching: { $0.levelO == nil }) == 0)
    #expect(list.index(matching: { $0.strings.contains("s3") }) == 3)
    #expect(list.index(matching: { $0.others.count == 5 }) == nil)
    #expect(
      list.index(matching: { ($0.others.int > 0 && $0.others.bool == false).count == 1 }) == 2)
    let second = list[1]
    #expect(list.index(matching: { $0 == second }) == 1)
    #expect(list.index(matching: { $0.other == second }) == 2)
    #expect(list.index(matching: { $0.others.contains(second) }) == 2)
    #expect(list.index(matching: "SELF IN %@", [list[3], second]) == 1)
    #expect(list.index(matching: "other != %@", list[0]) == 0)
  }

  @Test func `an unmanaged list of values is searched by self`() {
    let object = SpecValues()
    object.ints.append(objectsIn: [1, 5, 7])
    object.intsO.append(objectsIn: [1, nil, 7])
    object.strings.append(objectsIn: ["a", "Über"])
    object.colors.append(objectsIn: [.red, .blue])
    object.decimals.append(objectsIn: [1, 2.5])
    object.dates.append(objectsIn: [Date(timeIntervalSince1970: 1), Date(timeIntervalSince1970: 9)])
    #expect(object.ints.index(matching: { $0 > 3 }) == 1)
    #expect(object.ints.index(matching: "SELF >= 6") == 2)
    #expect(object.ints.index(matching: "self IN {7, 5}") == 1)
    #expect(object.ints.index(matching: "SELF == 2") == nil)
    #expect(object.intsO.index(matching: { $0 == nil }) == 1)
    #expect(object.intsO.index(matching: "SELF > 1") == 2)
    #expect(object.strings.index(matching: "SELF BEGINSWITH[cd] 'u'") == 1)
    #expect(object.strings.index(matching: { $0.like("*b?r") }) == 1)
    #expect(object.colors.index(matching: { $0 == .blue }) == 1)
    #expect(object.decimals.index(matching: "SELF BETWEEN {2, 3}") == 1)
    #expect(object.dates.index(matching: { $0 > Date(timeIntervalSince1970: 2) }) == 1)
    #expect(List<Int>().index(matching: { $0 > 3 }) == nil)
  }

  @Test func `an unmanaged list may hold managed objects`() throws {
    let realm = try specRealm()
    let (ann, bob) = (SpecPerson(1, "Ann"), SpecPerson(2, "Bob"))
    bob.friend = ann
    bob.dogs.append(SpecDog())
    try realm.write { realm.add([ann, bob]) }
    let list = List<SpecPerson>()
    list.append(objectsIn: [SpecPerson(3, "Cid"), ann, bob])
    list[0].friend = bob
    #expect(list.index(matching: { $0.befriendedBy.count == 1 }) == 1)
    #expect(list.index(matching: { $0.friend.friend.name == "Ann" }) == 0)
    #expect(list.index(matching: { $0.friend == ann }) == 2)
    let twin = try #require(realm.object(ofType: SpecPerson.self, forPrimaryKey: 2))
    #expect(twin !== bob)
    #expect(list.index(matching: { $0 == twin }) == 2)
    #expect(list.index(matching: "friend == %@", twin) == 0)
    #expect(list.index(matching: { $0.dogs.owners.name == "Bob" }) == 2)
    try realm.write { realm.delete(twin) }
    list.remove(at: 2)
    list[0].friend = nil
    #expect(list.index(matching: { $0.friend == twin }) == nil)
    #expect(list.index(matching: { $0.friend != twin }) == 0)
  }

  @Test func `an element of a subclass is asked for what its superclass declares`() {
    let list = List<SpecDogLike>()
    list.append(objectsIn: [SpecDogLike(), SpecPuppy(value: ["age": 9])])
    #expect(list.index(matching: { $0.age == 9 }) == 1)
    #expect(list.index(matching: "weight == nil") == 0)
  }
}
