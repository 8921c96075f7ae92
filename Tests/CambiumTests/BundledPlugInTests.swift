import Cambium
import CambiumCore
import Foundation
import TestSupport
import Testing

/// The plug-ins of this package, in processes where nobody calls a `register()`.
struct BundledPlugInTests {
  final class Note: Object {
    @Persisted(primaryKey: true) var number: Int
    @Persisted var text: String
  }

  private static func configuration(_ folder: TemporaryFolder) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(fileURLWithPath: folder.file("notes")), objectTypes: [Note.self])
  }

  private static func write(_ configuration: Realm.Configuration) throws {
    let realm = try Realm(configuration: configuration)
    try realm.write { realm.create(Note.self, value: ["number": 1, "text": "dear diary"]) }
  }

  private static func message(_ configuration: Realm.Configuration) -> String {
    do {
      _ = try Realm(configuration: configuration)
      return "none"
    } catch {
      return error.localizedDescription
    }
  }

  @Test func `a key alone encrypts with the trait Crypto, and names it without`() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      var configuration = Self.configuration(folder)
      configuration.encryptionKey = Data(repeating: 1, count: 64)
      #if Crypto
        try Self.write(configuration)
        #expect(try Realm(configuration: configuration).objects(Note.self).count == 1)
        configuration.encryptionKey = Data(repeating: 2, count: 64)
        #expect(Self.message(configuration).contains("key"))
      #else
        #expect(Self.message(configuration).contains(#"traits: ["Crypto"]"#))
      #endif
    }
  }

  @Test func `a codec is chosen by its name with the trait Zstd, and names it without`() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      var configuration = Self.configuration(folder)
      configuration.codec = .named("zstd:9")
      #if Zstd
        try Self.write(configuration)
        #expect(try Realm(configuration: configuration).objects(Note.self).count == 1)
        configuration.codec = nil
        #expect(Self.message(configuration).contains("Set the configuration's codec to zstd."))
      #else
        #expect(Self.message(configuration).contains(#"traits: ["Zstd"]"#))
      #endif
    }
  }

  @Test func `what the program has registered under a bundled name stays`() async {
    await #expect(processExitsWith: .success) {
      CodecRegistry.register(
        CodecRegistry.Entry(name: "zstd") { _, _ throws(StoreError) in
          throw .codecFailure(codec: "zstd", reason: "it is the program's own")
        })
      StoreRegistry.register(
        StoreChoice(kind: "file") { _ throws(StoreError) in
          throw .storeUnavailable(kind: "file", advice: "It is the program's own")
        })
      let folder = try TemporaryFolder()
      var configuration = Self.configuration(folder)
      configuration.codec = .named("zstd")
      #expect(Self.message(configuration).contains("the program's own"))
      configuration = try Realm.Configuration(location: "file:" + folder.file("notes"))
      configuration.objectTypes = [Note.self]
      #expect(Self.message(configuration).contains("the program's own"))
    }
  }
}
