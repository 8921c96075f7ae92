import Cambium
import Foundation
import TestSupport
import Testing

/// Accessors that are kept over a whole transaction and beyond, while rows move under them.
@Suite struct LongLivedAccessorTests {
  /// What an accessor should read.
  private struct Plain: Equatable {
    var age: Int?
    var weight: Double?
    var name: String
  }

  @Test(arguments: Exhaustive.seeds(40, few: 6))
  func `what was assigned, inserted and deleted is read through whoever holds an object`(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
    var configuration = SampledStore.one(seed: seed, persistent: false)
      .configuration(TemporaryFolder.root + "/\(UUID())", [SpecPerson.self, SpecDog.self])
    configuration.durability = .relaxed
    if seed % 3 == 0 { configuration.databaseOptions.transactionBudgetByteCount = 12 << 10 }
    let realm = try Realm(configuration: configuration)
    // Several accessors of each object, made at different times.
    var held: [Int: [SpecDog]] = [:]
    var model: [Int: Plain] = [:]
    var nextID = 0
    // Objects whose deletion was cancelled: nobody holds them any more.
    var strayCount = 0
    for _ in 0..<12 {
      let before = model
      realm.beginWrite()
      let isLarge = number(3) == 0
      for _ in 0..<(isLarge ? 600 : 40) {
        let ids = model.keys.sorted()
        let kind = ids.isEmpty ? 0 : number(20)
        switch kind {
        case 0, 1:
          nextID += 1
          let dog = SpecDog()
          dog.name = "n\(nextID)"
          dog.age = nextID
          realm.add(dog)
          held[nextID] = [dog]
          model[nextID] = Plain(age: nextID, weight: nil, name: dog.name)
        case 2 where number(3) == 0:
          let id = ids[number(ids.count)]
          if let dog = held[id]?.first { realm.delete(dog) }
          model[id] = nil
          held[id] = nil
        default:
          let id = ids[number(ids.count)]
          guard let accessors = held[id], let dog = accessors.first,
            let reader = accessors.last
          else { continue }
          switch number(6) {
          case 0:
            dog.age = number(4) == 0 ? .max - number(9) : number(200)
            model[id]?.age = dog.age
          case 1:
            dog.weight = number(3) == 0 ? nil : Double(number(9))
            model[id]?.weight = dog.weight
          case 2:
            dog.name = String(repeating: "x", count: number(30))
            model[id]?.name = dog.name
          case 3:
            // Reading all packs what was being rebuilt.
            #expect(
              realm.objects(SpecDog.self).filter("name != ''").count <= model.count + strayCount)
          case 4:
            var more: [SpecDog] = []
            for other in realm.objects(SpecDog.self) where other.age == dog.age {
              more.append(other)
            }
            for other in more where other.isSameObject(as: dog) { held[id]?.append(other) }
          default: break
          }
          let expected = try #require(model[id])
          for accessor in [reader, dog] {
            #expect(
              Plain(age: accessor.age, weight: accessor.weight, name: accessor.name) == expected,
              "seed \(seed)")
          }
        }
        if number(25) == 0 { expectAll(held, model, seed) }
      }
      if number(4) == 0 {
        realm.cancelWrite()
        for id in model.keys where before[id] == nil {
          #expect(held[id]?.allSatisfy { $0.isInvalidated } != false)
        }
        // What a cancelled transaction deleted is there again, but was let go of here.
        model = before.filter { held[$0.key] != nil }
        strayCount += before.count - model.count
        let kept = Set(model.keys)
        held = held.filter { kept.contains($0.key) }
      } else {
        try realm.commitWrite()
      }
      expectAll(held, model, seed)
    }
  }

  private func expectAll(_ held: [Int: [SpecDog]], _ model: [Int: Plain], _ seed: UInt64) {
    for (id, expected) in model {
      for dog in held[id] ?? [] {
        #expect(
          Plain(age: dog.age, weight: dog.weight, name: dog.name) == expected, "seed \(seed)")
      }
    }
  }
}
