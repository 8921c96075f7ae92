import Cambium
import Foundation
import Testing

/// Section B17: sort, distinct, aggregates.
@Suite struct B17SortingTests {
  private func realm(_ values: [[String: Any]]) throws -> Realm {
    let realm = try specRealm()
    try realm.write { for value in values { realm.create(SpecValues.self, value: value) } }
    return realm
  }

  private func labels(_ results: Results<SpecValues>) -> String {
    results.map(\.label).joined()
  }

  @Test func `nulls come first ascending and last descending`() throws {
    let realm = try realm([
      ["label": "a", "intO": 2, "stringO": "y", "doubleO": 1.5],
      ["label": "b"],
      ["label": "c", "intO": -1, "stringO": "x", "doubleO": -Double.infinity],
    ])
    let all = realm.objects(SpecValues.self)
    for key in ["intO", "stringO", "doubleO"] {
      #expect(labels(all.sorted(byKeyPath: key)) == "bca", "\(key)")
      #expect(labels(all.sorted(byKeyPath: key, ascending: false)) == "acb", "\(key)")
    }
    #expect(labels(all.sorted(by: \.intO)) == "bca")
  }

  @Test func `null links on the path come last ascending and first descending`() throws {
    let realm = try specRealm()
    try realm.write {
      for (id, dog) in [(1, "b"), (2, nil), (3, "a")] as [(Int, String?)] {
        let person = SpecPerson(id, "\(id)")
        person.favorite = dog.map { SpecDog(value: ["name": $0]) }
        realm.add(person)
      }
    }
    let all = realm.objects(SpecPerson.self)
    #expect(all.sorted(byKeyPath: "favorite.name").map(\.id) == [3, 1, 2])
    #expect(all.sorted(byKeyPath: "favorite.name", ascending: false).map(\.id) == [2, 1, 3])
    #expect(all.sorted(by: \.favorite?.name).map(\.id) == [3, 1, 2])
    #expect(all.distinct(by: ["favorite.name"]).map(\.id).sorted() == [1, 3])
  }

