#if RADOS
  import Cambium
  import CambiumRADOS
  import Foundation
  import Testing

  final class RadosNote: Object {
    @Persisted(primaryKey: true) var id: Int
    @Persisted var text: String
  }

  /// Realms as programs open them, by the place's name alone.
  @Suite(.serialized, .enabled(if: TestCluster.isWanted)) struct RadosRealmTests {
    private func configuration(_ name: String) throws -> Realm.Configuration {
      var configuration = try Realm.Configuration(
        location: "rados:db/\(name)?conf=\(TestCluster.shared.configuration)")
      configuration.objectTypes = [RadosNote.self]
      return configuration
    }

    @Test
    func
      `an encrypted Realm is there when it is opened again, for who has the key, until it is deleted`()
      throws
    {
      var configuration = try configuration("realm-\(UUID().uuidString)")
      configuration.encryptionKey = Data((0..<64).map { UInt8($0) })
      configuration.codec = .named("zstd:3")
      try autoreleasepool {
        let realm = try Realm(configuration: configuration)
        try realm.write {
          for id in 0..<500 { realm.add(RadosNote(value: ["id": id, "text": "note \(id)"])) }
        }
        #expect(throws: Realm.Error.self) { try Realm.deleteFiles(for: configuration) }
      }
      try autoreleasepool {
        let realm = try Realm(configuration: configuration)
        #expect(realm.object(ofType: RadosNote.self, forPrimaryKey: 321)?.text == "note 321")
      }
      var wrong = configuration
      wrong.encryptionKey = Data(repeating: 9, count: 64)
      #expect(throws: Realm.Error.self) { try Realm(configuration: wrong) }
      #expect(try Realm.deleteFiles(for: configuration))
      #expect(try !Realm.deleteFiles(for: configuration))
      var gone = configuration
      gone.readOnly = true
      #expect(throws: Realm.Error.self) { try Realm(configuration: gone) }
    }

    @Test func `a pool that is not there, and a cluster that is not, are errors that say so`()
      throws
    {
      var configuration = try Realm.Configuration(
        location: "rados:no-pool/x?conf=\(TestCluster.shared.configuration)")
      configuration.objectTypes = [RadosNote.self]
      let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
      #expect(error?.localizedDescription.contains("no pool 'no-pool'") == true)
      let missing = try Realm.Configuration(location: "rados:db/x?conf=/nowhere/ceph.conf")
      let other = #expect(throws: Realm.Error.self) { try Realm(configuration: missing) }
      #expect(other?.localizedDescription.contains("/nowhere/ceph.conf") == true)
    }
  }
#endif
