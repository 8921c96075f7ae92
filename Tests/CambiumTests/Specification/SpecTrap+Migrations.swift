import Cambium
import TestSupport

/// Misuse of migrations.
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
    migration(
      "deleting an object of a migration twice", "Object has been deleted or invalidated."
    ) { migration in
      migration.enumerateObjects(ofType: "Human") { _, new in
        var again: MigrationObject?
        migration.enumerateObjects(ofType: "Human") { _, other in again = other }
        guard let new, let again else { return }
        migration.delete(new)
        migration.delete(again)
      }
    },
    SpecTrap("migrating an open Realm", "Cannot migrate Realms that are already open.") {
      let realm = try specRealm()
      try Realm.performMigration(for: realm.configuration)
    },
  ]

  static func migration(
    _ name: String, _ message: String, _ body: @escaping @Sendable (Migration) -> Void
  ) -> SpecTrap {
    SpecTrap(name, message) {
      let folder = try TemporaryFolder()
      do {
        let realm = try Realm(configuration: specFile(folder, MigrationBench.oldTypes))
        try realm.write {
          realm.create(BeforeMigration.Human.self)
          realm.create(BeforeMigration.Pet.self)
        }
      }
      var configuration = specFile(
        folder,
        [AfterMigration.Human.self, AfterMigration.Pet.self, AfterMigration.Fresh.self, Thin.self])
      configuration.schemaVersion = 1
      configuration.migrationBlock = { migration, _ in body(migration) }
      _ = try Realm(configuration: configuration)
    }
  }
}
