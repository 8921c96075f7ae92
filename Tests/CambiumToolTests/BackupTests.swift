import Cambium
import CambiumCore
import CambiumToolKit
import Foundation
import TestSupport
import Testing

/// Backups of databases in use, and what is made of them again.
@Suite struct BackupTests {
  private let fixture: BackupFixture
  private var folder: TemporaryFolder { fixture.folder }

  init() throws { fixture = try BackupFixture() }

  private static func change(_ realm: Realm, _ random: inout SeededGenerator) throws {
    try realm.write {
      for object in realm.objects(DocEverything.self)
      where Int.random(in: 0..<5, using: &random) == 0 {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: object.string = String(repeating: "long ", count: 200)
        case 1: object.places.append(DocPlace(value: ["name": "another"]))
        case 2: realm.delete(object)
        case 3: object.data = Data(repeating: 7, count: 20_000)
        default: object.int &+= 1
        }
      }
      for number in 0..<Int.random(in: 0..<4, using: &random) {
        realm.add(DocEverything(value: ["id": UUID().uuidString, "int": number]))
      }
    }
  }

  @Test(arguments: BackupFixture.kinds, 0..<3 as Range<UInt64>)
  func `a series of backups holds each version, and each is restored`(
    kind: String, seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let original = try DocumentModels.realm(&random, count: 60)
    let configuration = try fixture.configuration(kind, "people")
    try original.writeCopy(configuration: configuration)
    let realm = try Realm(configuration: configuration)
    var contents: [String] = []
    var last: URL?
    for number in 0..<4 {
      if number > 0 { try Self.change(realm, &random) }
      let url = folder.url("\(number).backup")
      let report = try realm.backup(to: url, after: last)
      let size = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int
      #expect(report.byteCount == size)
      last = url
      contents.append(try BackupFixture.text(realm.freeze()))
      // Whoever goes on writing changes nothing of what was backed up.
      try Self.change(realm, &random)
    }
    for number in 0..<4 {
      var restored = try fixture.configuration("file", "restored \(number)")
      restored.objectTypes = nil
      restored.usesStoredClasses = true
      try Realm.restore(
        from: folder.url("\(number).backup"),
        encryptionKey: kind.hasSuffix("key") ? BackupFixture.key : nil, to: restored)
      #expect(
        try BackupFixture.text(try Realm(configuration: restored)) == contents[number],
        "seed \(seed), backup \(number)")
    }
  }

  @Test func `an incremental backup has the pages that have changed`() throws {
    let realm = try Realm(configuration: try fixture.configuration("file", "people"))
    try realm.write {
      for number in 0..<5_000 {
        realm.add(DocPlain(value: ["number": number]))
        realm.add(
          DocEverything(value: ["id": "id \(number)", "string": String(repeating: "x", count: 100)])
        )
      }
    }
    let whole = try realm.backup(to: folder.url("0.backup"))
    try realm.write { realm.objects(DocEverything.self).first?.int = 9 }
    let part = try realm.backup(to: folder.url("1.backup"), after: folder.url("0.backup"))
    #expect(part.pageCount > 0 && part.pageCount < 12 && whole.pageCount > 4 * part.pageCount)
    let nothing = try realm.backup(to: folder.url("2.backup"), after: folder.url("1.backup"))
    #expect(nothing.pageCount == 0)
    var restored = try fixture.configuration("file", "restored")
    try Realm.restore(from: folder.url("2.backup"), to: restored)
    restored.readOnly = true
    #expect(
      try BackupFixture.text(try Realm(configuration: restored))
        == BackupFixture.text(realm.freeze()))
  }

  @Test func `a backup is read like a store, and never written`() throws {
    var random = SeededGenerator(seed: 3)
    let original = try DocumentModels.realm(&random, count: 10)
    let configuration = try fixture.configuration("file", "people")
    try original.writeCopy(configuration: configuration)
    let path = folder.file("people.backup")
    try Realm(configuration: configuration).backup(to: URL(fileURLWithPath: path))
    var backup = try Realm.Configuration(location: path)
    backup.objectTypes = DocumentModels.types
    backup.readOnly = true
    let realm = try Realm(configuration: backup)
    #expect(realm.objects(DocEverything.self).count == 10)
    let another = folder.file("another.backup")
    try FileManager.default.copyItem(atPath: path, toPath: another)
    var writable = try Realm.Configuration(location: another)
    writable.objectTypes = DocumentModels.types
    #expect(throws: Realm.Error.self) {
      let realm = try Realm(configuration: writable)
      try realm.write { realm.deleteAll() }
    }
  }

  /// A backup of a small database, and what it holds.
  private func smallBackup() throws -> (path: String, content: String) {
    let realm = try Realm(configuration: try fixture.configuration("file", "small"))
    try realm.write {
      for number in 0..<40 { realm.add(DocPlain(value: ["number": number])) }
    }
    let path = folder.file("small.backup")
    try realm.backup(to: URL(fileURLWithPath: path))
    return (path, try BackupFixture.text(realm.freeze()))
  }

  @Test func `a damaged byte of a backup is told, or changes nothing`() throws {
    let (path, content) = try smallBackup()
    let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    let damaged = folder.file("damaged.backup")
    var told = 0
    for place in stride(from: 0, to: bytes.count, by: Exhaustive.isWanted ? 1 : 41) {
      var changed = bytes
      changed[place] ^= 0x10
      try Data(changed).write(to: URL(fileURLWithPath: damaged))
      do {
        var restored = try fixture.configuration("file", "restored \(place)")
        try Realm.restore(from: URL(fileURLWithPath: damaged), to: restored)
        restored.readOnly = true
        #expect(
          try BackupFixture.text(try Realm(configuration: restored)) == content, "byte \(place)")
      } catch {
        told += 1
        #expect(!FileManager.default.fileExists(atPath: folder.file("restored \(place)")))
      }
    }
    #expect(told > 0)
    for count in stride(from: 0, to: bytes.count, by: 397) {
      try Data(bytes[..<count]).write(to: URL(fileURLWithPath: damaged))
      #expect(throws: Realm.Error.self) {
        try Realm.restore(
          from: URL(fileURLWithPath: damaged), to: try fixture.configuration("file", "cut"))
      }
    }
  }

  @Test(arguments: [(88, Int.max / 32 - 2), (88, 1 << 56), (96, Int.max), (96, 1 << 56)])
  func `a backup with numbers that were made up is damaged`(place: Int, number: Int) throws {
    let (path, _) = try smallBackup()
    var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    func store(_ value: UInt64, at place: Int) {
      bytes.replaceSubrange(
        place..<place + 8, with: (0..<8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) })
    }
    store(UInt64(number), at: place)
    store(bytes[..<1016].withUnsafeBytes { Checksum.hash($0) }, at: 1016)
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let outcome = try ToolRunner.run("inspect", path)
    #expect(outcome.status == 1 && outcome.errors.contains("beginning of the backup"), "\(outcome)")
  }

  @Test func `what cannot be backed up or restored is said in one line, and nothing is left`()
    throws
  {
    let (path, _) = try smallBackup()
    func message(_ body: () throws -> Void) -> String {
      do { try body() } catch { return (error as? Realm.Error)?.localizedDescription ?? "\(error)" }
      return "nothing"
    }
    let realm = try Realm(configuration: try fixture.configuration("file", "small"))
    let (first, other) = (URL(fileURLWithPath: path), folder.url("other.backup"))
    #expect(message { try realm.backup(to: first) }.contains("File exists"))
    #expect(message { try realm.backup(to: folder.url("none/x.backup")) }.contains("folder"))
    try FileManager.default.createDirectory(
      atPath: folder.file("sub"), withIntermediateDirectories: true)
    #expect(
      message { try realm.backup(to: folder.url("sub/x.backup"), after: first) }
        .contains("lies in the folder of the one on which it builds"))
    let stranger = try Realm(configuration: try fixture.configuration("file", "stranger"))
    #expect(
      message { try stranger.backup(to: other, after: first) }.contains("it is no backup of"))
    #expect(
      message { try realm.backup(to: other, after: folder.url("stranger")) }
        .contains("it is no backup"))
    try realm.backup(to: other, after: first)
    let third = folder.url("third.backup")
    try FileManager.default.moveItem(at: first, to: third)
    let target = try fixture.configuration("file", "restored")
    #expect(message { try Realm.restore(from: other, to: target) }.contains("small.backup"))
    try stranger.backup(to: first)
    #expect(
      message { try Realm.restore(from: other, to: target) }
        .contains("it is not the backup that"))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy {
        !$0.contains("writing") && !$0.hasPrefix("restored")
      })
  }

  @Test func `a signal in the middle of a backup or a compaction leaves what was there`() throws {
    let configuration = try fixture.configuration("file", "large")
    try autoreleasepool {
      let realm = try Realm(configuration: configuration)
      try realm.write {
        for number in 0..<60_000 {
          realm.add(
            DocEverything(value: ["id": "\(number)", "data": Data(repeating: 1, count: 300)]))
        }
      }
    }
    let store = folder.file("large")
    let before = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    for (arguments, mark, result) in [
      (["backup", store, folder.file("x.backup")], "x.backup.writing", "x.backup"),
      (["compact", store], "large.compacting", ""),
      (["compact", store, "--output", folder.file("small")], "small.compacting", "small"),
    ] {
      func isWriting() throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).contains {
          $0.hasPrefix(mark)
        }
      }
      let process = try ToolRunner.startAndSignal(
        SIGTERM, arguments: arguments, isUnderWay: isWriting
      ) {
        if !result.isEmpty { try FileManager.default.removeItem(atPath: folder.file(result)) }
      }
      #expect(
        process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGTERM,
        "\(arguments)")
      let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        .filter { !before.contains($0) }
      // On a busy machine all may be done when the signal comes: then it is there, and whole.
      if left == [result], try ToolRunner.run("verify", folder.file(result)).status == 0 {
        try FileManager.default.removeItem(atPath: folder.file(result))
        continue
      }
      #expect(left == [], "\(arguments)")
    }
    #expect(try ToolRunner.run("verify", store).status == 0)
  }

  @Test func `names of one character, from the folder in which they are, are names like others`()
    throws
  {
    let (_, content) = try smallBackup()
    func run(_ arguments: String...) throws -> ToolRunner.Outcome {
      try ToolRunner.run(in: folder.path, arguments: arguments)
    }
    #expect(try run("backup", "small", "a").status == 0)
    #expect(try run("backup", "small", "b", "--incremental", "a").status == 0)
    #expect(try run("query", "b", "DocPlain", "--count").output == "40\n")
    #expect(try run("restore", "b", "c").status == 0)
    #expect(try run("export", "c").output == content)
    #expect(try run("compact", "c").status == 0)
    #if RocksDB
      #expect(try run("copy", "c", "rocksdb:d").status == 0)
      #expect(try run("export", "d").output == content)
    #endif
    #expect(try run("import", "e", "f").errors.hasPrefix("cambium: No document at 'e'"))
  }

  #if Crypto
    @Test func `what is restored with a new key is encrypted`() throws {
      let (path, content) = try smallBackup()
      let (key, restored) = (folder.file("key"), folder.file("restored"))
      try BackupFixture.key.write(to: URL(fileURLWithPath: key))
      let outcome = try ToolRunner.run(
        "restore", path, restored, "--new-key-file", key, "--json")
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(outcome.json["codec"] as? String == "aes-256-gcm")
      #expect(try ToolRunner.run("export", restored).status == 1)
      #expect(try ToolRunner.run("export", restored, "--key-file", key).output == content)
    }
  #endif

  @Test func `the tool backs up, restores, and tells of a medium that is full`() throws {
    let (path, _) = try smallBackup()
    let store = folder.file("small")
    let (second, restored) = (folder.file("second.backup"), folder.file("restored"))
    let outcome = try ToolRunner.run("backup", store, second, "--incremental", path, "--json")
    #expect(outcome.status == 0 && outcome.json["pages"] as? Int == 0, "\(outcome.errors)")
    #expect(try ToolRunner.run("restore", second, restored).status == 0)
    #expect(try ToolRunner.run("diff", store, restored).output == "Nothing differs.\n")
    #expect(try ToolRunner.run("verify", second).status == 0)
    #expect(try ToolRunner.run("query", path, "DocPlain", "--count").output == "40\n")
    let full = try ToolRunner.runLimited(fileBlocks: 4, "backup", store, folder.file("full.backup"))
    #expect(full.status == 1 && full.errors.contains("full.backup"), "\(full.errors)")
    let elsewhere = try ToolRunner.run(
      "backup", store, folder.file("sub/x.backup"), "--incremental", path)
    #expect(elsewhere.errors.contains("lies in the folder of the one on which it builds"))
    let wrong = try ToolRunner.run("restore", store, folder.file("nowhere"))
    #expect(wrong.status == 1)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy {
        !$0.contains("writing") && !$0.hasPrefix("full") && !$0.hasPrefix("nowhere")
      })
  }
}