  @Test func `every sortable type has its order`() throws {
    let realm = try realm([
      [
        "label": "a", "bool": true, "int": 5, "float": Float.nan, "double": 1.0, "decimal": "10",
        "string": "b", "data": Data([2]), "date": Date(timeIntervalSince1970: 3),
        "objectId": ObjectId("000000000000000000000002"),
        "uuid": UUID(uuidString: "00000000-0000-0000-0000-0000000000FF")!, "color": "red",
        "level": 5,
      ],
      [
        "label": "b", "bool": false, "int": -5, "float": Float(1), "double": Double.nan,
        "decimal": "9.5", "string": "B", "data": Data([1, 255]),
        "date": Date(timeIntervalSince1970: -3),
        "objectId": ObjectId("000000000000000000000001"),
        "uuid": UUID(uuidString: "00000000-0000-0000-0000-000000000001")!, "color": "blue",
        "level": 9,
      ],
      [
        "label": "c", "bool": true, "int": 6, "float": -Float.infinity, "double": 2.0,
        "decimal": "1E2", "string": "ä", "data": Data([200]),
        "date": Date(timeIntervalSince1970: 4),
        "objectId": ObjectId("100000000000000000000000"),
        "uuid": UUID(uuidString: "F0000000-0000-0000-0000-000000000000")!, "color": "red",
        "level": 1,
      ],
    ])
    let all = realm.objects(SpecValues.self)
    let expected = [
      "int": "bac", "float": "acb", "double": "bac", "decimal": "bac", "string": "bac",
      "data": "bac", "date": "bac", "objectId": "bac", "uuid": "bac", "level": "cab",
    ]
    for (key, order) in expected.sorted(by: { $0.key < $1.key }) {
      #expect(labels(all.sorted(byKeyPath: key)) == order, "\(key)")
      #expect(
        labels(all.sorted(byKeyPath: key, ascending: false)) == String(order.reversed()), "\(key)")
    }
    #expect(
      labels(all.sorted(by: [SortDescriptor(keyPath: "bool"), SortDescriptor(keyPath: "int")]))
        == "bac")
    #expect(
      labels(all.sorted(by: ["color", SortDescriptor(keyPath: \SpecValues.int, ascending: false)]))
        == "bca")
    #expect(labels(all.sorted(by: \.data)) == "bac")
  }

  @Test func `a later sort is primary and keeps the earlier order for ties`() throws {
    let realm = try realm(
      (0..<12).map { ["label": String(UnicodeScalar(UInt8(97 + $0))), "int": $0 % 3] })
    let all = realm.objects(SpecValues.self)
    #expect(
      labels(all.sorted(byKeyPath: "label", ascending: false).sorted(byKeyPath: "int"))
        == "jgdakhebl" + "ifc")
    #expect(
      labels(
        all.sorted(by: [
          SortDescriptor(keyPath: "int"), SortDescriptor(keyPath: "label", ascending: false),
        ])) == "jgdakheblifc")
    #expect(all.sorted(by: [] as [Cambium.SortDescriptor]).count == 12)
  }

  @Test func `distinct keeps the first of each tuple in the current order`() throws {
    let realm = try realm([
      ["label": "a", "int": 1, "stringO": "x"],
      ["label": "b", "int": 1],
      ["label": "c", "int": 2, "stringO": "x"],
      ["label": "d", "int": 1, "stringO": "x"],
      ["label": "e", "int": 2],
    ])
    let all = realm.objects(SpecValues.self).sorted(byKeyPath: "label")
    #expect(labels(all.distinct(by: ["int"])) == "ac")
    #expect(labels(all.distinct(by: ["stringO"])) == "ab")
    #expect(labels(all.distinct(by: ["int", "stringO"])) == "abce")
    #expect(
      labels(all.sorted(byKeyPath: "label", ascending: false).distinct(by: ["int"])) == "ed")
    #expect(
      labels(all.distinct(by: ["int"]).sorted(byKeyPath: "int", ascending: false)) == "ca")
    #expect(labels(all.distinct(by: [\.int])) == "ac")
  }

  @Test func `a mean has the type that is asked for, or else that of its property`() throws {
    let realm = try realm([["int": 1, "double": 1.5], ["int": 2, "double": 3]])
    let all = realm.objects(SpecValues.self)
    let mean = all.average(of: \.double)
    #expect(mean == 2.25)
    let ofIntegers = all.average(of: \.int)
    #expect(ofIntegers == Optional(1))
    #expect((all.average(of: \.int) as Double?) == 1.5)
    #expect((all.average(of: \.int) ?? 0) == 1)
    let whole: Int? = all.average(ofProperty: "int")
    #expect(whole == 1)
    #expect(all.average(ofProperty: "int") as Int8? == 1)
    #expect(all.filter("int > 2").average(ofProperty: "int") as Int? == nil)
    let plain = List<SpecValues>()
    plain.append(objectsIn: all)
    let ofPlain = plain.average(of: \.double)
    #expect(ofPlain == 2.25 && plain.average(ofProperty: "int") as Int? == 1)
  }

  @Test func `aggregates ignore nulls and give the documented values for nothing`() throws {
    let realm = try realm([
      ["int": 1, "intO": 4, "double": 1.5, "decimal": "0.1", "float": 2],
      ["int": 5, "double": 2.5, "decimal": "0.2", "float": 4],
      ["int": 3, "intO": 2, "doubleO": 8.0, "date": Date(timeIntervalSince1970: 9e9)],
    ])
    let all = realm.objects(SpecValues.self)
    let none = all.filter("int > 100")
    #expect(all.min(of: \.int) == 1 && all.max(of: \.int) == 5 && all.sum(of: \.int) == 9)
    #expect((all.average(of: \.int) as Double?) == 3.0)
    #expect(all.min(of: \.intO) == 2 && all.max(of: \.intO) == 4 && all.sum(of: \.intO) == 6)
    #expect(all.average(ofProperty: "intO") == 3.0)
    #expect(all.sum(of: \.double) == 4.0 && all.sum(of: \.decimal) == "0.3")
    #expect(all.average(ofProperty: "decimal") as Decimal128? == "0.1")
    #expect(all.sum(ofProperty: "float") as Float == 6)
    #expect(all.max(of: \.date) == Date(timeIntervalSince1970: 9e9))
    #expect(all.max(ofProperty: "doubleO") as Double? == 8)
    #expect(none.min(of: \.int) == nil && none.max(of: \.date) == nil)
    #expect(none.sum(of: \.int) == 0 && none.sum(of: \.decimal) == 0)
    #expect(none.average(ofProperty: "int") as Double? == nil)
    #expect(all.filter("intO == nil").average(ofProperty: "intO") as Double? == nil)
    #expect(all.filter("intO == nil").min(of: \.intO) == nil)
    #expect(all.max(ofProperty: "int") as Int64? == 5)
  }

  @Test func `sort descriptors are values`() {
    let descriptor = SortDescriptor(keyPath: "a")
    #expect(descriptor.ascending && descriptor.keyPath == "a")
    #expect(descriptor.reversed() == SortDescriptor(keyPath: "a", ascending: false))
    #expect(descriptor == "a")
    #expect(SortDescriptor(keyPath: \SpecPerson.favorite?.name).keyPath == "favorite.name")
  }

  @Test func `lists and properties of the same numbers give the same numbers`() throws {
    let realm = try specRealm()
    let doubles: [[Double]] = [
      [.nan, 1, 2], [1, .nan], [2, .nan, 1], [.nan], [], [-0.0, 0.0], [.infinity, -.infinity],
    ]
    for numbers in doubles {
      let plain = List<Double>()
      plain.append(objectsIn: numbers)
      let managed = try realm.write {
        realm.deleteAll()
        for number in numbers { realm.create(SpecValues.self, value: ["double": number]) }
        return realm.create(SpecValues.self, value: ["label": "list", "doubles": numbers]).doubles
      }
      let objects = realm.objects(SpecValues.self).filter("label == ''")
      let finite = numbers.filter { !$0.isNaN }
      #expect(objects.min(of: \.double) == finite.min())
      #expect(managed.min() == finite.min(), "\(numbers)")
      #expect(plain.min() == finite.min(), "\(numbers)")
      #expect(objects.max(of: \.double) == finite.max())
      #expect(managed.max() == finite.max(), "\(numbers)")
      #expect(plain.max() == finite.max(), "\(numbers)")
      let sum: Double = objects.sum(of: \.double)
      for other in [managed.sum(), plain.sum()] {
        #expect(other == sum || other.isNaN && sum.isNaN)
      }
    }
  }

  @Test func `a sum that fits does not overflow on its way`() throws {
    let realm = try specRealm()
    let numbers = [Int.max, 1, -1, Int.max, -Int.max]
    let plain = List<Int>()
    plain.append(objectsIn: numbers)
    let managed = try realm.write {
      for number in numbers { realm.create(SpecValues.self, value: ["int": number]) }
      return realm.create(SpecValues.self, value: ["label": "list", "ints": numbers]).ints
    }
    let objects = realm.objects(SpecValues.self).filter("label == ''")
    #expect(objects.sum(of: \.int) == .max)
    #expect(managed.sum() == .max)
    #expect(plain.sum() == .max)
    let mean: Double? = plain.average()
    #expect(mean == managed.average())
    #expect(mean == (objects.average(of: \.int) as Double?))
  }

  @Test func `decimals in lists are equal by value`() throws {
    let realm = try specRealm()
    let one = [try Decimal128(string: "1.0"), try Decimal128(string: "1.00")]
    let nan = try Decimal128(string: "NaN")
    let numbers: [Decimal128] = [3, one[0], one[1], 1, nan, nan, 3]
    let list = try realm.write {
      realm.create(SpecValues.self, value: ["decimals": numbers]).decimals
    }
    #expect(list.index(of: 1) == 1)
    #expect(list.sorted(ascending: false).index(of: 1) == 2)
    #expect(list.distinct().map { "\($0)" } == ["3", "1", "NaN"] as [String])
    let plain = List<Decimal128>()
    plain.append(objectsIn: numbers)
    #expect(plain.index(of: 1) == 1)
    #expect(plain.min() == list.min())
    #expect(plain.sum().isNaN == list.sum().isNaN)
  }
}
