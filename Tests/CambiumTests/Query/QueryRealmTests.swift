import Cambium
import Foundation
import TestSupport
import Testing

/// Queries from end to end: through a Realm, both front ends, live.
struct QueryRealmTests {
  init() { TemporaryFolder.prepareForChildren() }

  private func filledRealm() throws -> Realm {
    let realm = try testRealm([QueryOwner.self, QueryPet.self])
    try realm.write {
      let pets = (0..<30).map { index in
        let pet = QueryPet()
        pet.name = ["Rex", "élan", "Bello", "rex"][index % 4]
        pet.age = index % 7
        pet.weight = index % 5 == 0 ? nil : Double(index) / 2
        pet.toys.append(objectsIn: (0..<index % 3).map { "toy\($0)" })
        realm.add(pet)
        return pet
      }
      for index in 0..<40 {
        let owner = QueryOwner()
        owner.id = index
        owner.age = index % 3 == 0 ? nil : index
        owner.flag = index % 2 == 0
        owner.name = index % 4 == 0 ? nil : "Owner \(index)"
        owner.colour = index % 5 == 0 ? .green : .red
        owner.size = index % 6 == 0 ? nil : index % 2 == 0 ? .small : .large
        owner.amount = Decimal128(value: index) / 4
        owner.pet = index % 7 == 0 ? nil : pets[index % 30]
        owner.pets.append(objectsIn: (0..<index % 4).map { pets[(index + $0) % 30] })
        owner.numbers.append(objectsIn: 0..<index % 5)
        realm.add(owner)
        owner.friend = realm.object(ofType: QueryOwner.self, forPrimaryKey: index / 2)
      }
    }
    return realm
  }

  @Test func `texts and data that begin alike for long are sorted`() throws {
    let realm = try testRealm([QueryPet.self, QueryOwner.self])
    let beginning = String(repeating: "x", count: 300_000)
    try realm.write {
      for end in ["b", "", "c", "a", "b"] {
        let pet = QueryPet()
        pet.name = beginning + end
        pet.age = 1
        realm.add(pet)
      }
    }
    for (isAscending, expected) in [
      (true, ["", "a", "b", "b", "c"]), (false, ["c", "b", "b", "a", ""]),
    ] {
      let sorted = realm.objects(QueryPet.self).where { $0.age == 1 }
        .sorted(byKeyPath: "name", ascending: isAscending)
      #expect(sorted.map { String($0.name.dropFirst(beginning.count)) } == expected)
    }
  }

  @Test(arguments: ["Straße", "ﬁsch", "İzmir", "ŉ"])
  func `in LIKE a question mark stands for one character, of whatever case`(name: String) throws {
    let realm = try testRealm([QueryPet.self, QueryOwner.self])
    try realm.write {
      let pet = QueryPet()
      pet.name = name
      realm.add(pet)
    }
    let pets = realm.objects(QueryPet.self)
    for place in name.unicodeScalars.indices {
      var scalars = name.unicodeScalars
      scalars.replaceSubrange(place...place, with: "?".unicodeScalars)
      let pattern = String(scalars)
      #expect(pets.where { $0.name.like(pattern) }.count == 1, "\(pattern)")
      #expect(pets.where { $0.name.like(pattern, caseInsensitive: true) }.count == 1, "\(pattern)")
    }
  }

  @Test func `LIKE ignores the case of what stands beside a question mark`() throws {
    let realm = try testRealm([QueryPet.self, QueryOwner.self])
    try realm.write {
      for name in ["Straße", "Strasse", "ÉLAN", "élan"] {
        let pet = QueryPet()
        pet.name = name
        realm.add(pet)
      }
    }
    func found(_ pattern: String) -> [String] {
      realm.objects(QueryPet.self).filter("name LIKE[c] %@", pattern).map(\.name)
    }
    #expect(found("STRA?E") == ["Straße"])
    #expect(found("stra??e") == ["Strasse"])
    #expect(found("éla?") == ["ÉLAN", "élan"])
    #expect(found("*?LAN") == ["ÉLAN", "élan"])
  }

