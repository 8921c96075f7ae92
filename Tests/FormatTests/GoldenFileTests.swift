import Cambium
import CambiumCore
import CambiumFile
import Foundation
import Testing

/// Files that earlier versions wrote open and hold what they held.
///
/// One file for each version of the format: added to, never made again.
@Suite struct GoldenFileTests {
  private static func configuration(_ url: URL, readOnly: Bool = false) -> Realm.Configuration {
    Realm.Configuration(fileURL: url, readOnly: readOnly, objectTypes: GoldenContent.classes)
  }

  /// A copy of the golden file of a version, in a folder that `body` may write to.
  private static func withCopy(_ version: Int, _ body: (URL) throws -> Void) throws {
    let golden = try #require(
      Bundle.module.url(
        forResource: "format-\(version)", withExtension: "cambium", subdirectory: "Golden"))
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("golden-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let copy = folder.appendingPathComponent("copy.cambium")
    try Data(contentsOf: golden).write(to: copy)
    try body(copy)
  }

  @Test(arguments: [1])
  func `a golden file holds what it was written with`(version: Int) throws {
    try Self.withCopy(version) { url in
      let realm = try Realm(configuration: Self.configuration(url, readOnly: true))
      try Self.expectContent(realm)
    }
  }

  @Test(arguments: [1])
  func `a golden file is sound`(version: Int) throws {
    try Self.withCopy(version) { url in
      let store = try FileStore(path: url.path, options: FileStoreOptions(isReadOnly: true))
      let database = try Database(store: store)
      #expect(store.identity.formatVersion == version)
      #expect(try database.verify().findings == [])
      var verifier = ObjectVerifier(snapshot: try database.snapshot())
      #expect(try verifier.run() == [])
      try database.close()
    }
  }

  @Test(arguments: [1])
  func `a golden file can be written to`(version: Int) throws {
    try Self.withCopy(version) { url in
      do {
        let realm = try Realm(configuration: Self.configuration(url))
        try realm.write {
          GoldenContent.object(5, in: realm)?.int = 77
          realm.create(GoldenOwner.self, value: ["id": 9, "name": "new"])
        }
      }
      let realm = try Realm(configuration: Self.configuration(url))
      #expect(GoldenContent.object(5, in: realm)?.int == 77)
      #expect(realm.objects(GoldenOwner.self).count == 3)
    }
  }

  /// Writes the file of the current format when asked to, for the day the format gets a new version.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["CAMBIUM_WRITE_GOLDEN"] != nil))
  func `the golden file of the current version is written on request`() throws {
    let path = try #require(ProcessInfo.processInfo.environment["CAMBIUM_WRITE_GOLDEN"])
    let realm = try Realm(configuration: Self.configuration(URL(fileURLWithPath: path)))
    try GoldenContent.write(to: realm)
    try Self.expectContent(realm)
  }

  private static func expectContent(_ realm: Realm) throws {
    let all = realm.objects(GoldenEverything.self)
    #expect(all.count == GoldenContent.everythingCount)
    for index in 0..<GoldenContent.everythingCount {
      let object = try #require(GoldenContent.object(index, in: realm))
      let expected = GoldenEverything(value: GoldenContent.everything(index))
      #expect(object.key == expected.key)
      #expect(object.bool == expected.bool)
      #expect(object.int == expected.int)
      #expect(object.int8 == expected.int8)
      #expect(object.int16 == expected.int16)
      #expect(object.int32 == expected.int32)
      #expect(object.int64 == expected.int64)
      #expect(object.float == expected.float)
      #expect(object.double == expected.double)
      #expect(object.string == expected.string)
      #expect(object.data == expected.data)
      #expect(object.date == expected.date)
      #expect(object.objectId == expected.objectId)
      #expect(object.uuid == expected.uuid)
      #expect(object.decimal == expected.decimal)
      #expect(object.owner?.name == (index % 3 == 0 ? "short" : nil))
      #expect(object.holders.count == (index < 4 ? 2 : 1))
    }
    let short = try #require(realm.object(ofType: GoldenOwner.self, forPrimaryKey: 1))
    let long = try #require(realm.object(ofType: GoldenOwner.self, forPrimaryKey: -2))
    #expect(Array(short.numbers) == [3, 1, 2])
    #expect(Array(short.texts) == ["a", nil, ""])
    #expect(Array(long.numbers) == (0..<GoldenContent.longListCount).map { $0 * 7 })
    #expect(long.everything.count == GoldenContent.everythingCount)
    #expect(long.everything[299].key == "key \(299 * 37 % 401)")
    #expect(realm.objects(GoldenOwner.self).where { $0.name == "long" }.count == 1)
    #expect(all.where { $0.owner.name == "short" }.count == 100)
  }
}
