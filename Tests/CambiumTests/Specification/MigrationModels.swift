import Cambium
import TestSupport

/// A class that is in no schema unless it is named.
class MigratedObject: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// The classes before a migration.
enum BeforeMigration {
  final class Human: MigratedObject {
    @Persisted var first = ""
    @Persisted var last = ""
    @Persisted var age = "0"
    @Persisted var nick: String?
    @Persisted var mood = MigratedMood.calm
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

/// The classes after it.
enum AfterMigration {
  final class Human: MigratedObject {
    @Persisted(indexed: true) var fullName = ""
    @Persisted var age = 0
    @Persisted var nickname: String?
    @Persisted var mood = MigratedMood.calm
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

/// The old form of a class, with something computed.
final class KeptPet: MigratedObject {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var name = ""
  @Persisted(originProperty: "animals") var owners: LinkingObjects<AfterMigration.Human>
  override class func _realmObjectName() -> String? { "Pet" }
}

/// One of them under another primary key.
enum KeyedByText {
  final class Tagged: MigratedObject {
    @Persisted(primaryKey: true) var text = ""
    @Persisted var code = 0
    @Persisted var next: Tagged?
    @Persisted var others: List<Tagged>
    @Persisted(indexed: true) var rank = 0
  }
}

enum MigratedMood: String, PersistableEnum { case calm, cross }

/// A class with one property.
final class Thin: MigratedObject {
  @Persisted var only = 0
}

/// A file with objects of the classes before a migration.
struct MigrationBench {
  private typealias Old = BeforeMigration

  static let oldTypes: [ObjectBase.Type] = [
    BeforeMigration.Human.self, BeforeMigration.Pet.self, BeforeMigration.Ghost.self,
    BeforeMigration.Tagged.self,
  ]

  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  func fill() throws {
    let realm = try Realm(configuration: specFile(folder, Self.oldTypes))
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

  /// How the file is opened with `types` and migrated to `version`.
  func configuration(
    _ types: [ObjectBase.Type], version: UInt64 = 1, _ block: MigrationBlock? = nil
  ) -> Realm.Configuration {
    var configuration = specFile(folder, types)
    configuration.schemaVersion = version
    configuration.migrationBlock = block
    return configuration
  }
}