  @Test func `both front ends find what Swift finds`() throws {
    let realm = try filledRealm()
    let owners = realm.objects(QueryOwner.self)
    let all = Array(owners)
    func check(
      _ typed: (Query<QueryOwner>) -> Query<Bool>, _ text: String, _ arguments: [Any] = [],
      _ isIncluded: (QueryOwner) -> Bool
    ) {
      let expected = all.filter(isIncluded).map(\.id).sorted()
      #expect(owners.where(typed).map(\.id).sorted() == expected, "\(text)")
      #expect(owners.where(typed).count == expected.count, "\(text)")
      let (written, values) = typed(Query<QueryOwner>._constructForTesting())._constructPredicate()
      #expect(filtered(owners, written, values).map(\.id).sorted() == expected, "\(written)")
      #expect(filtered(owners, text, arguments).map(\.id).sorted() == expected, "\(text)")
    }
    check({ $0.age > 20 }, "age > 20") { ($0.age ?? 0) > 20 }
    check({ $0.age == nil }, "age == nil") { $0.age == nil }
    check({ $0.flag && $0.colour == .green }, "flag == TRUE && colour == %@", ["green"]) {
      $0.flag && $0.colour == .green
    }
    check({ $0.size > .small }, "size > 0") { $0.size == .large }
    check({ $0.amount < 3.5 }, "amount < 3.5") { $0.amount < 3.5 }
    check({ $0.pet.name == "Rex" }, "pet.name = 'Rex'") { $0.pet?.name == "Rex" }
    check({ $0.pet == nil }, "pet.name == nil") { $0.pet == nil }
    check({ $0.pet.name.like("r?x", caseInsensitive: true) }, "pet.name LIKE[c] 'R*X'") {
      $0.pet?.name.lowercased() == "rex"
    }
    check(
      { $0.pet.name.starts(with: "E", options: [.caseInsensitive, .diacriticInsensitive]) },
      "pet.name BEGINSWITH[cd] 'e'"
    ) { $0.pet?.name == "élan" }
    check({ $0.pets.name == "Bello" }, "ANY pets.name == 'Bello'") { owner in
      owner.pets.contains { $0.name == "Bello" }
    }
    check({ $0.pets.count >= 2 }, "pets.@count >= 2") { $0.pets.count >= 2 }
    check({ $0.numbers.contains(3) }, "3 IN numbers") { $0.numbers.contains(3) }
    check({ $0.friend.friend.id.in([1, 2]) }, "friend.friend.id IN {1, 2}") {
      [1, 2].contains($0.friend?.friend?.id)
    }
    check(
      { ($0.pets.age > 2 && $0.pets.weight < 9).count > 0 },
      "SUBQUERY(pets, $p, $p.age > 2 AND $p.weight < 9).@count > 0"
    ) { owner in owner.pets.contains { $0.age > 2 && ($0.weight ?? 99) < 9 } }
    check({ !($0.id.contains(5...10)) }, "NOT id BETWEEN {5, 10}") { !(5...10).contains($0.id) }
  }

  private func filtered(
    _ owners: Results<QueryOwner>, _ text: String, _ arguments: [Any]
  ) -> Results<QueryOwner> {
    switch arguments.count {
    case 0: owners.filter(text)
    case 1: owners.filter(text, arguments[0])
    case 2: owners.filter(text, arguments[0], arguments[1])
    default: owners.filter(text, arguments[0], arguments[1], arguments[2])
    }
  }

  @Test func `objects are compared by identity, and deleted ones match nothing`() throws {
    let realm = try filledRealm()
    let owners = realm.objects(QueryOwner.self)
    let pet = try #require(realm.objects(QueryPet.self).where { $0.name == "Bello" }.first)
    let expected = Array(owners).filter { $0.pet?.isSameObject(as: pet) == true }.map(\.id)
    #expect(Array(owners.where { $0.pet == pet }.map(\.id)) == expected)
    #expect(owners.where { $0.pets.contains(pet) }.count == pet.owners.map(\.id).uniqueCount)
    #expect(pet.owners.where { $0.id >= 0 }.count == pet.owners.count)
    try realm.write { realm.delete(pet) }
    #expect(owners.where { $0.pet == pet }.isEmpty)
    #expect(owners.where { $0.pet != pet }.count == owners.count)
  }

  @Test func `results follow changes and keep their arrangement`() throws {
    let realm = try filledRealm()
    let found = realm.objects(QueryOwner.self).where { $0.age > 30 }
      .sorted(byKeyPath: "pet.name").distinct(by: ["colour"])
    let before = Array(found.map(\.id))
    #expect(before.count == 2)
    try realm.write {
      for owner in realm.objects(QueryOwner.self) { owner.colour = .red }
    }
    #expect(found.count == 1)
    let list = try #require(realm.object(ofType: QueryOwner.self, forPrimaryKey: 3)).pets
    #expect(Array(list.where { $0.age >= 0 }.map(\.name)) == Array(list.map(\.name)))
    let query = realm.objects(QueryOwner.self).where { $0.flag }
    let ids = Array(query.map(\.id))
    #expect(query.sum(of: \.id) == ids.reduce(0, +))
    #expect(query.max(of: \.id) == ids.max())
  }

  @Test func `mistakes stop with the documented message`() async {
    await #expect(processExitsWith: .failure) {
      _ = try testRealm([QueryOwner.self, QueryPet.self]).objects(QueryOwner.self)
        .filter("nothing == 1")
    }
    await #expect(processExitsWith: .failure) {
      _ = try testRealm([QueryOwner.self, QueryPet.self]).objects(QueryOwner.self)
        .filter("age == ")
    }
    await #expect(processExitsWith: .failure) {
      _ = try testRealm([QueryOwner.self, QueryPet.self]).objects(QueryOwner.self)
        .where { $0.pet == QueryPet() }
    }
    await #expect(processExitsWith: .failure) {
      _ = try testRealm([QueryOwner.self, QueryPet.self]).objects(QueryOwner.self)
        .sorted(byKeyPath: "pets.name")
    }
  }
}

extension Sequence where Element: Hashable {
  fileprivate var uniqueCount: Int { Set(self).count }
}
