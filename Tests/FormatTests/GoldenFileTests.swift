import Cambium
import CambiumCore
import CambiumFile
import Foundation
import TestSupport
import Testing

/// Files that earlier versions wrote open and hold what they held.
///
/// One file for each version of the format and what pages go through: added to, never made again.
@Suite struct GoldenFileTests {
  private static func configuration(
    _ url: URL, _ form: GoldenForm, readOnly: Bool = false
  ) -> Realm.Configuration {
    var configuration = Realm.Configuration(
      fileURL: url, readOnly: readOnly, objectTypes: GoldenContent.classes)
    configuration.codec = form.codec
    return configuration
  }

  /// A copy of the golden file of a form, in a folder that `body` may write to.
  private static func withCopy(_ form: GoldenForm, _ body: (URL) throws -> Void) throws {
    let golden = try #require(
      Bundle.module.url(
        forResource: form.rawValue, withExtension: "cambium", subdirectory: "Golden"))
    try TemporaryFolder.with { folder in
      let copy = folder.appendingPathComponent("copy.cambium")
      try Data(contentsOf: golden).write(to: copy)
      try body(copy)
    }
  }

  @Test(arguments: GoldenForm.available)
  func `a golden file holds what it was written with`(form: GoldenForm) throws {
    try Self.withCopy(form) { url in
      let realm = try Realm(configuration: Self.configuration(url, form, readOnly: true))
      try Self.expectContent(realm)
    }
  }

  @Test(arguments: GoldenForm.available)
  func `a golden file is sound`(form: GoldenForm) throws {
    try Self.withCopy(form) { url in
      let options = FileStoreOptions(isReadOnly: true, codec: try form.codec?.make())
      let store = try FileStore(path: url.path, options: options)
      let database = try Database(store: store)
      #expect(store.identity.formatVersion == form.formatVersion)
      #expect(store.identity.codec == form.codec?.name ?? "")
      #expect(try database.verify().findings == [])
      #expect(try database.snapshot().areAllPagesStored != form.hasSmallCommits)
      #expect(form.hasDictionary(store) == (form == .dictionary))
      var verifier = ObjectVerifier(snapshot: try database.snapshot())
      #expect(try verifier.run() == [])
      try database.close()
    }
  }

  @Test(arguments: GoldenForm.available)
  func `a golden file can be written to`(form: GoldenForm) throws {
    try Self.withCopy(form) { url in
      do {
        let realm = try Realm(configuration: Self.configuration(url, form))
        try realm.write {
          GoldenContent.object(5, in: realm)?.int = 77
          realm.create(GoldenOwner.self, value: ["id": 9, "name": "new"])
        }
      }
      let realm = try Realm(configuration: Self.configuration(url, form))
      #expect(GoldenContent.object(5, in: realm)?.int == 77)
      #expect(realm.objects(GoldenOwner.self).count == 3)
    }
  }

  @Test(arguments: GoldenForm.available)
  func `a file of an older form is upgraded beside a backup of what it was`(form: GoldenForm) throws
  {
    try Self.withCopy(form) { url in
      let before = try Data(contentsOf: url)
      for _ in 0..<2 {
        try autoreleasepool {
          try Self.expectContent(Realm(configuration: Self.configuration(url, form)))
        }
      }
      let folder = url.deletingLastPathComponent()
      let backups = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        .filter { $0.contains("backup") }
      #expect(backups == (form.formatVersion == 1 ? ["copy.format-1.backup.cambium"] : []))
      for name in backups {
        let backup = folder.appendingPathComponent(name)
        #expect(try Data(contentsOf: backup) == before)
        try Self.expectContent(
          Realm(configuration: Self.configuration(backup, form, readOnly: true)))
      }
    }
  }

  @Test func `a backup of other content stays, and the new one gets a number`() throws {
    try Self.withCopy(.plain) { url in
      let before = try Data(contentsOf: url)
      let taken = url.deletingPathExtension().appendingPathExtension("format-1.backup.cambium")
      try Data("something else".utf8).write(to: taken)
      try autoreleasepool {
        try Self.expectContent(Realm(configuration: Self.configuration(url, .plain)))
      }
      #expect(try Data(contentsOf: taken) == Data("something else".utf8))
      let backup = url.deletingPathExtension().appendingPathExtension("format-1-2.backup.cambium")
      #expect(try Data(contentsOf: backup) == before)
    }
  }

  @Test func `objects of an older form are upgraded beside a backup, too`() throws {
    try TemporaryFolder.with { folder in
      let url = folder.appendingPathComponent("people")
      let configuration = Self.configuration(url, .mapped)
      try autoreleasepool { _ = try Realm(configuration: configuration) }
      // As a library wrote it that knew neither groups of backlinks nor packed words.
      let database = try Database(store: FileStore(path: url.path))
      let transaction = try database.beginWrite()
      try transaction.setValue(StoredName.features, StoredFeatures.maps.bytes)
      _ = try transaction.commit()
      try database.close()
      for _ in 0..<2 { try autoreleasepool { _ = try Realm(configuration: configuration) } }
      let backup = folder.appendingPathComponent("people.objects-2.backup")
      #expect(try Self.features(url).isSuperset(of: .current))
      #expect(try Self.features(backup) == .maps)
    }
  }

  @Test func `a backup of objects of an older form has what small commits have left in memory`()
    throws
  {
    try TemporaryFolder.with { folder in
      let url = folder.appendingPathComponent("people")
      let configuration = Self.configuration(url, .mapped)
      try autoreleasepool { _ = try Realm(configuration: configuration) }
      var options = FileStoreOptions()
      options.relaxedDelayNanoseconds = 3_600_000_000_000
      let database = try Database(store: FileStore(path: url.path, options: options))
      let transaction = try database.beginWrite()
      try transaction.setValue(StoredName.features, StoredFeatures.maps.bytes)
      _ = try transaction.commit()
      var number: UInt8 = 0
      repeat {
        number += 1
        let small = try database.beginWrite(expecting: .relaxed)
        try small.setValue("mark", [number])
        _ = try small.commit(durability: .relaxed)
      } while try database.snapshot().areAllPagesStored && number < 100
      #expect(number < 100)
      try autoreleasepool { _ = try Realm(configuration: configuration) }
      let backup = folder.appendingPathComponent("people.objects-2.backup")
      var reading = FileStoreOptions()
      reading.isReadOnly = true
      let kept = try Database(store: FileStore(path: backup.path, options: reading))
      #expect(try kept.snapshot().value("mark") == [number])
      try kept.close()
      try database.close()
    }
  }

  @Test func `a file is not upgraded when there is no room for its backup`() throws {
    try Self.withCopy(.plain) { url in
      let before = try Data(contentsOf: url)
      let draft = url.deletingPathExtension()
        .appendingPathExtension("format-1.backup.cambium.creating")
      try FileManager.default.createDirectory(at: draft, withIntermediateDirectories: true)
      let configuration = Self.configuration(url, .plain)
      #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
      #expect(try Data(contentsOf: url) == before)
      try FileManager.default.removeItem(at: draft)
      try Self.expectContent(Realm(configuration: configuration))
    }
  }

  @Test(arguments: GoldenForm.available)
  func `a file of an older form is refused where it may not be upgraded`(form: GoldenForm) throws {
    try Self.withCopy(form) { url in
      var configuration = Self.configuration(url, form)
      configuration.disableFormatUpgrade = true
      guard form.formatVersion == 1 else {
        return try Self.expectContent(Realm(configuration: configuration))
      }
      let before = try Data(contentsOf: url)
      let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
      #expect(try Data(contentsOf: url) == before)
      #expect(error?.code == .fileFormatUpgradeRequired)
      #expect(
        error?.localizedDescription.contains("must be allowed to be upgraded in order to proceed")
          == true)
      configuration.disableFormatUpgrade = false
      _ = try autoreleasepool { try Realm(configuration: configuration) }
      configuration.disableFormatUpgrade = true
      try Self.expectContent(Realm(configuration: configuration))
    }
  }

  @Test(arguments: GoldenForm.available)
  func `a golden file opens with no other codec and no other key`(form: GoldenForm) throws {
    try Self.withCopy(form) { url in
      for other in form.others {
        var wrong = Self.configuration(url, form, readOnly: true)
        wrong.codec = other
        let error = #expect(throws: Realm.Error.self) { try Realm(configuration: wrong) }
        #expect(error?.code == .invalidDatabase)
      }
    }
  }

  /// Writes the files of the current format into a folder when asked to, for the day the format gets a
  /// new version.
  @Test(
    .enabled(if: ProcessInfo.processInfo.environment["CAMBIUM_WRITE_GOLDEN"] != nil),
    arguments: GoldenForm.available.filter { $0.formatVersion == 2 })
  func `the golden files of the current version are written on request`(form: GoldenForm) throws {
    let path = try #require(ProcessInfo.processInfo.environment["CAMBIUM_WRITE_GOLDEN"])
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let url = URL(fileURLWithPath: path).appendingPathComponent("\(form.rawValue).cambium")
    try autoreleasepool {
      let realm = try Realm(configuration: Self.configuration(url, form))
      try GoldenContent.write(to: realm)
      // So many that the free map is stored.
      let value = GoldenContent.object(5, in: realm)?.int ?? 0
      for number in 1...80 {
        try realm.write { GoldenContent.object(5, in: realm)?.int = value + number % 80 }
      }
      try Self.expectContent(realm)
      // As long as it is open the log is not emptied.
      guard form.hasSmallCommits else { return }
      try Data(contentsOf: url).write(to: url.appendingPathExtension("open"))
    }
    guard form.hasSmallCommits else { return }
    try FileManager.default.removeItem(at: url)
    try FileManager.default.moveItem(at: url.appendingPathExtension("open"), to: url)
  }

  private static func features(_ url: URL) throws -> StoredFeatures {
    let options = FileStoreOptions(isReadOnly: true)
    let database = try Database(store: FileStore(path: url.path, options: options))
    #expect(try database.verify().findings == [])
    let features = try StoredFeatures(of: database.snapshot(), path: url.path)
    try database.close()
    return features
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
