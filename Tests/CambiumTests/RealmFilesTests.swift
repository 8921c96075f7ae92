import Cambium
import Foundation
import Synchronization
import TestSupport
import Testing

/// Copies, seeds and compaction of a Realm's file.
@Suite struct RealmFilesTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func configuration(_ name: String) -> Realm.Configuration {
    var configuration = Realm.Configuration(
      fileURL: folder.url("\(name).cambium"), schemaVersion: 7,
      objectTypes: [Person.self, Dog.self])
    configuration.durability = .relaxed
    return configuration
  }

  private func names(_ configuration: Realm.Configuration) throws -> [String] {
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      return Array(realm.objects(Person.self).sorted(by: \.id).map(\.name))
    }
  }

  private func fill(_ realm: Realm, _ range: Range<Int>) throws {
    try realm.write {
      for id in range {
        let dog = Dog(value: ["name": "Dog \(id)"])
        realm.create(
          Person.self, value: ["id": id, "name": "Person \(id)", "dogs": [dog]] as [String: Any])
      }
    }
  }

  @Test func `a copy takes away what killed ones have left of it, and nothing else`() throws {
    let original = configuration("original")
    let realm = try Realm(configuration: original)
    try fill(realm, 0..<2)
    let copy = folder.url("copy")
    let left = "copy.copying-\(UUID().uuidString)"
    for name in [left, "copy.copying-mine"] {
      try realm.writeCopy(toFile: folder.url(name))
    }
    try realm.writeCopy(toFile: copy)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.contains("copy") && names.contains("copy.copying-mine"))
    #expect(!names.contains { $0.hasPrefix(left) }, "\(names)")
  }

  @Test
  func `who opens the place of a deleted file gets a new one, and the old one is not written`()
    throws
  {
    let configuration = configuration("deleted")
    let old = try Realm(configuration: configuration)
    try fill(old, 0..<2)
    try FileManager.default.removeItem(at: folder.url("deleted.cambium"))
    let new = try Realm(configuration: configuration)
    #expect(new.isEmpty)
    try fill(new, 5..<6)
    let again = try Realm(configuration: configuration)
    #expect(Array(again.objects(Person.self).map(\.id)) == [5])
    // The one that lies nowhere can be read.
    #expect(Array(old.objects(Person.self).map(\.id)) == [0, 1])
    let error = #expect(throws: Realm.Error.self) { try fill(old, 7..<8) }
    #expect(error?.code == .fileAccess)
    #expect(error?.localizedDescription.contains("deleted or moved away") == true)
    #expect(!old.isInWriteTransaction && !old.isEmpty)
    #expect(Array(new.objects(Person.self).map(\.id)) == [5])
  }

  @Test func `a seed that is no database is named, and no copy of it is made`() throws {
    try Data("no database".utf8).write(to: folder.url("seed"))
    var configuration = configuration("seeded")
    configuration.seedFilePath = folder.url("seed")
    let error = #expect(throws: Realm.Error.self) { try names(configuration) }
    #expect(error?.code == .invalidDatabase)
    #expect(error?.localizedDescription.contains("'\(folder.file("seed"))'") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["seed"])
    configuration.seedFilePath = nil
    #expect(try names(configuration) == [])
  }

  @Test func `a copy holds the version that its Realm sees`() throws {
    let realm = try Realm(configuration: configuration("original"))
    try fill(realm, 0..<50)
    let frozen = realm.freeze()
    try fill(realm, 50..<60)
    let (now, before) = (configuration("now"), configuration("before"))
    try realm.writeCopy(toFile: try #require(now.fileURL))
    try frozen.writeCopy(configuration: before)
    #expect(try names(now) == (0..<60).map { "Person \($0)" })
    #expect(try names(before) == (0..<50).map { "Person \($0)" })
    let copy = try Realm(configuration: now)
    #expect(copy.objects(Dog.self).where { $0.name == "Dog 3" }.first?.owners.first?.id == 3)
  }

  @Test func `a copy made in a transaction has its changes`() throws {
    let realm = try Realm(configuration: configuration("original"))
    try fill(realm, 0..<5)
    realm.beginWrite()
    realm.create(Person.self, value: ["id": 5, "name": "Person 5"] as [String: Any])
    realm.object(ofType: Person.self, forPrimaryKey: 0)?.name = "Changed"
    let copy = configuration("copy")
    try realm.writeCopy(toFile: try #require(copy.fileURL))
    realm.create(Person.self, value: ["id": 6, "name": "Person 6"] as [String: Any])
    realm.cancelWrite()
    #expect(try names(copy) == ["Changed"] + (1...5).map { "Person \($0)" })
    #expect(realm.objects(Person.self).count == 5)
  }

  @Test func `a copy of a Realm in memory is a file`() throws {
    let realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: UUID().uuidString, objectTypes: [Person.self, Dog.self]))
    try fill(realm, 0..<3)
    var copy = configuration("copy")
    copy.schemaVersion = 0
    try realm.writeCopy(toFile: try #require(copy.fileURL))
    #expect(try names(copy) == (0..<3).map { "Person \($0)" })
  }

  @Test func `a copy never takes the place of a file`() throws {
    let realm = try Realm(configuration: configuration("original"))
    try fill(realm, 0..<1)
    let taken = configuration("taken")
    try Data("precious".utf8).write(to: try #require(taken.fileURL))
    for write in [
      { try realm.writeCopy(toFile: try #require(taken.fileURL)) },
      { try realm.writeCopy(configuration: taken) },
    ] {
      let error = #expect(throws: Realm.Error.self) { try write() }
      #expect(error?.code == .fileExists)
    }
    #expect(try Data(contentsOf: try #require(taken.fileURL)) == Data("precious".utf8))
    let missing = folder.url("missing/copy.cambium")
    let error = #expect(throws: Realm.Error.self) { try realm.writeCopy(toFile: missing) }
    #expect(error?.code == .fileNotFound)
  }

  @Test func `a schema version is read without classes`() throws {
    let url = try #require(configuration("versioned").fileURL)
    var error = #expect(throws: Realm.Error.self) { try schemaVersionAtURL(url) }
    #expect(error?.code == .fileNotFound)
    try autoreleasepool {
      let realm = try Realm(configuration: configuration("versioned"))
      try fill(realm, 0..<1)
      #expect(try schemaVersionAtURL(url) == 7)
    }
    #expect(try schemaVersionAtURL(url) == 7)
    let garbage = folder.url("garbage.cambium")
    try Data(repeating: 7, count: 9000).write(to: garbage)
    error = #expect(throws: Realm.Error.self) { try schemaVersionAtURL(garbage) }
    #expect(error?.code == .invalidDatabase)
  }

  @Test func `a seed becomes the file when there is none`() throws {
    let seed = configuration("seed")
    try autoreleasepool { try fill(try Realm(configuration: seed), 0..<4) }
    var configuration = configuration("seeded")
    configuration.seedFilePath = seed.fileURL
    #expect(try names(configuration).count == 4)
    try autoreleasepool { try fill(try Realm(configuration: configuration), 4..<6) }
    #expect(try names(configuration).count == 6)
    #expect(try names(seed).count == 4)
    var lost = self.configuration("lost")
    lost.seedFilePath = folder.url("nowhere.cambium")
    let error = #expect(throws: Realm.Error.self) { try names(lost) }
    #expect(error?.code == .fileNotFound)
    #expect(!Realm.fileExists(for: lost))
  }

  @Test func `a seed behind a symbolic link is copied`() throws {
    let seed = configuration("seed")
    try autoreleasepool { try fill(try Realm(configuration: seed), 0..<4) }
    let file = try #require(seed.fileURL)
    let bytes = try Data(contentsOf: file)
    let link = folder.url("link.cambium")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
    var configuration = configuration("seeded")
    configuration.seedFilePath = link
    try autoreleasepool { try fill(try Realm(configuration: configuration), 4..<6) }
    #expect(try names(configuration).count == 6)
    #expect(try Data(contentsOf: file) == bytes)
  }

  @Test func `a file is compacted at launch when its configuration wants it`() throws {
    let asked = Mutex<[(total: Int, used: Int)]>([])
    let answer = Mutex(false)
    var configuration = configuration("large")
    configuration.shouldCompactOnLaunch = { total, used in
      asked.withLock { $0.append((total, used)) }
      return answer.withLock { $0 }
    }
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      try fill(realm, 0..<3000)
      try realm.write { realm.delete(realm.objects(Person.self).where { $0.id >= 10 }) }
      try realm.write { realm.delete(realm.objects(Dog.self)) }
    }
    #expect(asked.withLock { $0.isEmpty }, "a new file is not asked about")
    let url = try #require(configuration.fileURL)
    let before = try fileSize(url)
    #expect(try names(configuration).count == 10)
    #expect(try fileSize(url) == before)
    answer.withLock { $0 = true }
    #expect(try names(configuration).count == 10)
    #expect(try fileSize(url) < before)
    let questions = asked.withLock { $0 }
    #expect(questions.count == 2)
    #expect(questions.allSatisfy { $0.used > 0 && $0.used < $0.total })
  }

  private func fileSize(_ url: URL) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0
  }
}
