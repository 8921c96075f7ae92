import Cambium
import Testing

final class SpecBudget: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var limit: Decimal128
  @Persisted var whole: Int
  @Persisted var costs: List<Double>
  @Persisted var values: List<AnyRealmValue>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Section B18: conditions over links and lists, through both front ends.
@Suite struct B18PathQueryTests {
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

  @Test func `a subquery contains subqueries`() throws {
    let realm = try people()
    let all = realm.objects(SpecPerson.self)
    func ids(_ results: Results<SpecPerson>) -> [Int] { results.map(\.id).sorted() }
    let expected = Array(all).filter { person in
      person.dogs.contains { dog in
        dog.age >= 3 && dog.owners.filter { $0.age == 20 }.count == 1
      }
    }.map(\.id)
    #expect(expected == [2])
    #expect(
      ids(
        all.filter(
          "SUBQUERY(dogs, $d, $d.age >= 3 AND SUBQUERY($d.owners, $o, $o.age == 20).@count == 1)"
            + ".@count > 0")) == expected)
    #expect(
      ids(all.where { ($0.dogs.age >= 3 && ($0.dogs.owners.age == 20).count == 1).count > 0 })
        == expected)
    #expect(
      ids(all.where { (($0.dogs.owners.friend.dogs.age >= 3).count > 0).count > 0 }) == [3])
    #expect(
      ids(all.where { ($0.dogs.age >= 3).count > 0 && ($0.befriendedBy.age > 20).count > 0 })
        == [2])
  }

  @Test func `a subquery names the object around it`() throws {
    let realm = try people()
    let all = realm.objects(SpecPerson.self)
    func ids(_ results: Results<SpecPerson>) -> [Int] { results.map(\.id).sorted() }
    func ids(_ isIncluded: (SpecPerson) -> Bool) -> [Int] {
      Array(all).filter(isIncluded).map(\.id).sorted()
    }
    // A person has the age of ten times the identifier, and dogs of 0, 3, 6 … years.
    let older = ids { person in person.dogs.contains { $0.age > person.id } }
    #expect(older == [2, 3])
    #expect(ids(all.filter("SUBQUERY(dogs, $d, $d.age > id).@count > 0")) == older)
    #expect(ids(all.filter("SUBQUERY(dogs, $d, id < $d.age).@count > 0")) == older)
    #expect(ids(all.filter("SUBQUERY(dogs, $d, $d.age > SELF.id).@count > 0")) == older)
    #expect(ids(all.where { ($0.dogs.age > $0.id).count > 0 }) == older)
    #expect(all.filter("SUBQUERY(dogs, $d, $d.age > id).@count > 0 AND id > 2").map(\.id) == [3])
    #expect(all.filter("NOT SUBQUERY(dogs, $d, $d.age > id).@count > 0").count == 2)
    #expect(ids(all.filter("SUBQUERY(friend.dogs, $d, $d.age >= id).@count > 0")) == [3])
    #expect(ids(all.where { ($0.friend.dogs.age >= $0.id).count > 0 }) == [3])
    #expect(ids(all.filter("SUBQUERY(dogs, $d, $d == favorite).@count == 1")) == [2, 3])
    #expect(ids(all.filter("SUBQUERY(dogs, $d, ANY $d.fans.name == name).@count == 1")) == [2, 3])
    #expect(ids(all.filter("SUBQUERY(dogs, $d, ANY $d.fans == SELF).@count == 1")) == [2, 3])
    #expect(ids(all.filter("SUBQUERY(dogs, $d, $d.name IN nicknames).@count > 0")) == [])
    #expect(
      ids(all.filter("SUBQUERY(dogs, $d, $d.age == dogs.@max.age).@count == 1")) == [1, 2, 3])
    #expect(ids(all.where { ($0.dogs.age == $0.dogs.age.max).count == 1 }) == [1, 2, 3])
    #expect(ids(all.filter("SUBQUERY(dogs, $d, $d.age > 0 AND id == 2).@count > 0")) == [2])
    #expect(ids(all.where { ($0.dogs.age > 0 && $0.id == 2).count > 0 }) == [2])
    #expect(ids(all.filter("SUBQUERY(dogs, $d, friend.name == 'Bob').@count == 2")) == [2])
    let list = realm.objects(SpecPerson.self)[3].dogs
    #expect(
      list.filter("SUBQUERY(owners, $o, $o.id == age).@count > 0").map(\.age) == [3])
  }

  @Test func `a subquery in another names every object around it`() throws {
    let realm = try people()
    let all = realm.objects(SpecPerson.self)
    func ids(_ results: Results<SpecPerson>) -> [Int] { results.map(\.id).sorted() }
    func ids(_ isIncluded: (SpecPerson) -> Bool) -> [Int] {
      Array(all).filter(isIncluded).map(\.id).sorted()
    }
    let expected = ids { person in
      person.dogs.contains { dog in dog.owners.contains { $0.id < dog.age } }
    }
    #expect(expected == [2, 3])
    #expect(
      ids(
        all.filter(
          "SUBQUERY(dogs, $x, SUBQUERY($x.owners, $y, $y.id < $x.age).@count > 0).@count > 0"))
        == expected)
    // The oldest dog of each.
    let isOldest = "SUBQUERY(dogs, $y, $y.age > $x.age).@count == 0"
    #expect(ids(all.filter("SUBQUERY(dogs, $x, \(isOldest) AND $x.age > 3).@count == 1")) == [3])
    let friends = ids { person in
      person.dogs.contains { dog in
        dog.owners.contains { $0.id == person.id && $0.dogs.contains { $0.age == dog.age + 3 } }
      }
    }
    #expect(friends == [2, 3])
    #expect(
      ids(
        all.filter(
          "SUBQUERY(dogs, $x, SUBQUERY($x.owners, $y, $y.id == id AND $y.name == name AND "
            + "SUBQUERY($y.dogs, $z, $z.age > $x.age AND $z.age > $y.id).@count > 0).@count > 0)"
            + ".@count > 0")) == friends)
    #expect(ids(all.where { (($0.dogs.owners.id == $0.id).count > 0).count > 0 }) == [1, 2, 3])
    #expect(
      ids(all.where { (($0.dogs.owners.id < $0.dogs.age.max).count > 0).count > 1 }) == [2, 3])
    // The innermost variable of a name is meant.
    #expect(
      ids(
        all.filter(
          "SUBQUERY(dogs, $x, SUBQUERY($x.owners, $x, $x.id == id).@count > 0).@count > 0"))
        == [1, 2, 3])
  }

  @Test func `an aggregate is compared with numbers of every type by value`() throws {
    let realm = try specRealm([SpecBudget.self])
    try realm.write {
      for id in 0..<4 {
        let costs = (0..<id).map { Double($0) + 0.5 }
        realm.create(
          SpecBudget.self,
          value: ["id": id, "limit": "1.75", "whole": 2, "costs": costs, "values": costs]
            as [String: Any])
      }
    }
    let all = realm.objects(SpecBudget.self)
    func ids(_ text: String) -> [Int] { all.filter(text).map(\.id).sorted() }
    // The sums are 0, 0.5, 2 and 4.5.
    #expect(ids("costs.@sum > limit") == [2, 3])
    #expect(ids("limit >= costs.@sum") == [0, 1])
    #expect(ids("costs.@count <= limit") == [0, 1])
    #expect(ids("costs.@sum == whole") == [2])
    #expect(ids("costs.@max > whole") == [3])
    #expect(ids("values.@sum > limit") == [2, 3])
    #expect(ids("values.@sum == whole") == [2])
  }

  @Test func `unmanaged lists are searched by subqueries that name objects around them`() {
    let list = List<SpecPerson>()
    for id in 0..<4 {
      let person = SpecPerson(id, "P\(id)")
      for number in 0..<id {
        person.dogs.append(SpecDog(value: ["name": "P\(number)", "age": number * 3]))
      }
      list.append(person)
    }
    #expect(list.index(matching: "SUBQUERY(dogs, $d, $d.age > id).@count > 0") == 2)
    #expect(list.index(matching: { ($0.dogs.age > $0.id).count > 1 }) == nil)
    #expect(
      list.index(
        matching: "SUBQUERY(dogs, $x, SUBQUERY(dogs, $y, $y.age > $x.age).@count == 2).@count == 1")
        == 3)
  }
}
