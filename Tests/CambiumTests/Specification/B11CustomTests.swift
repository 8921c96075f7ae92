import Cambium
import Foundation
import TestSupport
import Testing

struct SpecMoney: CustomPersistable {
  var cents: Int
  init(cents: Int) { self.cents = cents }
  init(persistedValue: Int) { cents = persistedValue }
  var persistableValue: Int { cents }
}

/// Has an initializer without parameters, which is not the default of a property.
struct SpecTag: CustomPersistable {
  var text: String
  init() { text = "untagged" }
  init(_ text: String) { self.text = text }
  init(persistedValue: String) { text = String(persistedValue.reversed()) }
  var persistableValue: String { String(text.reversed()) }
}

struct SpecShade: CustomPersistable {
  var color: SpecColor
  init(persistedValue: SpecColor) { color = persistedValue }
  var persistableValue: SpecColor { color }
}

/// An even number.
struct SpecEven: FailableCustomPersistable {
  var half: Int
  init(half: Int) { self.half = half }
  init?(persistedValue: Int16) {
    guard persistedValue % 2 == 0 else { return nil }
    half = Int(persistedValue) / 2
  }
  var persistableValue: Int16 { Int16(half * 2) }
}

/// A text that may not be empty.
struct SpecNonEmpty: FailableCustomPersistable {
  var text: String
  init(_ text: String) { self.text = text }
  init?(persistedValue: String) {
    if persistedValue.isEmpty { return nil }
    text = persistedValue
  }
  var persistableValue: String { text }
}

/// Looks at a Realm when it is made, which it should not.
struct SpecNosy: CustomPersistable {
  @TaskLocal static var look: (@Sendable () -> Void)?
  var number: Int
  init(number: Int) { self.number = number }
  init(persistedValue: Int) {
    number = persistedValue
    Self.look?()
  }
  var persistableValue: Int {
    Self.look?()
    return number
  }
}

final class SpecCustom: Object {
  @Persisted(primaryKey: true) var id = SpecTag("id")
  @Persisted var money: SpecMoney
  @Persisted(indexed: true) var given = SpecMoney(cents: 5)
  @Persisted var moneyO: SpecMoney?
  @Persisted var shade: SpecShade
  @Persisted var shadeO: SpecShade?
  @Persisted var even: SpecEven
  @Persisted var evenO: SpecEven?
  @Persisted var text = SpecNonEmpty("text")
  @Persisted var nosy: SpecNosy
  @Persisted var moneys: List<SpecMoney>
  @Persisted var moneyOs: List<SpecMoney?>
  @Persisted var evens: List<SpecEven>
  @Persisted var evenOs: List<SpecEven?>
  @Persisted var tags: MutableSet<SpecTag>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Section B11: types of the program's own.
@Suite struct B11CustomTests {
  private func realm() throws -> Realm { try specRealm([SpecCustom.self]) }

  @Test func `properties begin with what their stored types begin with`() throws {
    let object = SpecCustom()
    func check(_ object: SpecCustom) {
      #expect(object.id == SpecTag("id") && object.money == SpecMoney(cents: 0))
      #expect(object.given.cents == 5 && object.moneyO == nil)
      #expect(object.shade.color == SpecColor.allCases.first && object.shadeO == nil)
      #expect(object.even.half == 0 && object.evenO == nil && object.text.text == "text")
      #expect(object.moneys.isEmpty && object.tags.isEmpty)
    }
    check(object)
    let realm = try realm()
    try realm.write { realm.add(object) }
    check(object)
    let made = try realm.write { realm.create(SpecCustom.self, value: ["id": "x"]) }
    #expect(made.id.text == "x" && made.given.cents == 5)
  }

  @Test func `a type without a default of its own is named by key paths where the class gives one`()
    throws
  {
    let realm = try realm()
    try realm.write {
      for text in ["b", "a"] {
        let object = SpecCustom()
        object.id = SpecTag(text)
        object.text = SpecNonEmpty(text)
        realm.add(object)
      }
    }
    let objects = realm.objects(SpecCustom.self)
    #expect(objects.where { $0.text == SpecNonEmpty("a") }.map(\.id.text) == ["a"])
    #expect(objects.sorted(by: \.text).map(\.id.text) == ["a", "b"])
    #expect(_name(for: \SpecCustom.text) == "text")
  }

