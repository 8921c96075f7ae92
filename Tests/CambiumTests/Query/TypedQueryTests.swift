import Foundation
import Testing

@testable import Cambium

enum QueryColour: String, PersistableEnum { case red, green }
enum QuerySize: Int, PersistableEnum { case small, large }

class QueryPet: Object {
  @Persisted var name = ""
  @Persisted var weight: Double?
  @Persisted var age = 0
  @Persisted var toys: List<String>
  @Persisted(originProperty: "pets") var owners: LinkingObjects<QueryOwner>
}

class QueryOwner: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var age: Int?
  @Persisted var flag = false
  @Persisted var name: String?
  @Persisted var title = ""
  @Persisted var blob = Data()
  @Persisted var born = Date(timeIntervalSince1970: 0)
  @Persisted var oid: ObjectId
  @Persisted var uuid: UUID?
  @Persisted var amount: Decimal128
  @Persisted var colour = QueryColour.red
  @Persisted var size: QuerySize?
  @Persisted var pet: QueryPet?
  @Persisted var friend: QueryOwner?
  @Persisted var pets: List<QueryPet>
  @Persisted var numbers: List<Int>
  @Persisted var words: List<String?>
  @Persisted var sizes: List<QuerySize>
}

struct TypedQueryTests {
  private typealias Owner = Query<QueryOwner>

  private struct Case: Sendable {
    var text: String
    var arguments: [String]
    var query: @Sendable (Query<QueryOwner>) -> Query<Bool>

    init(
      _ text: String, _ arguments: [Any],
      _ query: @escaping @Sendable (Query<QueryOwner>) -> Query<Bool>
    ) {
      self.text = text
      self.arguments = arguments.map { "\($0)" }
      self.query = query
    }
  }

