import Cambium
import CambiumCore
import Foundation
import TestSupport
import Testing

/// Section B15: queries, order and aggregates of values of any type.
@Suite struct B15AnyQueryTests {
  private let file: SpecFile

  init() throws { file = try SpecFile(B15AnyTests.types) }

  @Test func `queries compare across types`() throws {
    try file.withAny { realm, object in
      realm.delete(object)
      for (index, value) in B15AnyTests.scalars.enumerated() {
        realm.create(SpecAny.self, value: ["id": index, "value": value])
      }
      let all = realm.objects(SpecAny.self)
      func values(_ results: Results<SpecAny>) -> [AnyRealmValue] {
        results.sorted(by: \.id).map(\.value)
      }
      #expect(values(all.where { $0.value == .int(0) }) == [.int(0)])
      #expect(values(all.where { $0.value == .double(1) }) == [.int(1)])
      #expect(values(all.where { $0.value == .none }) == [.none])
      #expect(all.where { $0.value != .int(0) }.count == B15AnyTests.scalars.count - 1)
      #expect(
        values(all.where { $0.value > .int(1) && $0.value < .double(80_000) })
          == [.float(2.5), .int(70_000)])
      #expect(
        values(all.filter("value > %@", 9_007_199_254_740_993)).prefix(2)
          == [.double(9_007_199_254_740_994), .int(.max)])
      #expect(values(all.filter("value == 'a'")) == [.string("a")])
      #expect(values(all.filter("value == ''")) == [.string(""), .data(Data())])
      #expect(values(all.filter("value BEGINSWITH[c] 'XX'")).count == 1)
      #expect(values(all.filter("value IN {true, 1, 'a', NULL}")).count == 4)
      #expect(values(all.filter("value BETWEEN {0, 1}")) == [.int(0), .double(0.1), .int(1)])
      #expect(all.filter("value < %@", Date(timeIntervalSince1970: 0)).count == 1)
      #expect(all.filter("value == %@", UUID()).isEmpty)
      #expect(all.where { $0.value == $0.other }.count == 1)
      #expect(Array(all.sorted(byKeyPath: "value").map(\.value)) == B15AnyTests.scalars)
      #expect(
        Array(all.sorted(by: \.value, ascending: false).map(\.value))
          == B15AnyTests.scalars.reversed())
      let target = SpecAnyTarget("Ann")
      realm.add(SpecAny(900, .object(target)))
      #expect(all.where { $0.value == .object(target) }.first?.id == 900)
      #expect(all.filter("value == %@", target).count == 1)
      #expect(all.filter("value != %@", target).count == B15AnyTests.scalars.count)
      realm.create(SpecAny.self, value: ["id": 901, "value": 2.0] as [String: Any])
      realm.create(SpecAny.self, value: ["id": 902, "value": Decimal128(2)] as [String: Any])
      realm.create(SpecAny.self, value: ["id": 903, "value": 2])
      #expect(all.where { $0.id > 900 }.distinct(by: ["value"]).count == 1)
    }
  }

  @Test func `queries look inside`() throws {
    try file.withAny { realm, object in
      object.value = .fromDictionary([
        "k": .fromArray([.int(5), .fromDictionary(["b": .string("x")])]), "n": .int(1),
      ])
      object.map["m"] = object.value
      realm.create(SpecAny.self, value: ["id": 2, "value": [1, 2, 3]])
      realm.create(SpecAny.self, value: ["id": 3, "value": 1])
      let all = realm.objects(SpecAny.self)
      func ids(_ results: Results<SpecAny>) -> [Int] { results.map(\.id).sorted() }
      #expect(ids(all.where { $0.value["k"][0] == .int(5) }) == [1])
      #expect(ids(all.filter("value['k'][1]['b'] == 'x'")) == [1])
      #expect(ids(all.filter("value['k'][9] == NULL")) == [1, 2, 3])
      #expect(ids(all.where { $0.value[1] == .int(2) }) == [2])
      #expect(ids(all.where { $0.value["n"] != .int(1) }) == [2, 3])
      #expect(ids(all.where { $0.value.any == .int(1) }) == [1, 2])
      #expect(ids(all.where { $0.value["k"].any == .int(5) }) == [1])
      #expect(ids(all.where { $0.value["k"].any["b"] == .string("x") }) == [1])
      #expect(ids(all.where { $0.map["m"]["n"] == .int(1) }) == [1])
      let query = Query<SpecAny>._constructForTesting().value["k"][0].any == .int(5)
      #expect(query._constructPredicate().0 == "(value[%@][%@][%K] == %@)")
      #expect(all.index { $0.value[2] == .int(3) } != nil)
    }
  }

  @Test func `collections of any values are sorted, told apart and added up`() throws {
    for isManaged in [true, false] {
      let realm = try specRealm(B15AnyTests.types)
      realm.beginWrite()
      let object = SpecAny(1)
      if isManaged { realm.add(object) }
      object.list.append(objectsIn: B15AnyTests.scalars.reversed() + [.double(1), .decimal128(0)])
      let sum = object.list.filter { $0.intValue.map { $0.magnitude < 100_000 } ?? false }
      #expect(sum.count == 4)
      #expect(object.list.max() == B15AnyTests.scalars.last && object.list.min() == .bool(false))
      #expect(object.list.index(of: .int(1)) != nil)
      object.list.removeAll()
      object.list.append(objectsIn: [.int(1), .string("x"), .double(2.5), .none])
      #expect(object.list.sum() == .decimal128("3.5"))
      #expect(object.list.average() == Decimal128("1.75"))
      guard isManaged else { continue }
      #expect(Array(object.list.sorted()) == [.none, .int(1), .double(2.5), .string("x")])
      object.set.insert(objectsIn: [.int(1), .double(1), .decimal128(1), .string("1"), .int(0)])
      #expect(Array(object.set) == [.int(0), .int(1), .string("1")])
      #expect(object.set.contains(.float(1)) && !object.set.contains(.bool(true)))
      object.list.append(.decimal128(1))
      #expect(object.list.distinct().count == 4)
      realm.create(SpecAny.self, value: ["id": 2, "value": 7])
      object.value = .double(0.5)
      #expect(realm.objects(SpecAny.self).sum(of: \.value) == .decimal128("7.5"))
      #expect(realm.objects(SpecAny.self).max(of: \.value) == .int(7))
    }
  }

  @Test func `queries compute from collections of any values`() throws {
    let lists: [[AnyRealmValue]] = [
      [], [.int(3), .string("x"), .double(1.5)], [.none, .bool(true)],
      [.decimal128("0.5"), .int(-2)],
    ]
    for isManaged in [true, false] {
      let realm = try specRealm(B15AnyTests.types)
      realm.beginWrite()
      let objects = lists.indices.map { SpecAny($0) }
      for (object, values) in zip(objects, lists) {
        object.list.append(objectsIn: values)
        for (index, value) in values.enumerated() { object.map["k\(index)"] = value }
      }
      if isManaged { realm.add(objects) }
      func check(_ expected: [Int], _ format: String, _ arguments: Any...) {
        for name in ["list", "map"] {
          let text = format.replacing("all", with: name)
          if isManaged {
            let found =
              arguments.isEmpty
              ? realm.objects(SpecAny.self).filter(text)
              : realm.objects(SpecAny.self).filter(text, arguments[0])
            #expect(found.map(\.id).sorted() == expected, "\(text)")
          } else {
            let list = List<SpecAny>()
            list.append(objectsIn: objects)
            let first =
              arguments.isEmpty
              ? list.index(matching: text) : list.index(matching: text, arguments[0])
            #expect(first == expected.first, "\(text)")
          }
        }
      }
      check([1], "all.@max == 'x'")
      check([1], "all.@min == %@", 1.5)
      check([2], "all.@min == true")
      check([0], "all.@max == nil")
      check([3], "all.@min < 0")
      check([1], "all.@sum == 4.5")
      check([3], "all.@sum == -1.5")
      check([0, 2], "all.@sum == 0")
      check([0, 2], "all.@avg == nil")
      check([1], "all.@avg > 2")
      check([1], "all.@max IN {'x', 7}")
    }
  }

  @Test func `unmanaged objects are searched as managed ones are`() {
    let list = List<SpecAny>()
    list.append(objectsIn: [
      SpecAny(1, .int(5)), SpecAny(2, .fromDictionary(["k": .fromArray([.string("x")])])),
      SpecAny(3, .object(SpecAnyTarget("t"))), SpecAny(4),
    ])
    #expect(list.index { $0.value == .double(5) } == 0)
    #expect(list.index { $0.value["k"][0] == .string("x") } == 1)
    #expect(list.index { $0.value["k"].any == .string("x") } == 1)
    #expect(list.index { $0.value == .none } == 3)
    #expect(list.index(matching: "value > 4") == 0)
  }
}