  @Test func `values are stored as what they say, alone and in collections`() throws {
    let folder = try TemporaryFolder()
    let configuration = specFile(folder, [SpecCustom.self])
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      let object = SpecCustom()
      object.id = SpecTag("abc")
      object.money = SpecMoney(cents: 99)
      object.moneyO = SpecMoney(cents: -1)
      object.moneys.append(objectsIn: [1, 2, 1].map { SpecMoney(cents: $0) })
      object.moneyOs.append(objectsIn: [SpecMoney(cents: 3), nil])
      try realm.write {
        realm.add(object)
        object.shade = SpecShade(persistedValue: .blue)
        object.shadeO = SpecShade(persistedValue: .red)
        object.even = SpecEven(half: 4)
        object.evenOs.append(objectsIn: [SpecEven(half: 1), nil])
        object.tags.insert(objectsIn: ["a", "b", "a"].map { SpecTag($0) })
        object.moneys[1].cents += 10
      }
    }
    let realm = try Realm(configuration: configuration)
    let object = try #require(
      realm.object(ofType: SpecCustom.self, forPrimaryKey: SpecTag("abc")))
    #expect(object.money.cents == 99 && object.moneyO?.cents == -1)
    #expect(object.moneys.map(\.cents) == [1, 12, 1])
    #expect(object.moneyOs.map { $0?.cents } == [3, nil])
    #expect(object.shade.color == .blue && object.shadeO?.color == .red && object.even.half == 4)
    #expect(object.evenOs.map { $0?.half } == [1, nil])
    #expect(Set(object.tags.map(\.text)) == ["a", "b"] && object.tags.contains(SpecTag("a")))
    #expect(object.moneys.index(of: SpecMoney(cents: 12)) == 1)
    // By name they are what is stored.
    #expect(object["money"] as? Int == 99 && object["id"] as? String == "cba")
    #expect(object["shade"] as? String == SpecColor.blue.rawValue)
    let schema = object.objectSchema
    #expect(schema["money"]?.type == .int && schema["moneyO"]?.isOptional == true)
    #expect(schema["tags"]?.isSet == true && schema["id"]?.type == .string)
  }

  @Test func `dictionaries and names take values and stored forms`() throws {
    let realm = try realm()
    try realm.write {
      let object = realm.create(
        SpecCustom.self,
        value: [
          "id": SpecTag("one"), "money": 7, "moneyO": SpecMoney(cents: 8), "shade": "blue",
          "evens": [2, SpecEven(half: 5)], "tags": ["x", SpecTag("y")],
        ] as [String: Any])
      #expect(object.money.cents == 7 && object.moneyO?.cents == 8 && object.shade.color == .blue)
      #expect(object.evens.map(\.half) == [1, 5])
      object["money"] = SpecMoney(cents: 1)
      object["moneyO"] = nil
      object["even"] = 6
      #expect(object.money.cents == 1 && object.moneyO == nil && object.even.half == 3)
      let again = realm.create(
        SpecCustom.self, value: ["id": SpecTag("one"), "money": 2], update: .modified)
      #expect(again.isSameObject(as: object) && object.money.cents == 2)
    }
  }

  @Test func `what cannot be made is nil where that may be`() throws {
    let realm = try realm()
    try realm.write {
      // The stored values are those of somebody for whom they are numbers.
      let stored = realm.dynamicCreate("SpecCustom", value: ["id": "x", "evenO": 3])
      (stored["evenOs"] as? List<Int?>)?.append(objectsIn: [1, 2, nil])
    }
    let object = realm.objects(SpecCustom.self)[0]
    #expect(object.evenO == nil && object["evenO"] as? Int == 3)
    #expect(object.evenOs.map { $0?.half } == [nil, 1, nil])
    try realm.write { object.evenO = SpecEven(half: 9) }
    #expect(object.evenO?.half == 9 && object["evenO"] as? Int == 18)
  }

  @Test func `queries, sorts and aggregates go by what is stored`() throws {
    let realm = try realm()
    try realm.write {
      for cents in [30, 10, 20] {
        let object = realm.create(
          SpecCustom.self, value: ["id": "\(cents)", "money": cents, "given": cents])
        object.moneys.append(objectsIn: [SpecMoney(cents: cents), SpecMoney(cents: 1)])
        object.shade = SpecShade(persistedValue: cents == 10 ? .blue : .red)
      }
    }
    let all = realm.objects(SpecCustom.self)
    #expect(all.where { $0.money == SpecMoney(cents: 10) }.count == 1)
    #expect(all.where { $0.given == SpecMoney(cents: 10) }.count == 1)
    #expect(all.where { $0.money != SpecMoney(cents: 10) }.count == 2)
    #expect(all.where { $0.money > SpecMoney(cents: 10) }.count == 2)
    #expect(all.where { $0.money.persistableValue >= 20 }.count == 2)
    #expect(all.where { $0.money.in([SpecMoney(cents: 10), SpecMoney(cents: 11)]) }.count == 1)
    #expect(all.where { $0.moneyO == nil }.count == 3)
    #expect(all.where { $0.moneys.contains(SpecMoney(cents: 20)) }.count == 1)
    #expect(all.where { $0.shade == SpecShade(persistedValue: .blue) }.count == 1)
    #expect(all.filter("money == %@", SpecMoney(cents: 30)).count == 1)
    #expect(all.filter("money BETWEEN {10, 20}").count == 2)
    #expect(all.sorted(by: \.money).map(\.money.cents) == [10, 20, 30])
    #expect(all.distinct(by: [\.shade]).count == 2)
    let highest: SpecMoney? = all.max(of: \.money)
    #expect(highest?.cents == 30)
    #expect(all.sum(of: \.money).cents == 60)
    #expect(all[0].moneys.sorted().map(\.cents).first == 1)
    #expect(_name(for: \SpecCustom.money) == "money")
  }

  @Test func `a type that looks at a Realm finds it in order`() throws {
    let realm = try realm()
    let object = SpecCustom()
    object.nosy = SpecNosy(number: 7)
    object.moneys.append(objectsIn: (0..<50).map { SpecMoney(cents: $0) })
    try realm.write { realm.add(object) }
    let other = SpecCustom()
    other.id = SpecTag("other")
    // The closure runs where it is made, before `withValue` returns.
    nonisolated(unsafe) let first = object
    try SpecNosy.$look.withValue({
      #expect(first.moneys[3].cents == 3 && first.money.cents == 0)
      #expect(first.realm?.objects(SpecCustom.self).first?.given.cents == 5)
    }) {
      for number in 0..<20 {
        #expect(object.nosy.number == number + 7)
        try realm.write {
          if number == 5 { realm.add(other) }
          object.nosy = SpecNosy(number: number + 8)
        }
      }
    }
    #expect(realm.objects(SpecCustom.self).count == 2)
  }
}
