import Cambium
import CambiumCore
import Foundation
import TestSupport
import Testing

private enum TopLevel {
  final class Place: MigratedObject {
    @Persisted var name = ""
    @Persisted var inner: Inner?
  }
  final class Inner: MigratedObject { @Persisted var depth = 0 }
  final class Owner: MigratedObject {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var place: Place?
    @Persisted var places: List<Place>
  }
}

private enum Embedded {
  final class Place: SpecEmbedded {
    @Persisted var name = ""
    @Persisted var inner: Inner?
  }
  final class Inner: SpecEmbedded { @Persisted var depth = 0 }
  final class Owner: MigratedObject {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var place: Place?
    @Persisted var places: List<Place>
  }
  /// Without the list.
  final class Poorer: MigratedObject {
    @Persisted(primaryKey: true) var id = 0
    @Persisted var place: Place?

    override class func _realmObjectName() -> String? { "Owner" }
  }
}

/// Section B23.3: classes that come to be embedded, and cease to.
@Suite struct B23EmbeddingTests {
  private let file: SpecFile

  init() throws { file = try SpecFile() }

  private func migrated(
    _ types: [ObjectBase.Type], _ version: UInt64, _ block: MigrationBlock? = nil
  ) -> Realm.Configuration {
    var configuration = specFile(file.folder, types)
    configuration.schemaVersion = version
    configuration.migrationBlock = block
    return configuration
  }

  private let topLevel: [ObjectBase.Type] = [
    TopLevel.Place.self, TopLevel.Inner.self, TopLevel.Owner.self,
  ]
  private let embedded: [ObjectBase.Type] = [
    Embedded.Place.self, Embedded.Inner.self, Embedded.Owner.self,
  ]

  private func fill() throws {
    try autoreleasepool {
      let realm = try Realm(configuration: migrated(topLevel, 0))
      try realm.write {
        let shared = TopLevel.Place(value: ["name": "shared", "inner": [7]])
        let own = TopLevel.Place(value: ["name": "own"])
        realm.add(TopLevel.Place(value: ["name": "orphan", "inner": [8]]))
        for id in 0..<3 {
          let owner = realm.create(TopLevel.Owner.self, value: ["id": id])
          owner.place = shared
          owner.places.append(objectsIn: id == 0 ? [own, shared, shared] : [shared])
        }
      }
      #expect(realm.objects(TopLevel.Place.self).count == 3)
    }
  }

  @Test func `a class can be made embedded by a migration only`() throws {
    try fill()
    let error = #expect(throws: Realm.Error.self) {
      try Realm(configuration: migrated(embedded, 0))
    }
    #expect(error?.code == .schemaMismatch)
    #expect(
      error?.localizedDescription.contains(
        "- Class 'Place' has been changed from 'TopLevel' to 'Embedded'.") == true)
  }

  @Test(arguments: [true, false])
  func `shared objects are copied, and those without an owner go`(hasBlock: Bool) throws {
    try fill()
    var configuration = migrated(embedded, 1)
    if hasBlock { configuration.migrationBlock = { _, _ in } }
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      let owners = realm.objects(Embedded.Owner.self).sorted(by: \.id)
      #expect(owners.map { $0.place?.name } == ["shared", "shared", "shared"])
      #expect(owners.map { $0.place?.inner?.depth } == [7, 7, 7])
      #expect(owners[0].places.map(\.name) == ["own", "shared", "shared"])
      #expect(owners[2].places.first?.inner?.depth == 7)
      #expect(realm.dynamicObjects("Place").count == 8)
      #expect(realm.dynamicObjects("Inner").count == 7)
      try realm.write { owners[1].place?.name = "mine" }
      #expect(owners.map { $0.place?.name } == ["shared", "mine", "shared"])
    }
    try file.expectSound(configuration)
  }

  @Test func `a lost property takes its embedded objects along`() throws {
    try fill()
    _ = try autoreleasepool { try Realm(configuration: migrated(embedded, 1)) }
    let poorer = migrated(
      [Embedded.Place.self, Embedded.Inner.self, Embedded.Poorer.self], 2)
    try autoreleasepool {
      let realm = try Realm(configuration: poorer)
      #expect(realm.dynamicObjects("Place").count == 3)
      #expect(realm.dynamicObjects("Inner").count == 3)
    }
    try file.expectSound(poorer)
  }

  @Test func `a migration makes and replaces embedded objects`() throws {
    try fill()
    let configuration = migrated(embedded, 1) { migration, _ in
      migration.enumerateObjects(ofType: "Owner") { old, new in
        let name = old.flatMap { $0["id"] as? Int }.map { "made \($0)" }
        new?["place"] = ["name": name as Any, "inner": ["depth": 1]] as [String: Any]
      }
    }
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      let owners = realm.objects(Embedded.Owner.self).sorted(by: \.id)
      #expect(owners.map { $0.place?.name } == ["made 0", "made 1", "made 2"])
      #expect(owners.map { $0.place?.inner?.depth } == [1, 1, 1])
      #expect(realm.dynamicObjects("Place").count == 8)
    }
    try file.expectSound(configuration)
  }

  @Test func `an embedded class can become one of its own again`() throws {
    try fill()
    _ = try autoreleasepool { try Realm(configuration: migrated(embedded, 1)) }
    let configuration = migrated(topLevel, 2)
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      #expect(realm.objects(TopLevel.Place.self).count == 8)
      try realm.write { realm.delete(realm.objects(TopLevel.Owner.self)) }
      #expect(realm.objects(TopLevel.Place.self).count == 8)
    }
    try file.expectSound(configuration)
  }

  /// The database below the Realms, while none is open.
  private func database() throws -> Database {
    let request = Realm.StoreRequest(
      path: file.folder.file("spec.realm"), isReadOnly: false,
      codec: try SampledStore.forTest(at: file.folder.path, persistent: true).makeCodec())
    return try Database(
      store: migrated(topLevel, 0).store.open(request), codec: request.codec)
  }

  @Test func `a database that is emptied for other classes keeps what readers must know`() throws {
    try fill()
    var configuration = migrated(embedded, 0)
    configuration.deleteRealmIfMigrationNeeded = true
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      #expect(realm.isEmpty)
    }
    let database = try database()
    let features = try StoredFeatures(of: database.snapshot(), path: "")
    #expect(features == [.embeddedObjects, .groupedBacklinks, .packedWords])
    try database.close()
  }

  @Test func `a database with unknown features is refused in one line`() throws {
    try fill()
    let configuration = migrated(topLevel, 0)
    let database = try database()
    let transaction = try database.beginWrite()
    try transaction.setValue("schema/features", [1, 0, 0, 0, 0, 0, 0, 0x80])
    _ = try transaction.commit()
    try database.close()
    let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
    let text = error?.localizedDescription ?? ""
    #expect(text.contains("uses features this library does not know (bits 0x8000000000000000)"))
    #expect(!text.contains("\n"))
  }
}
