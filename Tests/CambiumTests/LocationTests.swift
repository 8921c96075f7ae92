import Cambium
import CambiumCore
import Foundation
import TestSupport
import Testing

/// Stores that are named by text.
struct LocationTests {
  private final class LocatedThing: Object {
    @Persisted var number: Int
  }

  @Test func `text names a file, a path alone or memory`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/a.cambium"
    for text in ["file:\(path)", "file://\(path)", path] {
      var configuration = try Realm.Configuration(location: text)
      #expect(configuration.store.kind == "file")
      #expect(configuration.fileURL?.path == path)
      configuration.objectTypes = [LocatedThing.self]
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.create(LocatedThing.self, value: ["number": 1]) }
    }
    var again = try Realm.Configuration(location: path)
    again.objectTypes = [LocatedThing.self]
    #expect(try Realm(configuration: again).objects(LocatedThing.self).count == 3)
    let memory = try Realm.Configuration(location: "memory:scratch")
    #expect(memory.inMemoryIdentifier == "scratch")
    #expect(memory.store.kind == "memory")
  }

  @Test func `RocksDB is there with its trait, and an error says how to get it without`() throws {
    #if RocksDB
      #expect(try Realm.Configuration(location: "rocksdb:/nowhere").store.kind == "rocksdb")
    #else
      let error = #expect(throws: Realm.Error.self) {
        _ = try Realm.Configuration(location: "rocksdb:/nowhere")
      }
      #expect(error?.localizedDescription.contains(#"traits: ["RocksDB"]"#) == true)
    #endif
    // A name that is no kind is part of a path.
    #expect(try Realm.Configuration(location: "C:people").fileURL?.lastPathComponent == "C:people")
  }

  @Test func `a codec is named, and one that has not joined is an error at opening`() throws {
    let folder = try TemporaryFolder()
    var configuration = try Realm.Configuration(
      location: "file:\(folder.path)/b", codec: "lzw:9")
    configuration.objectTypes = [LocatedThing.self]
    #expect(configuration.codec?.name == "lzw")
    #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
  }
}
