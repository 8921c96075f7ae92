import Cambium
import Foundation
import TestSupport
import Testing

private class MigratedObject: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private enum Old {
  final class Human: MigratedObject {
    @Persisted var first = ""
    @Persisted var last = ""
    @Persisted var age = "0"
    @Persisted var nick: String?
    @Persisted var mood = Mood.calm
    @Persisted var pets: List<Pet>
    @Persisted var favourite: Pet?
    @Persisted var scores: List<Int>
  }
  final class Pet: MigratedObject {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var name = ""
  }
  final class Ghost: MigratedObject {
    @Persisted var name = ""
    @Persisted var haunted: Pet?
    @Persisted var friends: List<Pet>
  }
  final class Tagged: MigratedObject {
    @Persisted var code = 0
    @Persisted var text = ""
    @Persisted var next: Tagged?
    @Persisted var others: List<Tagged>
    @Persisted(indexed: true) var rank = 0
  }
}

private enum New {
  final class Human: MigratedObject {
    @Persisted(indexed: true) var fullName = ""
    @Persisted var age = 0
    @Persisted var nickname: String?
    @Persisted var mood = Mood.calm
    @Persisted var animals: List<Pet>
    @Persisted var best: Pet?
    @Persisted var marks: List<Int>
  }
  final class Pet: MigratedObject {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var name = ""
    @Persisted var legs = 4
    @Persisted(originProperty: "animals") var owners: LinkingObjects<Human>
  }
  final class Fresh: MigratedObject {
    @Persisted var name = "fresh"
    @Persisted var pet: Pet?
    @Persisted var pets: List<Pet>
  }
  final class Tagged: MigratedObject {
    @Persisted(primaryKey: true) var code = 0
    @Persisted var text = ""
    @Persisted var next: Tagged?
    @Persisted var others: List<Tagged>
    @Persisted(indexed: true) var rank = 0
  }
}

private enum Text {
  final class Tagged: MigratedObject {
    @Persisted(primaryKey: true) var text = ""
    @Persisted var code = 0
    @Persisted var next: Tagged?
    @Persisted var others: List<Tagged>
    @Persisted(indexed: true) var rank = 0
  }
}

private enum Mood: String, PersistableEnum { case calm, cross }

private let oldTypes: [ObjectBase.Type] = [
  Old.Human.self, Old.Pet.self, Old.Ghost.self, Old.Tagged.self,
]

