#if Crypto
  import Cambium
  import CambiumCore
  import CambiumCrypto
  import CambiumZstd
  import Foundation
  import Synchronization
  import TestSupport
  import Testing

  final class Letter: Object {
    @Persisted(primaryKey: true) var number: Int
    @Persisted var text: String
  }

  /// `Realm.Configuration.encryptionKey`, and the configuration's codec.
  struct EncryptedRealmTests {
    private let folder: TemporaryFolder

    init() throws {
      folder = try TemporaryFolder()
    }

    private func configuration(_ name: String, key: UInt8?) -> Realm.Configuration {
      Realm.Configuration(
        fileURL: URL(fileURLWithPath: folder.file(name)),
        encryptionKey: key.map { Data(Keys.bytes($0)) }, objectTypes: [Letter.self])
    }

    private func write(_ configuration: Realm.Configuration) throws {
      let realm = try Realm(configuration: configuration)
      try realm.write {
        for number in 0..<50 {
          realm.add(Letter(value: ["number": number, "text": "dear diary \(number)"]))
        }
      }
    }

    private func expectLetters(_ configuration: Realm.Configuration) throws {
      let realm = try Realm(configuration: configuration)
      #expect(realm.objects(Letter.self).count == 50)
      #expect(realm.object(ofType: Letter.self, forPrimaryKey: 7)?.text == "dear diary 7")
    }

    private func bytes(_ name: String) throws -> String {
      String(decoding: try Data(contentsOf: URL(fileURLWithPath: folder.file(name))), as: UTF8.self)
    }

    private func code(_ configuration: Realm.Configuration) -> Realm.Error.Code? {
      do {
        _ = try Realm(configuration: configuration)
        return nil
      } catch {
        return (error as? Realm.Error)?.code
      }
    }

    @Test func `a key encrypts, and is needed from then on`() throws {
      try write(configuration("a.realm", key: 1))
      try expectLetters(configuration("a.realm", key: 1))
      #expect(!(try bytes("a.realm").contains("diary")))
      #expect(code(configuration("a.realm", key: 2)) == .invalidDatabase)
      #expect(code(configuration("a.realm", key: nil)) == .invalidDatabase)
      try write(configuration("plain.realm", key: nil))
      #expect(code(configuration("plain.realm", key: 1)) == .invalidDatabase)
      for (name, key) in [("a.realm", nil), ("plain.realm", 1)] as [(String, UInt8?)] {
        let error = #expect(throws: Realm.Error.self) {
          _ = try Realm(configuration: configuration(name, key: key))
        }
        // What follows the advice opens it.
        let text = error?.localizedDescription ?? ""
        #expect(
          text.contains("encryptionKey") && !text.contains("configuration's codec"), "\(text)")
      }
      try expectLetters(configuration("a.realm", key: 1))
    }

    @Test func `an open Realm is not opened with another key`() throws {
      try write(configuration("a.realm", key: 1))
      let realm = try Realm(configuration: configuration("a.realm", key: 1))
      let message = Mutex("")
      let other = configuration("a.realm", key: 2)
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        do { _ = try Realm(configuration: other) } catch {
          let text = "\(error)"
          message.withLock { $0 = text }
        }
        done.signal()
      }
      done.wait()
      #expect(message.withLock { $0.contains("already opened with different encryption key") })
      withExtendedLifetime(realm) {}
    }

    @Test func `copies add, change and remove encryption`() throws {
      try write(configuration("a.realm", key: 1))
      let realm = try Realm(configuration: configuration("a.realm", key: 1))
      for (name, key) in [("b", 1), ("c", 2), ("d", nil)] as [(String, UInt8?)] {
        try realm.writeCopy(
          toFile: URL(fileURLWithPath: folder.file(name)),
          encryptionKey: key.map { Data(Keys.bytes($0)) })
        try expectLetters(configuration(name, key: key))
        #expect(try bytes(name).contains("diary") == (key == nil))
      }
      let plain = try Realm(configuration: configuration("d", key: nil))
      try plain.writeCopy(configuration: configuration("e", key: 3))
      try expectLetters(configuration("e", key: 3))
    }

    @Test func `the schema version is read with the key`() throws {
      var configuration = configuration("a.realm", key: 1)
      configuration.schemaVersion = 4
      try write(configuration)
      let url = try #require(configuration.fileURL)
      #expect(try schemaVersionAtURL(url, encryptionKey: Data(Keys.bytes(1))) == 4)
      #expect(throws: (any Error).self) {
        try schemaVersionAtURL(url, encryptionKey: Data(Keys.bytes(2)))
      }
      #expect(throws: (any Error).self) { try schemaVersionAtURL(url) }
    }

    @Test func `neither configurations nor errors show a key`() throws {
      try write(configuration("a.realm", key: 1))
      let key = Data(Keys.bytes(2))
      let shown = [
        key.base64EncodedString(), key.map { String($0, radix: 16) }.joined(),
        key.map { "\($0)" }.joined(separator: ", "), String(decoding: key, as: UTF8.self),
      ]
      var text = "\(configuration("a.realm", key: 2))"
      do { _ = try Realm(configuration: configuration("a.realm", key: 2)) } catch {
        text += "\(error) \(String(reflecting: error)) \(error.localizedDescription)"
      }
      for form in shown { #expect(!text.contains(form)) }
    }

    @Test func `a Realm compacts on launch, and migrates, with its key`() throws {
      try write(configuration("a.realm", key: 1))
      var next = configuration("a.realm", key: 1)
      next.schemaVersion = 2
      next.shouldCompactOnLaunch = { _, _ in true }
      try expectLetters(next)
      try expectLetters(next)
    }

    #if Zstd
      @Test func `a chosen codec comes before encryption`() throws {
        var small = configuration("a.realm", key: 1)
        small.codec = .named("zstd:19")
        try write(small)
        try expectLetters(small)
        #expect(try bytes("a.realm").contains("zstd+aes-256-gcm"))
        small.encryptionKey = nil
        #expect(code(small) == .invalidDatabase)
        var only = configuration("b.realm", key: nil)
        only.codec = Realm.Codec(try ZstdCodec())
        try write(only)
        try expectLetters(only)
        var missing = configuration("c.realm", key: nil)
        missing.codec = .named("lz77")
        #expect(code(missing) == .fail)
      }
    #endif
  }
#endif