  private static let cases: [Case] = [
    Case("(age == %@)", [5]) { $0.age == 5 },
    Case("(id != %@)", [5]) { $0.id != 5 },
    Case("(name == %@)", [NSNull()]) { $0.name == nil },
    Case("(name == title)", []) { $0.name.equals($0.title) },
    Case("(age == friend.age)", []) { $0.age == $0.friend.age },
    Case("flag == true", []) { $0.flag },
    Case("flag == false", []) { !$0.flag },
    Case("(flag == %@)", [true]) { $0.flag == true },
    Case("(flag == true && (age > %@))", [3]) { $0.flag && $0.age > 3 },
    Case("((age < %@) || (id >= %@))", [1, 2]) { $0.age < 1 || $0.id >= 2 },
    Case("NOT ((age <= %@) && (id == %@))", [1, 2]) { !($0.age <= 1 && $0.id == 2) },
    Case("NOT (age == %@)", [1]) { !($0.age == 1) },
    Case("(id BETWEEN {%@, %@})", [1, 5]) { $0.id.contains(1...5) },
    Case("((age >= %@) && (age < %@))", [1, 5]) { $0.age.contains(1..<5) },
    Case("(id IN %@)", [[1, 2]]) { $0.id.in([1, 2]) },
    Case("(age IN %@)", [[1, NSNull()] as [Any]]) { $0.age.in([1, nil]) },
    Case("(name CONTAINS[cd] %@)", ["x"]) {
      $0.name.contains("x", options: [.caseInsensitive, .diacriticInsensitive])
    },
    Case("(name BEGINSWITH %@)", ["x"]) { $0.name.starts(with: "x") },
    Case("(title ENDSWITH[c] %@)", ["x"]) { $0.title.ends(with: "x", options: .caseInsensitive) },
    Case("(title LIKE[c] %@)", ["x*"]) { $0.title.like("x*", caseInsensitive: true) },
    Case("(title LIKE %@)", ["x*"]) { $0.title.like("x*") },
    Case("(title ==[d] %@)", ["x"]) { $0.title.equals("x", options: .diacriticInsensitive) },
    Case("(title !=[c] %@)", ["x"]) { $0.title.notEquals("x", options: .caseInsensitive) },
    Case("(title CONTAINS[c] name)", []) {
      $0.title.contains($0.name, options: .caseInsensitive)
    },
    Case("(title > %@)", ["x"]) { $0.title > "x" },
    Case("(blob BEGINSWITH %@)", [Data([1])]) { $0.blob.starts(with: Data([1])) },
    Case("(born >= %@)", [Date(timeIntervalSince1970: 5)]) {
      $0.born >= Date(timeIntervalSince1970: 5)
    },
    Case("(amount < %@)", [Decimal128(value: 2.5)]) { $0.amount < 2.5 },
    Case("(colour == %@)", ["green"]) { $0.colour == .green },
    Case("(size == %@)", [1]) { $0.size == .large },
    Case("(size > %@)", [0]) { $0.size > .small },
    Case("(size >= %@)", [1]) { $0.size.rawValue >= 1 },
    Case("(colour BEGINSWITH %@)", ["gr"]) { $0.colour.rawValue.starts(with: "gr") },
    Case("(pet.name == %@)", ["x"]) { $0.pet.name == "x" },
    Case("(friend.pet.age > %@)", [2]) { $0.friend.pet.age > 2 },
    Case("(pet == %@)", [NSNull()]) { $0.pet == nil },
    Case("(ANY pets.name == %@)", ["x"]) { $0.pets.name == "x" },
    Case("(ANY friend.pets.toys == %@)", ["x"]) { $0.friend.pets.toys == "x" },
    Case("(%@ IN numbers)", [5]) { $0.numbers.contains(5) },
    Case("(%@ IN words)", [NSNull()]) { $0.words.contains(nil) },
    Case("(ANY numbers IN %@)", [[1, 2]]) { $0.numbers.containsAny(in: [1, 2]) },
    Case("(ANY numbers == %@)", [5]) { $0.numbers == 5 },
    Case("(ANY numbers > %@)", [5]) { $0.numbers > 5 },
    Case("(ANY sizes == %@)", [1]) { $0.sizes == .large },
    Case("(ANY sizes == %@)", [1]) { $0.sizes.rawValue == 1 },
    Case("((numbers.@min >= %@) && (numbers.@max <= %@))", [1, 5]) { $0.numbers.contains(1...5) },
    Case("((numbers.@min >= %@) && (numbers.@max < %@))", [1, 5]) { $0.numbers.contains(1..<5) },
    Case("((sizes.@min >= %@) && (sizes.@max <= %@))", [0, 1]) {
      $0.sizes.rawValue.contains(0...1)
    },
    Case("((sizes.@min >= %@) && (sizes.@max < %@))", [0, 1]) {
      $0.sizes.persistableValue.contains(0..<1)
    },
    Case("(sizes.@max > %@)", [0]) { $0.sizes.rawValue.max > 0 },
    Case("(numbers.@count > %@)", [1]) { $0.numbers.count > 1 },
    Case("(numbers.@avg == %@)", [1]) { $0.numbers.avg == 1 },
    Case("(pets.@count == %@)", [0]) { $0.pets.count == 0 },
    Case("(pets.@min.age < %@)", [3]) { $0.pets.age.min < 3 },
    Case("(pets.@sum.weight >= %@)", [3.5]) { $0.pets.weight.sum >= 3.5 },
    Case(
      "(SUBQUERY(pets, $col1, (($col1.age > %@) && ($col1.name == %@))).@count >= %@)",
      [3, "x", 1]
    ) { ($0.pets.age > 3 && $0.pets.name == "x").count >= 1 },
    Case("(SUBQUERY(pets, $col1, (%@ IN $col1.toys)).@count == %@)", ["ball", 2]) {
      $0.pets.toys.contains("ball").count == 2
    },
    Case(
      "(SUBQUERY(pets, $col1, (SUBQUERY($col1.owners, $col2, ($col2.age > %@)).@count > %@))"
        + ".@count > %@)", [1, 2, 3]
    ) { (($0.pets.owners.age > 1).count > 2).count > 3 },
    Case("(SUBQUERY(pets, $col1, ($col1.age > id)).@count > %@)", [0]) {
      ($0.pets.age > $0.id).count > 0
    },
    Case("(SUBQUERY(pets, $col1, (friend.id < $col1.age)).@count == %@)", [1]) {
      ($0.friend.id < $0.pets.age).count == 1
    },
    Case(
      "(SUBQUERY(pets, $col1, ((($col1.age > %@) && flag == true) && NOT (name == %@))).@count > %@)",
      [3, "x", 0]
    ) { ($0.pets.age > 3 && $0.flag && !($0.name == "x")).count > 0 },
    Case("(SUBQUERY(pets, $col1, ($col1.age == pets.@max.age)).@count > %@)", [1]) {
      ($0.pets.age == $0.pets.age.max).count > 1
    },
    Case("(SUBQUERY(friend.pets, $col1, ($col1.age < pets.@count)).@count > %@)", [1]) {
      ($0.friend.pets.age < $0.pets.count).count > 1
    },
    Case(
      "(SUBQUERY(pets, $col1, (SUBQUERY($col1.owners, $col2, ($col2.id > id)).@count > %@))"
        + ".@count > %@)", [2, 3]
    ) { (($0.pets.owners.id > $0.id).count > 2).count > 3 },
  ]

  @Test(arguments: 0..<TypedQueryTests.cases.count)
  func `both front ends build the same tree`(index: Int) throws {
    let test = Self.cases[index]
    let query = test.query(._constructForTesting())
    let (text, arguments) = query._constructPredicate()
    #expect(text == test.text)
    #expect(arguments.map { "\($0)" } == test.arguments)
    #expect(try PredicateParser.parse(text, arguments: arguments) == query.predicate)
  }

  @Test func `two collections are not compared, and subqueries need one`() async {
    await #expect(processExitsWith: .failure) {
      let query = Query<QueryOwner>._constructForTesting()
      _ = ((query.pets.count == 1).count > 1)._constructPredicate()
    }
    await #expect(processExitsWith: .failure) {
      let query = Query<QueryOwner>._constructForTesting()
      _ = ((query.pets.age > 1 && query.numbers == 5).count > 1)._constructPredicate()
    }
    await #expect(processExitsWith: .failure) {
      let query = Query<QueryOwner>._constructForTesting()
      _ = query.pets.age == query.numbers.count
      _ = query.pets.age == query.friend.pets.age
    }
    await #expect(processExitsWith: .failure) {
      let query = Query<QueryOwner>._constructForTesting()
      _ = ((query.id == 1).count > 1)._constructPredicate()
    }
  }
}
