import Cambium
import Foundation
import TestSupport
import Testing

/// Backups of versions of which some pages lie in memory.
struct BackupInMemoryTests {
  private let fixture: BackupFixture
  private var folder: TemporaryFolder { fixture.folder }

  init() throws { fixture = try BackupFixture() }

  @Test func `a version of a database in memory is backed up, whether others follow or not`() throws
  {
    var memory = Realm.Configuration(inMemoryIdentifier: folder.file("people"))
    memory.objectTypes = DocumentModels.types
    let realm = try Realm(configuration: memory)
    try realm.write {
      for number in 0..<3_000 { realm.add(DocPlain(value: ["number": number])) }
      realm.add(DocEverything(value: ["id": "one"]))
    }
    var kept: [(realm: Realm, text: String)] = []
    for number in 1...5 {
      try realm.write {
        realm.objects(DocPlain.self).first?.number = -number
        realm.objects(DocEverything.self).first?.int = number
      }
      kept.append((realm.freeze(), try BackupFixture.text(realm.freeze())))
    }
    for (number, version) in kept.enumerated() {
      let url = folder.url("\(number).backup")
      try version.realm.backup(to: url)
      let restored = try fixture.configuration("file", "restored \(number)")
      try Realm.restore(from: url, to: restored)
      #expect(try BackupFixture.text(try Realm(configuration: restored)) == version.text)
    }
    let last = folder.url("4.backup")
    #expect(try realm.backup(to: folder.url("5.backup"), after: last).pageCount < 12)
  }

  @Test(arguments: BackupFixture.kinds.filter { $0.hasPrefix("file") })
  func `of a version whose newest pages lie in memory a backup has these and what is new besides`(
    kind: String
  ) throws {
    let secret = "nobody is to read this"
    var configuration = try fixture.configuration(kind, "people")
    configuration.durability = .relaxed
    let realm = try Realm(configuration: configuration)
    try realm.write {
      for number in 0..<30_000 { realm.add(DocPlain(value: ["number": number])) }
      realm.add(DocEverything(value: ["id": "one"]))
    }
    let whole = try realm.backup(to: folder.url("0.backup"))
    try realm.write {
      realm.objects(DocPlain.self).first?.number = -1
      realm.objects(DocEverything.self).first?.string = secret
    }
    let version = realm.freeze()
    let text = try BackupFixture.text(version)
    try realm.write { realm.objects(DocPlain.self).first?.number = -2 }
    let part = try version.backup(to: folder.url("1.backup"), after: folder.url("0.backup"))
    #expect(part.pageCount > 0 && 2 * part.pageCount < whole.pageCount, "\(part) \(whole)")
    let restored = try fixture.configuration(kind, "restored")
    try Realm.restore(
      from: folder.url("1.backup"), encryptionKey: kind.hasSuffix("key") ? BackupFixture.key : nil,
      to: restored)
    #expect(try BackupFixture.text(try Realm(configuration: restored)) == text)
    if !kind.hasSuffix("key") {
      let pages = try ToolRunner.run(
        "inspect", "backup:\(folder.file("1.backup"))", "--pages", "--json")
      let extents = (pages.json["pages"] as? [String: Any])?["extents"] as? [[Int]] ?? []
      #expect(extents.count > 1 && extents.allSatisfy { $0[0] < 1 << 40 }, "\(pages)")
    }
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(files.allSatisfy { !$0.contains("writing") })
    guard kind.hasSuffix("key") else { return }
    for file in files {
      let bytes = (try? Data(contentsOf: folder.url(file))) ?? Data()
      #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(file)")
    }
  }

  @Test
  func `beside a program whose newest pages lie in memory the tool backs up what has changed`()
    throws
  {
    let realm = try Realm(configuration: try fixture.configuration("file", "people"))
    try realm.write {
      realm.add(DocPlain(value: ["number": 0]))
      for number in 0..<5_000 {
        let text = String(repeating: "\(number)", count: 50)
        realm.add(DocEverything(value: ["id": "id \(number)", "string": text]))
      }
    }
    let (store, whole, part) = (folder.file("people"), folder.file("0"), folder.file("1"))
    let first = try ToolRunner.run("backup", store, whole, "--json")
    #expect(first.status == 0, "\(first.errors)")
    for number in 0..<4 {
      try realm.write { realm.objects(DocPlain.self).first?.number = -number }
    }
    // What power loss would leave of it.
    let copy = folder.file("copy")
    try FileManager.default.copyItem(atPath: store, toPath: copy)
    let inspected = try ToolRunner.run("inspect", copy)
    #expect(inspected.output.contains("\n  log              128.0 KiB at byte "), "\(inspected)")
    let second = try ToolRunner.run("backup", store, part, "--incremental", whole, "--json")
    #expect(second.status == 0, "\(second.errors)")
    let (all, changed) = (first.json["pages"] as? Int ?? 0, second.json["pages"] as? Int ?? 0)
    #expect(changed > 0 && 4 * changed < all, "\(changed) of \(all)")
    let exported = try ToolRunner.run("export", part)
    #expect(try exported.output == ToolRunner.run("export", store).output)
  }
}
