import Cambium
import Foundation
import TestSupport
import Testing

final class FollowedPage: Object {
  @Persisted(primaryKey: true) var address = ""
  @Persisted var text = ""
  @Persisted var links: List<FollowedPage>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class FollowedVisit: Object {
  @Persisted var page: FollowedPage?
  @Persisted var count = 0

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// `RealmDatabase.changes(since:)`.
@Suite struct DatabaseChangesTests {
  init() { TemporaryFolder.prepareForChildren() }

  private static func configuration(_ path: String? = nil) -> Realm.Configuration {
    var configuration = Realm.Configuration()
    if let path {
      configuration.fileURL = URL(filePath: path)
    } else {
      configuration.inMemoryIdentifier = UUID().uuidString
    }
    configuration.objectTypes = [FollowedPage.self, FollowedVisit.self]
    return configuration
  }

  private static func put(_ database: RealmDatabase, _ pages: [String: String]) async throws {
    try await database.write { realm in
      for (address, text) in pages {
        realm.create(
          FollowedPage.self, value: ["address": address, "text": text], update: .modified)
      }
    }
  }

  private typealias Texts = [String: String]

  private static func texts(_ realm: Realm) -> Texts {
    Dictionary(
      uniqueKeysWithValues: realm.objects(FollowedPage.self).map { ($0.address, $0.text) })
  }

  @Test func `who begins is told to read, and then what was touched`() async throws {
    let database = try await RealmDatabase(Self.configuration())
    try await Self.put(database, ["a": "1"])
    var changes = try database.changes().makeAsyncIterator()
    guard case .snapshot(let start) = try await changes.next() else {
      Issue.record("no snapshot")
      return
    }
    try await Self.put(database, ["b": "2"])
    var change = try await changes.next()
    #expect(
      change.map(\.objects)
        == ["FollowedPage": TouchedObjects(inserted: [.string("b")])])
    try await database.write { realm in
      realm.object(ofType: FollowedPage.self, forPrimaryKey: "a")?.text = "1"
      realm.create(FollowedVisit.self, value: ["count": 1])
    }
    change = try await changes.next()
    #expect(change?.objects["FollowedPage"]?.modified == [.string("a")])
    #expect(change?.objects["FollowedVisit"]?.inserted.count == 1)
    try await database.write { realm in
      realm.delete(realm.objects(FollowedPage.self).where { $0.address == "b" })
    }
    change = try await changes.next()
    #expect(change.map(\.objects) == ["FollowedPage": TouchedObjects(deleted: [.string("b")])])
    #expect(try #require(change).position > start)
    try await database.write { realm in
      realm.delete(realm.objects(FollowedPage.self))
      realm.create(FollowedPage.self, value: ["address": "a"])
    }
    change = try await changes.next()
    #expect(change.map(\.objects) == ["FollowedPage": TouchedObjects(modified: [.string("a")])])
    await database.close()
    #expect(try await changes.next() == nil)
    #expect(throws: Realm.Error.self) { _ = try database.changes() }
  }

  @Test func `keys of every type are told`() async throws {
    var configuration = Self.configuration()
    configuration.objectTypes = [
      SpecTextKey.self, SpecIdKey.self, SpecUUIDKey.self, SpecSmallKey.self, FollowedVisit.self,
      FollowedPage.self,
    ]
    let database = try await RealmDatabase(configuration)
    var changes = try database.changes().makeAsyncIterator()
    _ = try await changes.next()
    let (id, uuid) = (ObjectId.generate(), UUID())
    try await database.write { realm in
      realm.create(SpecTextKey.self, value: ["key": "text"])
      realm.create(SpecTextKey.self, value: ["key": nil] as [String: Any?])
      realm.create(SpecIdKey.self, value: ["key": id])
      realm.create(SpecUUIDKey.self, value: ["key": uuid])
      realm.create(SpecSmallKey.self, value: ["key": Int8(-7)])
      _ = realm.create(FollowedVisit.self)
    }
    let objects = try #require(await changes.next()).objects.mapValues(\.inserted)
    #expect(objects["SpecTextKey"] == [.string("text"), .null])
    #expect(objects["SpecIdKey"] == [.objectId(id)])
    #expect(objects["SpecUUIDKey"] == [.uuid(uuid)])
    #expect(objects["SpecSmallKey"] == [.int(-7)])
    guard case .number? = objects["FollowedVisit"]?.first else {
      Issue.record("\(objects)")
      return
    }
  }

  @Test func `a loop goes on where another one ended`() async throws {
    let database = try await RealmDatabase(Self.configuration())
    var first = try database.changes().makeAsyncIterator()
    let start = try #require(await first.next()).position
    try await Self.put(database, ["a": "1"])
    let middle = try #require(await first.next()).position
    try await Self.put(database, ["b": "1"])
    _ = try await first.next()
    var second = try database.changes(since: start).makeAsyncIterator()
    #expect(try await second.next()?.position == middle)
    var third = try database.changes(since: middle).makeAsyncIterator()
    #expect(
      try await third.next()?.objects
        == ["FollowedPage": TouchedObjects(inserted: [.string("b")])])
    let data = try JSONEncoder().encode(middle)
    #expect(try JSONDecoder().decode(DatabasePosition.self, from: data) == middle)
  }

