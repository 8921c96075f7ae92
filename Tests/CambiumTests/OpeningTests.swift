import Cambium
import CambiumCore
import Foundation
import TestSupport
import Testing

/// One stored class in the forms it takes over time.
class Stage: Object {
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
  override class func _realmObjectName() -> String? { "Stage" }
}

final class FirstStage: Stage {
  @Persisted var a = 1
  @Persisted var b = "b"
  @Persisted var words: List<String>
}

final class GrownStage: Stage {
  @Persisted var a = 1
  @Persisted var b = "b"
  @Persisted var words: List<String>
  @Persisted(indexed: true) var c = "default"
  @Persisted var next: GrownStage?
}

final class ShrunkStage: Stage { @Persisted var a = 1 }

final class IndexedStage: Stage {
  @Persisted(indexed: true) var a = 1
  @Persisted var b = "b"
  @Persisted var words: List<String>
}

final class OptionalStage: Stage {
  @Persisted var a: Int?
  @Persisted var b: String?
  @Persisted var words: List<String?>
}

final class RetypedStage: Stage {
  @Persisted var a = "text"
  @Persisted var b = "b"
  @Persisted var words: List<Int>
}

final class KeyedStage: Stage {
  @Persisted(primaryKey: true) var a: Int
  @Persisted var b = "b"
  @Persisted var words: List<String>
}

@Suite struct OpeningTests {
  private func configuration(
    _ folder: URL, _ type: ObjectBase.Type, version: UInt64 = 0
  ) -> Realm.Configuration {
    var configuration = SampledStore.forTest(at: folder.path, persistent: true)
      .configuration(folder.appendingPathComponent("test.realm").path, [type])
    configuration.schemaVersion = version
    configuration.durability = .relaxed
    return configuration
  }

  private func fill(_ folder: URL) throws {
    let realm = try Realm(configuration: configuration(folder, FirstStage.self))
    try realm.write {
      for index in 0..<3 {
        realm.create(
          FirstStage.self,
          value: ["a": index, "b": "b\(index)", "words": ["x", "y"]] as [String: Any])
      }
    }
  }

  private func message(_ body: () throws -> Void) -> (code: Realm.Error.Code?, text: String) {
    do {
      try body()
      return (nil, "")
    } catch let error as Realm.Error {
      return (error.code, error.message)
    } catch {
      return (nil, "\(error)")
    }
  }

