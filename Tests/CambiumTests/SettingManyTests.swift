import Cambium
import Foundation
import TestSupport
import Testing

/// `setValue(_:forKey:)` of collections, which changes all of their objects at once.
@Suite struct SettingManyTests {
  class Thing: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var number: Int
    @Persisted var optional: Int?
    @Persisted var text: String
    @Persisted(indexed: true) var label: String?
    @Persisted var flag: Bool
    @Persisted var weight: Double
    @Persisted var born: Date?
    @Persisted var friend: Thing?
    @Persisted var any: AnyRealmValue
  }

  class Bag: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var list: List<Thing>
    @Persisted var set: MutableSet<Thing>
  }

  private struct Plain: Equatable {
    var number = 0
    var optional: Int?
    var text = ""
    var label: String?
    var flag = false
    var weight = 0.0
    var born: Date?
    var friend: Int?
    var any = AnyRealmValue.none
  }

  private func plain(_ thing: Thing) -> Plain {
    Plain(
      number: thing.number, optional: thing.optional, text: thing.text, label: thing.label,
      flag: thing.flag, weight: thing.weight, born: thing.born, friend: thing.friend?.id,
      any: thing.any)
  }

  /// Assigns a random property of `ids`, by the collection that `set` stands for and in the model.
  private func change(
    _ realm: Realm, _ ids: some Sequence<Int>, _ model: inout [Int: Plain],
    _ random: inout SeededGenerator, _ set: (Any?, String) -> Void
  ) {
    func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    let some = number(-3...3) == 0 ? 1 << 40 : number(0...9)
    func assign(_ body: (inout Plain) -> Void) {
      for id in ids { if model[id] != nil { body(&model[id, default: Plain()]) } }
    }
    switch number(0...9) {
    case 0, 1:
      set(some, "number")
      assign { $0.number = some }
    case 2:
      let value = some == 3 ? nil : some
      set(value, "optional")
      assign { $0.optional = value }
    case 3:
      let text = String(repeating: "text \(some) ", count: some == 5 ? 200 : 1)
      set(text, "text")
      assign { $0.text = text }
    case 4:
      let label = some == 4 ? nil : "label \(some)"
      set(label, "label")
      assign { $0.label = label }
    case 5:
      set(some > 4, "flag")
      assign { $0.flag = some > 4 }
    case 6:
      set(Double(some) / 2, "weight")
      assign { $0.weight = Double(some) / 2 }
    case 7:
      let born = some == 7 ? nil : Date(timeIntervalSince1970: Double(some))
      set(born, "born")
      assign { $0.born = born }
    case 8:
      let friend = realm.objects(Thing.self).randomElement(using: &random)
      set(friend, "friend")
      assign { $0.friend = friend?.id }
    default:
      set(some, "any")
      assign { $0.any = .int(some) }
    }
  }

  @Test(arguments: Exhaustive.seeds(12, few: 4).map { $0 + 1 })
  func `all objects of a collection have the value, and no others`(seed: UInt64) throws {
    let folder = try TemporaryFolder()
    let store = SampledStore.one(seed: seed, persistent: true)
    var configuration = store.configuration(folder.file("things"), [Thing.self, Bag.self])
    configuration.durability = .relaxed
    if seed % 2 == 0 { configuration.databaseOptions.transactionBudgetByteCount = 12 << 10 }
    var random = SeededGenerator(seed: seed)
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      var model: [Int: Plain] = [:]
      try realm.write {
        for id in 0..<(seed % 2 == 0 ? 600 : 3_000) {
          // Not in the order of their keys.
          let id = id &* 7 % 3_001
          realm.create(Thing.self, value: ["id": id, "number": id % 10])
          model[id] = Plain(number: id % 10)
        }
        realm.create(Bag.self, value: ["id": 1])
      }
      let bag = try #require(realm.object(ofType: Bag.self, forPrimaryKey: 1))
      for _ in 0..<6 {
        try realm.write {
          for _ in 0..<4 {
            let all = realm.objects(Thing.self)
            change(realm, model.keys, &model, &random) { all.setValue($0, forKey: $1) }
            // The query is of a property that the assignment may change.
            let limit = Int.random(in: 0...9, using: &random)
            let found = all.where { $0.number >= limit && $0.id > 200 }
            let ids = model.filter { $0.value.number >= limit && $0.key > 200 }.map(\.key)
            change(realm, ids, &model, &random) { found.setValue($0, forKey: $1) }
            bag.list.append(objectsIn: all.shuffled(using: &random).prefix(20))
            bag.list.append(objectsIn: Array(bag.list.prefix(5)))
            let listed = bag.list.map(\.id)
            change(realm, Array(listed), &model, &random) { bag.list.setValue($0, forKey: $1) }
            bag.set.insert(objectsIn: all.shuffled(using: &random).prefix(20))
            let members = bag.set.map(\.id)
            change(realm, Array(members), &model, &random) { bag.set.setValue($0, forKey: $1) }
          }
          expectEqual(realm, model)
        }
        expectEqual(realm, model)
        for label in ["label 1", "label 8"] {
          let labelled = realm.objects(Thing.self).where { $0.label == label }
          #expect(labelled.count == model.values.count { $0.label == label })
        }
      }
    }
    try store.expectSound(configuration)
  }

  private func expectEqual(_ realm: Realm, _ model: [Int: Plain]) {
    let stored = Dictionary(
      uniqueKeysWithValues: realm.objects(Thing.self).map { ($0.id, plain($0)) })
    #expect(stored == model)
  }

  @Test func `a change of many is told to observers as one`() async throws {
    let desk = try Desk(SampledStore.configuration([Thing.self, Bag.self]))
    try desk.run { realm in
      try realm.write {
        for id in 0..<100 { realm.create(Thing.self, value: ["id": id, "number": id]) }
      }
      desk.tokens = [
        realm.objects(Thing.self).where { $0.number < 3 || $0.number > 1_000 }
          .observe { [unowned desk] change in desk.note(change) }
      ]
    }
    #expect(await desk.next() == "initial 3")
    try desk.run { realm in
      try realm.write {
        realm.objects(Thing.self).where { $0.id == 1 || $0.id == 50 }
          .setValue(2_000, forKey: "number")
      }
    }
    #expect(await desk.next() == "-[] +[3] ~[1]")
  }
}