  @Test func `who comes too late is told to read again`() async throws {
    let database = try await RealmDatabase(Self.configuration())
    var follower = try database.changes().makeAsyncIterator()
    let start = try #require(await follower.next()).position
    // One step at a time, so that none holds several commits.
    for index in 0..<1030 {
      try await database.write { realm in
        _ = realm.create(FollowedVisit.self, value: ["count": index])
      }
      _ = try await follower.next()
    }
    var late = try database.changes(since: start).makeAsyncIterator()
    guard case .snapshot = try await late.next() else {
      Issue.record("the oldest step is still there")
      return
    }
  }

  private static func stores(_ folder: TemporaryFolder) -> [Realm.Configuration] {
    var stores = [configuration(folder.file("followed.realm"))]
    #if RocksDB
      stores.append(configuration(folder.file("followed.rocksdb")))
      stores[1].store = .rocksDB()
    #endif
    return stores
  }

  @Test func `what commits keep is told after the database was opened anew`() async throws {
    let folder = try TemporaryFolder()
    for configuration in Self.stores(folder) {
      var database = try await RealmDatabase(configuration)
      try await Self.put(database, ["a": "1", "b": "1", "c": "1", "d": "1"])
      var changes = try database.changes().makeAsyncIterator()
      let last = try #require(await changes.next()).position
      await database.close()
      database = try await RealmDatabase(configuration)
      changes = try database.changes(since: last).makeAsyncIterator()
      try await Self.put(database, ["b": "2", "e": "1"])
      #expect(
        try await changes.next()?.objects
          == [
            "FollowedPage": TouchedObjects(inserted: [.string("e")], modified: [.string("b")])
          ])
      // What went, what came back, what came and went.
      for (gone, back) in [(["a", "d"], "d"), (["e", "c"], "f"), (["f"], "g")] {
        try await database.write { realm in
          realm.delete(realm.objects(FollowedPage.self).where { $0.address.in(gone) })
          realm.create(FollowedPage.self, value: ["address": back])
          _ = realm.create(FollowedVisit.self)
        }
      }
      await database.close()

      database = try await RealmDatabase(configuration)
      changes = try database.changes(since: last).makeAsyncIterator()
      let change = try #require(await changes.next())
      let pages = try #require(change.objects["FollowedPage"])
      #expect(pages.inserted == [.string("g")])
      #expect(pages.modified == [.string("b"), .string("d")])
      #expect(pages.deleted.isSuperset(of: [.string("a"), .string("c")]))
      #expect(pages.deleted.isSubset(of: Set(["a", "c", "e", "f"].map { .string($0) })))
      #expect(change.objects["FollowedVisit"]?.inserted.count == 3)
      try await Self.put(database, ["h": "1"])
      #expect(
        try await changes.next()?.objects
          == ["FollowedPage": TouchedObjects(inserted: [.string("h")])])
      await database.close()
    }
  }

  @Test func `who asks for changes while the database is closed is told so, or the changes end`()
    async throws
  {
    let folder = try TemporaryFolder()
    for _ in 0..<100 {
      let configuration = Self.stores(folder)[0]
      let database = try await RealmDatabase(configuration)
      let following = Task.detached { try database.changes() }
      await database.close()
      if case .success(let changes) = await following.result { for try await _ in changes {} }
      #expect(throws: Realm.Error.self) { _ = try database.changes() }
      // Nobody keeps the file.
      if configuration.fileURL != nil { #expect(try Realm.deleteFiles(for: configuration)) }
    }
  }

  @Test func `a position that is older than what commits keep is told so`() async throws {
    let folder = try TemporaryFolder()
    for configuration in Self.stores(folder) {
      var database = try await RealmDatabase(configuration)
      try await Self.put(database, ["a": "1"])
      var changes = try database.changes().makeAsyncIterator()
      let last = try #require(await changes.next()).position
      for index in 0..<300 { try await Self.put(database, ["a": "\(index)"]) }
      await database.close()
      database = try await RealmDatabase(configuration)
      changes = try database.changes(since: last).makeAsyncIterator()
      guard case .snapshot(let newest) = try await changes.next() else {
        Issue.record("300 commits are known")
        return
      }
      // More than is recorded of one commit.
      try await database.write { realm in
        for index in 0..<3_000 { realm.create(FollowedPage.self, value: ["address": "\(index)"]) }
      }
      await database.close()
      database = try await RealmDatabase(configuration)
      changes = try database.changes(since: newest).makeAsyncIterator()
      guard case .snapshot = try await changes.next() else {
        Issue.record("3,000 new objects are known")
        return
      }
      await database.close()
    }
  }

  @Test func `what another process has done meanwhile is told`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("followed.realm")
    var database = try await RealmDatabase(Self.configuration(path))
    try await Self.put(database, ["a": "1"])
    var changes = try database.changes().makeAsyncIterator()
    let last = try #require(await changes.next()).position
    await database.close()
    await #expect(processExitsWith: .success) { [path = path as String] in
      let database = try await RealmDatabase(DatabaseChangesTests.configuration(path))
      try await database.write { realm in
        realm.delete(realm.objects(FollowedPage.self))
        realm.create(FollowedPage.self, value: ["address": "far"])
      }
      await database.close()
    }
    database = try await RealmDatabase(Self.configuration(path))
    changes = try database.changes(since: last).makeAsyncIterator()
    #expect(
      try await changes.next()?.objects
        == [
          "FollowedPage": TouchedObjects(inserted: [.string("far")], deleted: [.string("a")])
        ])
    await database.close()
  }

  @Test func `what another process commits is followed`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("followed.realm")
    let database = try await RealmDatabase(Self.configuration(path))
    var changes = try database.changes().makeAsyncIterator()
    _ = try await changes.next()
    await #expect(processExitsWith: .success) { [path = path as String] in
      let database = try await RealmDatabase(DatabaseChangesTests.configuration(path))
      try await DatabaseChangesTests.put(database, ["far": "away"])
      await database.close()
    }
    #expect(
      try await changes.next()?.objects
        == ["FollowedPage": TouchedObjects(inserted: [.string("far")])])
    await database.close()
  }

  @Test func `a cancelled task stops following`() async throws {
    let database = try await RealmDatabase(Self.configuration())
    let changes = try database.changes()
    let task = Task { () -> Int in
      var count = 0
      for try await _ in changes { count += 1 }
      return count
    }
    try await Self.put(database, ["a": "1"])
    task.cancel()
    #expect(try await task.value <= 2)
  }

  /// A cache that reads only what it is told was touched, beside random writers.
  @Test(arguments: 0..<6)
  func `a cache that follows the changes has what the database has`(seed: UInt64) async throws {
    let database = try await RealmDatabase(Self.configuration())
    let changes = try database.changes()
    let last = "the last one"
    let cache = Task { () -> Texts in
      var cache: Texts = [:]
      for try await change in changes {
        switch change {
        case .snapshot: cache = try await database.read { Self.texts($0) }
        case .changes(_, let classes):
          let touched = classes["FollowedPage"] ?? TouchedObjects()
          for case .string(let key) in touched.deleted { cache[key] = nil }
          for case .string(let key) in touched.inserted.union(touched.modified) {
            cache[key] = try await database.read {
              $0.object(ofType: FollowedPage.self, forPrimaryKey: key)?.text
            }
          }
        }
        if cache[last] != nil { return cache }
      }
      return cache
    }
    try await withThrowingTaskGroup { group in
      for writer in 0..<3 {
        group.addTask {
          var random = SeededGenerator(seed: seed * 10 + UInt64(writer))
          for _ in 0..<100 {
            let key = "\(Int.random(in: 0..<40, using: &random))"
            let text = "\(Int.random(in: 0..<1000, using: &random))"
            let choice = Int.random(in: 0..<4, using: &random)
            try await database.write { realm in
              if choice == 0, let page = realm.object(ofType: FollowedPage.self, forPrimaryKey: key)
              {
                realm.delete(page)
              } else {
                realm.create(
                  FollowedPage.self, value: ["address": key, "text": text], update: .modified)
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    try await Self.put(database, [last: ""])
    #expect(try await cache.value == database.read { Self.texts($0) }, "seed \(seed)")
  }
}

extension DatabaseChange {
  /// What was touched; nothing for a snapshot.
  fileprivate var objects: [String: TouchedObjects] {
    if case .changes(_, let objects) = self { objects } else { [:] }
  }
}
