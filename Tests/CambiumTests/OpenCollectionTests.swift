import Cambium
import Foundation
import TestSupport
import Testing

/// Collections that one transaction changes and reads in turn, element by element, over many leaves.
@Suite struct OpenCollectionTests {
  class Drawer: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var list: List<String?>
    @Persisted var numbers: MutableSet<Int>
    @Persisted var texts: MutableSet<String>
    @Persisted var map: Map<String, Double>
    @Persisted var anys: List<AnyRealmValue>
  }

  private struct Model {
    var list: [String?] = []
    var numbers: Set<Int> = []
    var texts: Set<String> = []
    var map: [String: Double] = [:]
  }

  /// Now and then a text that no leaf holds.
  private func text(_ random: inout SeededGenerator) -> String {
    let number = Int.random(in: 0..<4_000, using: &random)
    return number % 97 == 0 ? String(repeating: "long \(number) ", count: 200) : "text \(number)"
  }

  private func change(_ drawer: Drawer, _ model: inout Model, _ random: inout SeededGenerator) {
    let (text, number) = (text(&random), Int.random(in: 0..<4_000, using: &random))
    switch Int.random(in: 0..<12, using: &random) {
    case 0, 1:
      let place = Int.random(in: 0...model.list.count, using: &random)
      drawer.list.insert(number % 11 == 0 ? nil : text, at: place)
      model.list.insert(number % 11 == 0 ? nil : text, at: place)
    case 2 where !model.list.isEmpty:
      let place = Int.random(in: 0..<model.list.count, using: &random)
      drawer.list[place] = text
      model.list[place] = text
    case 3 where !model.list.isEmpty:
      let place = Int.random(in: 0..<model.list.count, using: &random)
      drawer.list.remove(at: place)
      model.list.remove(at: place)
    case 4, 5:
      drawer.numbers.insert(number)
      model.numbers.insert(number)
    case 6, 7:
      drawer.texts.insert(text)
      model.texts.insert(text)
    case 8:
      drawer.numbers.remove(number)
      drawer.texts.remove(text)
      model.numbers.remove(number)
      model.texts.remove(text)
    case 9:
      drawer.map.removeObject(for: text)
      model.map[text] = nil
    default:
      drawer.map[text] = Double(number)
      model.map[text] = Double(number)
    }
  }

  private func expectEqualSample(
    _ drawer: Drawer, _ model: Model, _ random: inout SeededGenerator
  ) {
    let (text, number) = (text(&random), Int.random(in: 0..<4_000, using: &random))
    #expect(drawer.list.count == model.list.count)
    if !model.list.isEmpty {
      let place = Int.random(in: 0..<model.list.count, using: &random)
      #expect(drawer.list[place] == model.list[place])
    }
    #expect(drawer.numbers.contains(number) == model.numbers.contains(number))
    #expect(drawer.texts.contains(text) == model.texts.contains(text))
    #expect(drawer.map[text] == model.map[text])
    #expect(drawer.map.count == model.map.count)
  }

  private func expectEqual(_ drawer: Drawer, _ model: Model) {
    #expect(Array(drawer.list) == model.list)
    #expect(Array(drawer.numbers) == model.numbers.sorted())
    #expect(Set(drawer.texts) == model.texts)
    #expect(drawer.texts.count == model.texts.count)
    #expect(drawer.map.keys == model.map.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    #expect(model.map.allSatisfy { drawer.map[$0.key] == $0.value })
  }

  @Test(arguments: Exhaustive.seeds(6, few: 2).map { $0 + 1 })
  func `what was just changed is read, in order and by value, and lasts`(seed: UInt64) throws {
    let folder = try TemporaryFolder()
    let store = SampledStore.one(seed: seed, persistent: true)
    var configuration = store.configuration(folder.file("drawers"), [Drawer.self])
    configuration.durability = .relaxed
    var random = SeededGenerator(seed: seed)
    var model = Model()
    for _ in 0..<3 {
      try autoreleasepool {
        let realm = try Realm(configuration: configuration)
        try realm.write {
          let drawer =
            realm.object(ofType: Drawer.self, forPrimaryKey: 1)
            ?? realm.create(Drawer.self, value: ["id": 1])
          // Another accessor, whose collections have been read before.
          let other = try #require(realm.object(ofType: Drawer.self, forPrimaryKey: 1))
          let (list, numbers, map) = (other.list, other.numbers, other.map)
          expectEqual(other, model)
          for step in 0..<6_000 {
            change(drawer, &model, &random)
            if step % 5 == 0 { expectEqualSample(drawer, model, &random) }
            if step % 3 == 0 {
              #expect(list.last == model.list.last)
              #expect(numbers.count == model.numbers.count)
              #expect(map.count == model.map.count)
            }
          }
          expectEqual(drawer, model)
        }
        let drawer = try #require(realm.object(ofType: Drawer.self, forPrimaryKey: 1))
        expectEqual(drawer, model)
      }
      try store.expectSound(configuration)
    }
  }

  @Test func `a list inside of a long list ends when its place is taken, and not when it moves`()
    throws
  {
    let realm = try Realm(configuration: SampledStore.configuration([Drawer.self]))
    try realm.write {
      let drawer = realm.create(Drawer.self, value: ["id": 1])
      drawer.anys.append(objectsIn: (0..<5_000).map { .string("number \($0)") })
      drawer.anys[7] = .fromArray([.int(1), .int(2)])
      let inside = try #require(drawer.anys[7].listValue)
      #expect(inside.count == 2)
      drawer.anys.insert(.int(0), at: 0)
      inside.append(.int(3))
      #expect(inside.count == 3)
      #expect(drawer.anys[8].listValue?.last == .int(3))
      drawer.anys[8] = .int(8)
      #expect(inside.isInvalidated)
    }
  }
}