/// Section B23.3: migrations.
@Suite struct B23MigrationTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func fill() throws {
    let realm = try Realm(configuration: specFile(folder, oldTypes))
    try realm.write {
      let pets = (0..<6).map { Old.Pet(value: ["id": $0 * 10, "name": "pet \($0)"]) }
      for index in 0..<5 {
        let human = realm.create(
          Old.Human.self,
          value: ["first": "F\(index)", "last": "L\(index)", "age": "\(index * 7)"])
        human.nick = index % 2 == 0 ? "nick \(index)" : nil
        human.mood = index == 1 ? .cross : .calm
        human.pets.append(objectsIn: [pets[index], pets[index + 1], pets[index]])
        human.favourite = pets[index]
        human.scores.append(objectsIn: Array(0..<(index == 4 ? 5000 : index)))
      }
      let ghost = realm.create(Old.Ghost.self, value: ["name": "boo"])
      ghost.haunted = pets[2]
      ghost.friends.append(objectsIn: pets)
      let tagged = (0..<4).map {
        Old.Tagged(value: ["code": 3 - $0, "text": "t\($0)", "rank": $0])
      }
      for (index, object) in tagged.enumerated() {
        object.next = tagged[(index + 1) % 4]
        object.others.append(objectsIn: [tagged[0], object, tagged[0]])
      }
      realm.add(tagged)
    }
  }

  private func configuration(
    _ types: [ObjectBase.Type], version: UInt64 = 1, _ block: MigrationBlock? = nil
  ) -> Realm.Configuration {
    var configuration = specFile(folder, types)
    configuration.schemaVersion = version
    configuration.migrationBlock = block
    return configuration
  }

  private var newTypes: [ObjectBase.Type] { [New.Human.self, New.Pet.self, New.Fresh.self] }

  @Test func `a block carries values over`() throws {
    try fill()
    let realm = try Realm(
      configuration: configuration(newTypes) { migration, version in
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
    #expect(try schemaVersionAtURL(#require(realm.configuration.fileURL)) == 1)
  }

  @Test func `renaming keeps values, links and lists`() throws {
    try fill()
    let realm = try Realm(
      configuration: configuration(newTypes) { migration, _ in
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

  @Test func `objects are made with class defaults, nested values and old objects`() throws {
    try fill()
    let realm = try Realm(
      configuration: configuration(newTypes) { migration, _ in
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

  @Test func `objects and classes are deleted`() throws {
    try fill()
    let realm = try Realm(
      configuration: configuration(newTypes) { migration, _ in
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
    try fill()
    for (isDeleting, count) in [(false, 4), (true, 0)] {
      let version: UInt64 = isDeleting ? 3 : 1
      _ = try Realm(
        configuration: configuration([Old.Pet.self], version: version) { migration, _ in
          if isDeleting { #expect(migration.deleteData(forType: "Tagged")) }
        })
      let realm = try Realm(configuration: configuration([Old.Tagged.self], version: version + 1))
      #expect(realm.objects(Old.Tagged.self).count == count)
    }
  }

  @Test func `the block runs once, and neither for new files nor for equal versions`() throws {
    let runs = Counter()
    let block: MigrationBlock = { _, _ in runs.increment() }
    _ = try Realm(configuration: configuration([Old.Pet.self], version: 5, block))
    #expect(runs.value == 0)
    for _ in 0..<2 {
      _ = try Realm(
        configuration: configuration(
          [New.Pet.self, New.Human.self, New.Fresh.self], version: 6, block))
    }
    #expect(runs.value == 1)
    try Realm.performMigration(
      for: configuration([New.Pet.self, New.Human.self, New.Fresh.self], version: 7, block))
    #expect(runs.value == 2)
  }

  @Test func `duplicate keys undo everything`() throws {
    try fill()
    var failure: Realm.Error?
    do {
      _ = try Realm(
        configuration: configuration([New.Tagged.self]) { migration, _ in
          migration.enumerateObjects(ofType: "Tagged") { _, new in new?.code = 7 }
        })
    } catch let error as Realm.Error { failure = error }
    #expect(
      failure?.localizedDescription.contains(
        "Primary key property 'Tagged.code' has duplicate values after migration.") == true)
    let realm = try Realm(configuration: specFile(folder, oldTypes))
    #expect(realm.objects(Old.Tagged.self).map(\.code).sorted() == [0, 1, 2, 3])
    #expect(realm.objects(Old.Human.self).count == 5)
  }

  @Test func `an integer primary key that is added moves objects, links and indexes along`() throws
  {
    try fill()
    let realm = try Realm(
      configuration: configuration([New.Tagged.self]) { migration, _ in
        migration.enumerateObjects(ofType: "Tagged") { _, new in
          new?["text"] = "\(new?["text"] ?? "")!"
        }
      })
    #expect(realm.objects(New.Tagged.self).count == 4)
    for index in 0..<4 {
      let object = try #require(realm.object(ofType: New.Tagged.self, forPrimaryKey: 3 - index))
      #expect(object.text == "t\(index)!" && object.rank == index)
      #expect(object.next?.text == "t\((index + 1) % 4)!")
      #expect(object.others.map(\.text) == ["t0!", "t\(index)!", "t0!"])
      #expect(realm.objects(New.Tagged.self).where { $0.rank == index }.first == object)
    }
    try realm.write { realm.delete(realm.objects(New.Tagged.self).where { $0.code == 3 }) }
    #expect(realm.objects(New.Tagged.self).allSatisfy { $0.others.count == 1 })
  }

  @Test func `a primary key of another type, its removal and its assignment`() throws {
    try fill()
    _ = try Realm(configuration: configuration([Text.Tagged.self]))
    do {
      let realm = try Realm(configuration: configuration([Text.Tagged.self]))
      let object = try #require(realm.object(ofType: Text.Tagged.self, forPrimaryKey: "t2"))
      #expect(object.code == 1 && object.next?.text == "t3")
    }
    _ = try Realm(
      configuration: configuration([Text.Tagged.self], version: 2) { migration, _ in
        migration.enumerateObjects(ofType: "Tagged") { _, new in
          new?.text = "\(new?.text ?? "") changed"
        }
      })
    do {
      let realm = try Realm(configuration: configuration([Text.Tagged.self], version: 2))
      #expect(realm.object(ofType: Text.Tagged.self, forPrimaryKey: "t2") == nil)
      #expect(realm.object(ofType: Text.Tagged.self, forPrimaryKey: "t2 changed")?.code == 1)
    }
    _ = try Realm(
      configuration: configuration([New.Tagged.self], version: 3) { migration, _ in
        migration.enumerateObjects(ofType: "Tagged") { _, new in
          new?.code = 10 + (new?.code as? Int ?? 0)
        }
      })
    _ = try Realm(
      configuration: configuration([New.Tagged.self], version: 4) { migration, _ in
        // Each takes the key that another one has.
        migration.enumerateObjects(ofType: "Tagged") { _, new in
          new?.code = 23 - (new?.code as? Int ?? 0)
        }
      })
    let realm = try Realm(configuration: configuration([New.Tagged.self], version: 4))
    #expect(realm.object(ofType: New.Tagged.self, forPrimaryKey: 12)?.text == "t2 changed")
    #expect(realm.objects(New.Tagged.self).map(\.code).sorted() == [10, 11, 12, 13])
    #expect(realm.objects(New.Tagged.self).allSatisfy { $0.next != nil && $0.others.count == 3 })
  }

  @Test func `objects of a migration are over when it is`() throws {
    try fill()
    let kept = Box<[MigrationObject]>([])
    let realm = try Realm(
      configuration: configuration(newTypes) { migration, _ in
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
    try fill()
    var wanted = configuration([New.Tagged.self]) { _, _ in Issue.record("no block runs") }
    wanted.deleteRealmIfMigrationNeeded = true
    #expect(try Realm(configuration: wanted).objects(New.Tagged.self).isEmpty)
  }
}

// Misuse of migrations.
extension SpecTrap {
  static let migrations: [SpecTrap] = [
    migration(
      "renaming in an unknown class", "Cannot rename properties for type 'X' because it does"
    ) { $0.renameProperty(onType: "X", from: "a", to: "b") },
    migration("renaming in a removed class", "'Ghost' because it has been removed from the Realm.")
    {
      $0.renameProperty(onType: "Ghost", from: "a", to: "b")
    },
    migration("renaming what is still there", "because the source property still exists.") {
      $0.renameProperty(onType: "Human", from: "mood", to: "fullName")
    },
    migration(
      "renaming what never was", "Cannot rename property 'Human.x' because it does not exist"
    ) {
      $0.renameProperty(onType: "Human", from: "x", to: "fullName")
    },
    migration(
      "renaming to another type", "because it would change from type 'string' to 'array<int>'"
    ) { $0.renameProperty(onType: "Human", from: "first", to: "marks") },
    migration("renaming to a required one", "because it would change from optional to required.") {
      $0.renameProperty(onType: "Human", from: "nick", to: "fullName")
    },
    migration("creating an unknown class", "Object type 'X' is not managed by the Realm.") {
      $0.create("X")
    },
    migration("creating with a taken key", "with an existing primary key value '0'") {
      $0.create("Pet", value: ["id": 0])
    },
    migration("creating with too many values", "more values (3) than properties (1)") {
      $0.create("Thin", value: [1, 2, 3])
    },
    migration(
      "a wrong type in a migration",
      "Invalid value 'x' of type 'String' for 'int' property 'Human.age'"
    ) {
      $0.enumerateObjects(ofType: "Human") { _, new in new?.age = "x" }
    },
    migration("an unknown name in a migration", "Invalid property name 'x' for class 'Human'.") {
      $0.enumerateObjects(ofType: "Human") { old, _ in _ = old?.x }
    },
    migration("writing to an old object", "Attempting to modify a frozen object") {
      $0.enumerateObjects(ofType: "Human") { old, _ in old?.first = "x" }
    },
    SpecTrap("migrating an open Realm", "Cannot migrate Realms that are already open.") {
      let realm = try specRealm()
      try Realm.performMigration(for: realm.configuration)
    },
  ]

  private static func migration(
    _ name: String, _ message: String, _ body: @escaping @Sendable (Migration) -> Void
  ) -> SpecTrap {
    SpecTrap(name, message) {
      let folder = try TemporaryFolder()
      do {
        let realm = try Realm(configuration: specFile(folder, oldTypes))
        try realm.write {
          realm.create(Old.Human.self)
          realm.create(Old.Pet.self)
        }
      }
      var configuration = specFile(
        folder, [New.Human.self, New.Pet.self, New.Fresh.self, Thin.self])
      configuration.schemaVersion = 1
      configuration.migrationBlock = { migration, _ in body(migration) }
      _ = try Realm(configuration: configuration)
    }
  }
}

private final class Thin: MigratedObject {
  @Persisted var only = 0
}
