import Cambium
import Foundation
import Testing

/// Section B23.3: migrations.
@Suite struct B23MigrationTests {
  private typealias Old = BeforeMigration
  private typealias New = AfterMigration

  private let bench: MigrationBench

  init() throws {
    bench = try MigrationBench()
    try bench.fill()
  }

  private var newTypes: [ObjectBase.Type] { [New.Human.self, New.Pet.self, New.Fresh.self] }

  @Test func `a block carries values over`() throws {
    let realm = try Realm(
      configuration: bench.configuration(newTypes) { migration, version in
        #expect(version == 0)
        migration.enumerateObjects(ofType: "Human") { old, new in
          guard let old, let new else { return }
          #expect(new["age"] as? Int == 0 && new["fullName"] as? String == "")
          new["fullName"] = "\(old["first"] ?? "") \(old.last ?? "")"
          new.age = Int(old["age"] as? String ?? "") ?? -1
          #expect(["calm", "cross"].contains(old["mood"] as? String))
          #expect(old.favourite is DynamicObject)
          #expect(old.dynamicList("pets").count == 3)
          #expect(
            old.dynamicList("pets")[0]["name"] as? String == (old.favourite as? DynamicObject)?.name
              as? String)
          #expect((old["scores"] as? List<Int>)?.first ?? 0 == 0)
        }
        migration.enumerateObjects(ofType: "Unknown") { _, _ in Issue.record("no such class") }
        migration.enumerateObjects(ofType: "Fresh") { _, _ in Issue.record("no such objects") }
      })
    let humans = realm.objects(New.Human.self)
    #expect(Set(humans.map(\.fullName)) == Set((0..<5).map { "F\($0) L\($0)" }))
    #expect(humans.where { $0.fullName == "F3 L3" }.first?.age == 21)
    #expect(humans.where { $0.mood == .cross }.map(\.fullName) == ["F1 L1"])
    #expect(realm.objects(New.Pet.self).allSatisfy { $0.legs == 0 })
    #expect(try Realm.schemaVersion(for: realm.configuration) == 1)
  }

  @Test func `renaming keeps values, links and lists`() throws {
    let realm = try Realm(
      configuration: bench.configuration(newTypes) { migration, _ in
        migration.renameProperty(onType: "Human", from: "first", to: "fullName")
        migration.renameProperty(onType: "Human", from: "nick", to: "nickname")
        migration.renameProperty(onType: "Human", from: "pets", to: "animals")
        migration.renameProperty(onType: "Human", from: "favourite", to: "best")
        migration.renameProperty(onType: "Human", from: "scores", to: "marks")
      })
    for index in 0..<5 {
      let human = try #require(
        realm.objects(New.Human.self).where { $0.fullName == "F\(index)" }.first)
      #expect(human.nickname == (index % 2 == 0 ? "nick \(index)" : nil))
      #expect(human.animals.map(\.id) == [index * 10, index * 10 + 10, index * 10])
      #expect(human.best?.name == "pet \(index)")
      #expect(human.marks.count == (index == 4 ? 5000 : index))
      #expect(human.marks.last == (index == 0 ? nil : human.marks.count - 1))
    }
    let pet = try #require(realm.object(ofType: New.Pet.self, forPrimaryKey: 10))
    #expect(pet.owners.count == 3)
    try realm.write { realm.delete(pet) }
    #expect(realm.objects(New.Human.self).where { $0.fullName == "F1" }.first?.best == nil)
    #expect(realm.objects(New.Human.self).where { $0.fullName == "F0" }.first?.animals.count == 2)
  }

  @Test(arguments: [true, false])
  func `what the migration has deleted is left out of what is renamed or copied`(renames: Bool)
    throws
  {
    let realm = try Realm(
      configuration: bench.configuration(newTypes) { migration, _ in
        migration.renameProperty(onType: "Human", from: "first", to: "fullName")
        migration.enumerateObjects(ofType: "Pet") { old, new in
          if let new, old?.id as? Int == 20 { migration.delete(new) }
        }
        if renames {
          migration.renameProperty(onType: "Human", from: "pets", to: "animals")
          migration.renameProperty(onType: "Human", from: "favourite", to: "best")
        } else {
          migration.enumerateObjects(ofType: "Human") { old, new in
            new?["animals"] = old?["pets"]
            new?.best = old?.favourite
          }
        }
        // Another object with its key.
        migration.create("Pet", value: ["id": 20, "name": "another"])
      })
    let humans = realm.objects(New.Human.self).sorted(by: \.fullName)
    #expect(
      humans.map { $0.animals.map(\.id) } == [
        [0, 10, 0], [10, 10], [30], [30, 40, 30], [40, 50, 40],
      ])
    #expect(humans.map { $0.best?.id } == [0, 10, nil, 30, 40])
    #expect(realm.objects(New.Human.self).where { $0.best == nil }.map(\.fullName) == ["F2"])
    #expect(realm.object(ofType: New.Pet.self, forPrimaryKey: 20)?.owners.isEmpty == true)
  }

  @Test func `objects are made with class defaults, nested values and old objects`() throws {
    let realm = try Realm(
      configuration: bench.configuration(newTypes) { migration, _ in
        let empty = migration.create("Fresh")
        #expect(empty["name"] as? String == "fresh" && empty.pet == nil)
        migration.create(
          "Fresh",
          value: [
            "name": "nested", "pet": ["id": 100, "name": "new"], "unknown": 1,
            "pets": [["id": 101], [102, "array"]] as [Any],
          ] as [String: Any])
        var first: MigrationObject?
        migration.enumerateObjects(ofType: "Human") { old, _ in first = first ?? old }
        let made = migration.create("Fresh", value: ["old", first?.favourite ?? NSNull()] as [Any])
        made.pets = first?.pets
        migration.create("Human", value: ["fullName": "made", "mood": "cross"])
        var seen = 0
        migration.enumerateObjects(ofType: "Human") { _, _ in seen += 1 }
        #expect(seen == 5, "objects of the block are not visited")
      })
    let fresh = realm.objects(New.Fresh.self)
    #expect(Set(fresh.map(\.name)) == ["fresh", "nested", "old"])
    let nested = try #require(fresh.where { $0.name == "nested" }.first)
    #expect(nested.pet?.id == 100 && nested.pet?.legs == 4)
    #expect(nested.pets.map(\.id) == [101, 102] && nested.pets.last?.name == "array")
    let old = try #require(fresh.where { $0.name == "old" }.first)
    #expect(old.pet?.name == "pet 0" && old.pets.map(\.id) == [0, 10, 0])
    #expect(realm.objects(New.Human.self).where { $0.fullName == "made" }.first?.mood == .cross)
    #expect(realm.object(ofType: New.Pet.self, forPrimaryKey: 101) != nil)
  }

  @Test func `an object is made of an old one, whose class lacks what is computed`() throws {
    let realm = try Realm(
      configuration: bench.configuration([New.Human.self, KeptPet.self, New.Fresh.self]) {
        migration, _ in
        migration.enumerateObjects(ofType: "Pet") { old, new in
          guard let old, let new, old.id as? Int == 20 else { return }
          migration.delete(new)
          let made = migration.create("Pet", value: old)
          #expect(made.id as? Int == 20 && made.name as? String == "pet 2")
        }
      })
    #expect(realm.objects(KeptPet.self).map(\.id).sorted() == [0, 10, 20, 30, 40, 50])
    #expect(realm.object(ofType: KeptPet.self, forPrimaryKey: 20)?.owners.isEmpty == true)
  }

  @Test func `objects and classes are deleted`() throws {
    let realm = try Realm(
      configuration: bench.configuration(newTypes) { migration, _ in
        migration.enumerateObjects(ofType: "Human") { old, new in
          if let new, old?.first as? String != "F2" { migration.delete(new) }
        }
        var left = 0
        migration.enumerateObjects(ofType: "Human") { _, _ in left += 1 }
        #expect(left == 1)
        var ghosts = 0
        migration.enumerateObjects(ofType: "Ghost") { old, new in
          ghosts += 1
          #expect(old?.name as? String == "boo" && new == nil)
        }
        #expect(ghosts == 1)
        #expect(migration.deleteData(forType: "Ghost"))
        #expect(!migration.deleteData(forType: "Ghost"))
        #expect(!migration.deleteData(forType: "Unknown"))
        #expect(migration.deleteData(forType: "Pet"))
        #expect(migration.oldSchema["Ghost"] != nil && migration.newSchema["Ghost"] == nil)
        #expect(migration.newSchema["Human"]?["fullName"]?.isIndexed == true)
      })
    #expect(realm.objects(New.Human.self).count == 1)
    #expect(realm.objects(New.Human.self).first?.best == nil)
    #expect(realm.objects(New.Pet.self).isEmpty)
  }

  @Test func `a removed class keeps its data unless it is deleted`() throws {
    for (isDeleting, count) in [(false, 4), (true, 0)] {
      let version: UInt64 = isDeleting ? 3 : 1
      _ = try Realm(
        configuration: bench.configuration([Old.Pet.self], version: version) { migration, _ in
          if isDeleting { #expect(migration.deleteData(forType: "Tagged")) }
        })
      let realm = try Realm(
        configuration: bench.configuration([Old.Tagged.self], version: version + 1))
      #expect(realm.objects(Old.Tagged.self).count == count)
    }
  }

  @Test func `nothing links to objects of a deleted class, of removed classes either`() throws {
    _ = try Realm(
      configuration: bench.configuration([Old.Tagged.self]) { migration, _ in
        #expect(migration.deleteData(forType: "Pet"))
      })
    let realm = try Realm(
      configuration: bench.configuration(MigrationBench.oldTypes, version: 9))
    #expect(realm.objects(Old.Pet.self).isEmpty)
    // The keys are given again.
    try realm.write {
      for id in 0..<60 { realm.create(Old.Pet.self, value: ["id": id]) }
    }
    let ghosts = realm.objects(Old.Ghost.self)
    #expect(ghosts.count == 1 && ghosts[0].haunted == nil && ghosts[0].friends.isEmpty)
    let humans = realm.objects(Old.Human.self)
    #expect(!humans.isEmpty && humans.allSatisfy { $0.pets.isEmpty && $0.favourite == nil })
  }

  @Test func `the block runs once, and neither for new files nor for equal versions`() throws {
    let bench = try MigrationBench()
    let runs = Counter()
    let block: MigrationBlock = { _, _ in runs.increment() }
    _ = try Realm(configuration: bench.configuration([Old.Pet.self], version: 5, block))
    #expect(runs.value == 0)
    for _ in 0..<2 {
      _ = try Realm(
        configuration: bench.configuration(
          [New.Pet.self, New.Human.self, New.Fresh.self], version: 6, block))
    }
    #expect(runs.value == 1)
    try Realm.performMigration(
      for: bench.configuration([New.Pet.self, New.Human.self, New.Fresh.self], version: 7, block))
    #expect(runs.value == 2)
  }

  @Test func `objects of a migration are over when it is`() throws {
    let kept = Box<[MigrationObject]>([])
    let realm = try Realm(
      configuration: bench.configuration(newTypes) { migration, _ in
        migration.enumerateObjects(ofType: "Human") { old, new in
          kept.value += [old, new].compactMap { $0 }
        }
      })
    #expect(kept.value.count == 10 && kept.value.allSatisfy { $0.isInvalidated })
    #expect(realm.objects(New.Human.self).count == 5)
  }

  private final class Box<Value>: @unchecked Sendable {
    // Used on one thread.
    var value: Value
    init(_ value: Value) { self.value = value }
  }

  @Test func `any difference in version resets when the configuration says so`() throws {
    var wanted = bench.configuration([New.Tagged.self]) { _, _ in Issue.record("no block runs") }
    wanted.deleteRealmIfMigrationNeeded = true
    #expect(try Realm(configuration: wanted).objects(New.Tagged.self).isEmpty)
  }
}
