import Cambium
import Foundation
import TestSupport
import Testing

/// What an import leaves behind, where it can go, and what it says when it cannot.
@Suite struct ImportTests {
  private let folder: TemporaryFolder
  private var target: URL { folder.url("new.cambium") }

  init() throws { folder = try TemporaryFolder() }

  private func source(_ name: String) throws -> URL { URL(fileURLWithPath: try Samples.path(name)) }

  /// The code of the error that `body` throws, and its text.
  private func failure(_ body: () throws -> Void) -> (code: Realm.Error.Code, text: String)? {
    do { try body() } catch let error as Realm.Error {
      return (error.code, error.localizedDescription)
    } catch {
      Issue.record("\(error)")
    }
    return nil
  }

  // MARK: What is left behind

  @Test func `the old file stays as it is, and nothing is made beside it`() throws {
    let old = folder.url("old.realm")
    try Imports.copy("links", to: old)
    let before = try Data(contentsOf: old)
    let date =
      try FileManager.default.attributesOfItem(atPath: old.path)[.modificationDate] as? Date
    try Realm.importRealmFile(at: old, into: Realm.Configuration(fileURL: target))
    #expect(try Data(contentsOf: old) == before)
    #expect(
      try FileManager.default.attributesOfItem(atPath: old.path)[.modificationDate] as? Date == date
    )
    #expect(try Imports.names(in: folder.url) == ["new.cambium", "old.realm"])
  }

  @Test func `an import that is ended leaves nothing`() throws {
    struct Enough: Error {}
    for stage in [Realm.ImportProgress.Stage.importing, .comparing] {
      #expect(throws: Enough.self) {
        try Realm.importRealmFile(
          at: try source("objects-1000"), into: Realm.Configuration(fileURL: target)
        ) { progress in
          if progress.stage == stage, progress.completed > 300 { throw Enough() }
        }
      }
      #expect(try Imports.names(in: folder.url) == [])
    }
  }

  @Test func `progress tells of all objects, twice`() throws {
    var completed: [String: Int] = [:]
    var totals: [String: Int] = [:]
    try Realm.importRealmFile(
      at: try source("objects-1000"), into: Realm.Configuration(fileURL: target)
    ) { progress in
      let key = "\(progress.stage) \(progress.className)"
      #expect(progress.completed >= completed[key] ?? 0)
      completed[key] = progress.completed
      totals[key] = progress.total
    }
    #expect(completed == totals)
    #expect(completed.keys.contains("comparing Scattered"))
  }

  @Test(arguments: ["links", "mixed", "collections", "primary-keys", "format-22", "tombstones"])
  func `indexes, backlinks and owners agree with the objects`(name: String) throws {
    try Realm.importRealmFile(
      at: try source(name), into: Realm.Configuration(fileURL: target))
    #expect(try Imports.findings(at: target) == [])
  }

  @Test func `inverse relationships are there`() throws {
    try Realm.importRealmFile(
      at: try source("links"), into: Realm.Configuration(fileURL: target))
    var configuration = Realm.Configuration(fileURL: target)
    configuration.usesStoredClasses = true
    let realm = try Realm(configuration: configuration)
    let owned = realm.dynamicObjects("Dog").filter("owner != nil")
    let dog = try #require(owned.first)
    let owner = try #require(dog["owner"] as? DynamicObject)
    #expect(realm.rowKeys(linkingTo: owner, from: "Dog", by: "owner").contains(dog.rowKey))
  }

  // MARK: Where it goes

  @Test func `any store and codec takes an import`() throws {
    var places: [Realm.Configuration] = [Realm.Configuration(fileURL: folder.url("plain"))]
    #if Zstd
      var packed = Realm.Configuration(fileURL: folder.url("packed"))
      packed.codec = .named("zstd:3")
      places.append(packed)
    #endif
    #if Crypto
      places.append(
        Realm.Configuration(fileURL: folder.url("secret"), encryptionKey: Data(Samples.key)))
    #endif
    #if RocksDB
      places.append(try Realm.Configuration(location: "rocksdb:" + folder.file("rocks")))
    #endif
    for var place in places {
      let report = try Realm.importRealmFile(at: try source("primary-keys"), into: place)
      place.objectTypes = PrimaryKeys.types
      place.schemaVersion = report.schemaVersion ?? 0
      let realm = try Realm(configuration: place)
      #expect(realm.objects(PrimaryKeys.PkUUID.self).count == 225)
    }
    let left = try Imports.names(in: folder.url).filter { $0.contains("copying") }
    #expect(left == [])
  }

  @Test func `a program's own migration goes on from the old schema version`() throws {
    try Realm.importRealmFile(at: try source("tiny"), into: Realm.Configuration(fileURL: target))
    #expect(try schemaVersionAtURL(target) == 2)
    var configuration = Realm.Configuration(
      fileURL: target, schemaVersion: 3,
      migrationBlock: { migration, version in
        #expect(version == 2)
        migration.enumerateObjects(ofType: "Dog") { old, new in
          new?["title"] = "\(old?["name"] ?? "") of \(old?["age"] ?? "no age")"
        }
      })
    configuration.objectTypes = [Later.Dog.self]
    let realm = try Realm(configuration: configuration)
    #expect(
      realm.objects(Later.Dog.self).map(\.title) == ["Rex of Optional(7)", "Bello of no age"]
        || realm.objects(Later.Dog.self).map(\.title) == ["Rex of 7", "Bello of no age"])
  }

  enum Later {
    final class Dog: Imported {
      @Persisted var title: String
    }
  }

  // MARK: What it says

  @Test func `each mistake has an error that says what to do`() throws {
    let places = Realm.Configuration(fileURL: target)
    func message(_ url: URL, _ key: Data? = nil, into: Realm.Configuration? = nil)
      -> (code: Realm.Error.Code, text: String)?
    {
      failure { try Realm.importRealmFile(at: url, encryptionKey: key, into: into ?? places) }
    }
    #expect(message(folder.url("none"))?.code == .fileNotFound)
    let text = folder.url("text.realm")
    try Data("nothing of the kind, and long enough to have a head".utf8).write(to: text)
    #expect(message(text)?.code == .invalidDatabase)
    let tiny = try source("tiny")
    var old = [UInt8](try Data(contentsOf: tiny))
    old[20] = 9
    try Data(old).write(to: text)
    let tooOld = try #require(message(text))
    #expect(tooOld.code == .unsupportedFileFormatVersion)
    #expect(tooOld.text.contains("10.48"))
    let parent = Realm.Configuration(fileURL: folder.url("missing/new.cambium"))
    #expect(message(tiny, into: parent)?.code == .fileNotFound)
    try Data().write(to: target)
    #expect(message(tiny)?.code == .fileExists)
    try FileManager.default.removeItem(at: target)
    let memory = try #require(
      message(tiny, into: Realm.Configuration(inMemoryIdentifier: "imported")))
    #expect(memory.text.contains("name a file"))
    #if Crypto
      let secret = try source("encrypted")
      #expect(message(secret)?.text.contains("key") == true)
      #expect(message(secret, Data(repeating: 1, count: 64))?.code == .invalidDatabase)
      #expect(message(secret, Data([1]))?.code == .invalidInput)
      #expect(message(tiny, Data(Samples.key))?.code == .invalidDatabase)
    #endif
    #expect(try Imports.names(in: folder.url) == ["text.realm"])
  }

  @Test func `a database that becomes too large leaves nothing`() throws {
    var place = Realm.Configuration(fileURL: target)
    place.maximumFileSize = 40_000
    let failure = failure { try Realm.importRealmFile(at: try source("strings"), into: place) }
    #expect(failure?.code == .outOfDiskSpace)
    #expect(try Imports.names(in: folder.url) == [])
  }

  @Test func `a file that changes while it is read is told`() throws {
    let old = folder.url("old.realm")
    try Imports.copy("objects-1000", to: old)
    let failure = failure {
      try Realm.importRealmFile(at: old, into: Realm.Configuration(fileURL: target)) { progress in
        guard progress.stage == .comparing else { return }
        let file = try FileHandle(forWritingTo: old)
        try file.seekToEnd()
        try file.write(contentsOf: Data(count: 8))
        try file.close()
      }
    }
    #expect(failure?.code == .fileAccess)
    #expect(try Imports.names(in: folder.url) == ["old.realm"])
  }
}
