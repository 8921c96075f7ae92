import Cambium
import Foundation
import TestSupport
import Testing

/// Lists that outgrow their owner's row live in trees that the row owns.
///
/// A tree that was edited, and whose old pages its editor had freed, must not be freed as a whole
/// again.
@Suite struct LargeListTests {
  class ListOwner: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var numbers: List<Int>
    @Persisted var texts: List<String>
    @Persisted var friends: List<ListOwner>
    @Persisted(originProperty: "friends") var admirers: LinkingObjects<ListOwner>
  }

  private struct Model: Equatable {
    var numbers: [Int] = []
    var texts: [String] = []
    var friends: [Int] = []
  }

  @Test(arguments: Exhaustive.seeds(8, few: 3).map { $0 + 1 })
  func `large lists survive edits, deletions and rollbacks over many commits`(seed: UInt64) throws {
    let folder = try TemporaryFolder()
    let store = SampledStore.one(seed: seed, persistent: true)
    var configuration = store.configuration(folder.file("lists"), [ListOwner.self])
    configuration.durability = .relaxed
    var random = SeededGenerator(seed: seed)
    var committed: [Int: Model] = [:]
    for _ in 0..<4 {
      try autoreleasepool {
        let realm = try Realm(configuration: configuration)
        for _ in 0..<12 {
          var model = committed
          realm.beginWrite()
          for _ in 0..<6 { change(realm, &model, &random) }
          expectEqual(realm, model)
          if Int.random(in: 0..<4, using: &random) == 0 {
            realm.cancelWrite()
          } else {
            try realm.commitWrite()
            committed = model
          }
          expectEqual(realm, committed)
        }
      }
      try store.expectSound(configuration)
    }
  }

  private func change(
    _ realm: Realm, _ model: inout [Int: Model], _ random: inout SeededGenerator
  ) {
    let id = Int.random(in: 0..<5, using: &random)
    guard let owner = realm.object(ofType: ListOwner.self, forPrimaryKey: id) else {
      realm.create(ListOwner.self, value: ["id": id])
      model[id] = Model()
      return
    }
    var own = model[id] ?? Model()
    defer { if model[id] != nil { model[id] = own } }
    let place = Int.random(in: 0...own.numbers.count, using: &random)
    switch Int.random(in: 0..<10, using: &random) {
    case 0, 1, 2:
      let numbers = (0..<Int.random(in: 1...900, using: &random)).map { $0 * 7_919 }
      owner.numbers.insert(contentsOf: numbers, at: place)
      own.numbers.insert(contentsOf: numbers, at: place)
    case 3:
      let texts = (0..<80).map { "text \($0) of \(id)" }
      owner.texts.append(objectsIn: texts)
      own.texts += texts
    case 4:
      let count = min(own.numbers.count - place, 300)
      owner.numbers.removeSubrange(place..<place + count)
      own.numbers.removeSubrange(place..<place + count)
    case 5, 6:
      let friend = Int.random(in: 0..<5, using: &random)
      guard let object = realm.object(ofType: ListOwner.self, forPrimaryKey: friend) else { break }
      for _ in 0..<90 { owner.friends.append(object) }
      own.friends += Array(repeating: friend, count: 90)
    case 7:
      owner.numbers.removeAll()
      own.numbers = []
    case 8:
      if let last = own.texts.indices.last {
        owner.texts[last] = "changed"
        own.texts[last] = "changed"
      }
    default:
      realm.delete(owner)
      model[id] = nil
      for key in model.keys { model[key]?.friends.removeAll { $0 == id } }
    }
  }

  private func expectEqual(_ realm: Realm, _ model: [Int: Model]) {
    let owners = realm.objects(ListOwner.self)
    #expect(owners.count == model.count)
    for owner in owners {
      let found = Model(
        numbers: Array(owner.numbers), texts: Array(owner.texts),
        friends: owner.friends.map(\.id))
      #expect(found == model[owner.id])
      let admirers = model.values.reduce(0) { $0 + $1.friends.filter { $0 == owner.id }.count }
      #expect(owner.admirers.count == admirers)
      for number in [found.numbers.first, found.numbers.last, -1].compactMap(\.self) {
        #expect(owner.numbers.index(of: number) == found.numbers.firstIndex(of: number))
      }
      for friend in owners {
        #expect(owner.friends.index(of: friend) == found.friends.firstIndex(of: friend.id))
      }
    }
  }
}