  @Test(arguments: [false, true])
  func `a Realm that is opened by what decides how to open it stops with a reason`(
    compacts: Bool
  ) async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) { [compacts = compacts as Bool] in
      let folder = try TemporaryFolder()
      var configuration = Realm.Configuration(
        fileURL: folder.url("a.realm"), objectTypes: [FirstStage.self])
      try autoreleasepool {
        let realm = try Realm(configuration: configuration)
        try realm.write { for _ in 0..<2_000 { realm.add(FirstStage()) } }
        try realm.write { realm.deleteAll() }
      }
      if !compacts { configuration.schemaVersion = 1 }
      let again = configuration
      configuration.migrationBlock = { _, _ in _ = try? Realm(configuration: again) }
      if compacts {
        configuration.shouldCompactOnLaunch = { _, _ in (try? Realm(configuration: again)) != nil }
      }
      _ = try Realm(configuration: configuration)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      text.contains(compacts ? "shouldCompactOnLaunch" : "is being written or migrated here"),
      "\(text.prefix(600))")
  }

  @Test func `a file keeps what was committed`() throws {
    try TemporaryFolder.with { folder in
      try fill(folder)
      let realm = try Realm(configuration: configuration(folder, FirstStage.self))
      #expect(realm.objects(FirstStage.self).map(\.b) == ["b0", "b1", "b2"])
      #expect(Realm.fileExists(for: realm.configuration))
      #expect(message { _ = try Realm.deleteFiles(for: realm.configuration) }.code == .alreadyOpen)
    }
  }

  @Test func `files are deleted once they are closed`() throws {
    try TemporaryFolder.with { folder in
      try fill(folder)
      let closed = configuration(folder, FirstStage.self)
      #expect(try Realm.deleteFiles(for: closed))
      #expect(try !Realm.deleteFiles(for: closed))
      #expect(!Realm.fileExists(for: closed))
    }
  }

  @Test func `files that another process has open are not deleted`() async throws {
    let folder = try TemporaryFolder()
    let realm = try Realm(configuration: configuration(folder.url, FirstStage.self), queue: nil)
    let url = try #require(realm.configuration.fileURL)
    let (kind, holder) = (realm.configuration.store.kind, "process \(getpid())")
    await #expect(processExitsWith: .success) {
      [url = url as URL, kind = kind as String, holder = holder as String] in
      var configuration = Realm.Configuration(fileURL: url)
      configuration.store = kind == "file" ? .file : .rocksDB()
      let error = #expect(throws: Realm.Error.self) {
        try Realm.deleteFiles(for: configuration)
      }
      #expect(error?.code == .alreadyOpen)
      let text = error?.localizedDescription ?? ""
      for part in [url.path, "is still in use.", holder, "close it there first"] {
        #expect(text.contains(part), "\(text)")
      }
    }
    #expect(Realm.fileExists(for: realm.configuration))
  }

  @Test func `only a kind of store that knows how deletes its files`() throws {
    try TemporaryFolder.with { folder in
      try fill(folder)
      var configuration = configuration(folder, FirstStage.self)
      let place = try #require(configuration.fileURL)
      configuration.store = StoreChoice(kind: "own", open: configuration.store.open)
      let failure = message { _ = try Realm.deleteFiles(for: configuration) }
      #expect(failure.code == .fileOperationFailed)
      for part in [place.path, "'own'", "Remove the files"] {
        #expect(failure.text.contains(part), "\(failure.text)")
      }
      // Memory has no files, whatever has the name.
      configuration.store = .memory
      #expect(try !Realm.deleteFiles(for: configuration))
      #expect(Realm.fileExists(for: configuration))
    }
  }

  @Test func `differences at the same version need a migration`() throws {
    try TemporaryFolder.with { folder in
      try fill(folder)
      let grown = message { _ = try Realm(configuration: configuration(folder, GrownStage.self)) }
      #expect(grown.code == .schemaMismatch)
      #expect(grown.text.contains("Migration is required due to the following errors:"))
      #expect(grown.text.contains("- Property 'Stage.c' has been added."))
      let shrunk = message { _ = try Realm(configuration: configuration(folder, ShrunkStage.self)) }
      #expect(shrunk.text.contains("- Property 'Stage.b' has been removed."))
      let loose = message {
        _ = try Realm(configuration: configuration(folder, OptionalStage.self))
      }
      #expect(loose.text.contains("- Property 'Stage.a' has been made optional."))
      let retyped = message {
        _ = try Realm(configuration: configuration(folder, RetypedStage.self))
      }
      #expect(
        retyped.text.contains("- Property 'Stage.a' has been changed from '<int>' to '<string>'."))
      let keyed = message { _ = try Realm(configuration: configuration(folder, KeyedStage.self)) }
      #expect(keyed.text.contains("- Primary Key for class 'Stage' has been added."))
      let realm = try Realm(configuration: configuration(folder, FirstStage.self))
      #expect(realm.objects(FirstStage.self).count == 3)
    }
  }

  @Test func `a raised version adds and removes properties`() throws {
    try TemporaryFolder.with { folder in
      try fill(folder)
      do {
        let realm = try Realm(configuration: configuration(folder, GrownStage.self, version: 1))
        let objects = realm.objects(GrownStage.self)
        #expect(objects.map(\.a) == [0, 1, 2])
        #expect(objects.allSatisfy { $0.c.isEmpty && $0.next == nil && $0.words.count == 2 })
        try realm.write {
          objects[0].c = "new"
          objects[1].next = objects[0]
        }
        #expect(realm.objects(GrownStage.self).filter("c == 'new'").count == 1)
      }
      do {
        let realm = try Realm(configuration: configuration(folder, ShrunkStage.self, version: 2))
        #expect(realm.objects(ShrunkStage.self).map(\.a) == [0, 1, 2])
        try realm.write { realm.delete(realm.objects(ShrunkStage.self)[0]) }
        #expect(realm.objects(ShrunkStage.self).count == 2)
      }
      let lower = message {
        _ = try Realm(configuration: configuration(folder, ShrunkStage.self, version: 1))
      }
      #expect(lower.code == .fail)
      #expect(lower.text.contains("Provided schema version 1 is less than last set version 2."))
    }
  }

  @Test func `a raised version makes properties optional with their values`() throws {
    try TemporaryFolder.with { folder in
      try fill(folder)
      let realm = try Realm(configuration: configuration(folder, OptionalStage.self, version: 1))
      let objects = realm.objects(OptionalStage.self)
      #expect(objects.map(\.a) == [0, 1, 2])
      #expect(objects.map(\.b) == ["b0", "b1", "b2"])
      #expect(objects.allSatisfy { Array($0.words) == ["x", "y"] })
      try realm.write { objects[0].b = nil }
      #expect(objects[0].b == nil)
    }
  }

  @Test func `a raised version gives properties of another type a fresh start`() throws {
    try TemporaryFolder.with { folder in
      try fill(folder)
      let realm = try Realm(configuration: configuration(folder, RetypedStage.self, version: 1))
      let objects = realm.objects(RetypedStage.self)
      #expect(objects.map(\.a) == ["", "", ""])
      #expect(objects.map(\.b) == ["b0", "b1", "b2"])
      #expect(objects.allSatisfy { $0.words.isEmpty })
    }
  }

  @Test func `indexes come and go without a migration`() throws {
    try TemporaryFolder.with { folder in
      try fill(folder)
      do {
        let realm = try Realm(configuration: configuration(folder, IndexedStage.self))
        #expect(realm.objects(IndexedStage.self).filter("a == 2").map(\.b) == ["b2"])
        try realm.write { realm.objects(IndexedStage.self).filter("a == 2")[0].a = 7 }
        #expect(realm.objects(IndexedStage.self).filter("a == 7").count == 1)
      }
      let realm = try Realm(configuration: configuration(folder, FirstStage.self))
      #expect(realm.objects(FirstStage.self).filter("a == 7").count == 1)
    }
  }

  @Test func `content that does not fit is thrown away on request`() throws {
    try TemporaryFolder.with { folder in
      try fill(folder)
      var wanted = configuration(folder, RetypedStage.self)
      wanted.deleteRealmIfMigrationNeeded = true
      let realm = try Realm(configuration: wanted)
      #expect(realm.isEmpty)
      try realm.write { realm.create(RetypedStage.self) }
      #expect(realm.objects(RetypedStage.self).count == 1)
    }
  }

  @Test func `a file that is only read must exist and stays as it is`() throws {
    try TemporaryFolder.with { folder in
      var reading = configuration(folder, FirstStage.self)
      reading.readOnly = true
      let missing = message { _ = try Realm(configuration: reading) }
      #expect(missing.code == .fileNotFound)
      #expect(missing.text.contains(folder.lastPathComponent))
      try fill(folder)
      do {
        let realm = try Realm(configuration: reading)
        #expect(realm.objects(FirstStage.self).count == 3)
      }
      var newer = reading
      newer.schemaVersion = 4
      let text = message { _ = try Realm(configuration: newer) }.text
      #expect(text.contains("Provided schema version 4 does not equal last set version 0."))
    }
  }

  @Test func `bad paths are named with the way out`() throws {
    try TemporaryFolder.with { folder in
      var wrong = SampledStore.plain.configuration("", [FirstStage.self])
      wrong.fileURL = folder.appendingPathComponent("missing/test.realm")
      let parent = message { _ = try Realm(configuration: wrong) }
      #expect(parent.code == .fileNotFound && parent.text.contains("missing/test.realm"))
      wrong.fileURL = folder
      let directory = message { _ = try Realm(configuration: wrong) }
      #expect(directory.code == .fileAccess && directory.text.contains(folder.path))
      let garbage = folder.appendingPathComponent("garbage.realm")
      try Data("This is not a database, just some text.".utf8).write(to: garbage)
      wrong.fileURL = garbage
      let foreign = message { _ = try Realm(configuration: wrong) }
      #expect(foreign.code == .invalidDatabase && foreign.text.contains(garbage.path))
    }
  }

  @Test func `options conflict with an instance of another context by an error`() throws {
    let name = UUID().uuidString
    let realm = try testRealm(nil, name)
    // Unchecked: the thread has ended before this one reads on.
    nonisolated(unsafe) var text = ""
    runOnNewThread {
      var other = testConfiguration(nil, name)
      other.schemaVersion = 3
      do { _ = try Realm(configuration: other) } catch { text = "\(error)" }
    }
    #expect(text.contains("already opened with different schema version"))
    withExtendedLifetime(realm) {}
  }

  @Test func `memory ends with its last user`() throws {
    let configuration = Realm.Configuration(
      inMemoryIdentifier: UUID().uuidString,
      objectTypes: [Person.self, Dog.self, Everything.self])
    do {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.create(Dog.self) }
    }
    #expect(try Realm(configuration: configuration).isEmpty)
  }

  @Test func `errors are matched by their code`() {
    do {
      throw Realm.Error(.fileNotFound)
    } catch Realm.Error.fileNotFound {
    } catch {
      Issue.record("matched as \(error)")
    }
    #expect((Realm.Error(.fail) as NSError).domain == "io.realm")
    #expect((Realm.Error(.schemaMismatch) as NSError).code == 10)
  }
}
