import Cambium
import CambiumToolKit
import Foundation
import TestSupport
import Testing

/// Stores that are compared, and watched.
@Suite struct DiffCommandTests {
  private let folder: TemporaryFolder
  private let old: String
  private let new: String

  init() throws {
    folder = try TemporaryFolder()
    (old, new) = (folder.file("old.cambium"), folder.file("new.cambium"))
  }

  private func configuration(_ path: String) -> Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), objectTypes: DocumentModels.types)
  }

  private func change(_ path: String, _ body: (Realm) throws -> Void) throws {
    try autoreleasepool {
      let realm = try Realm(configuration: configuration(path))
      try realm.write { try body(realm) }
    }
  }

  /// Twenty objects in the old store.
  private func makeOld() throws {
    try change(old) { realm in
      let plains = (0..<5).map { DocPlain(value: ["number": $0]) }
      realm.add(plains)
      for number in 0..<20 {
        let object = DocEverything(value: ["id": "id \(number)", "int": number])
        object.place = DocPlace(value: ["name": "p", "owner": plains[number % 5]])
        object.places.append(objectsIn: (0..<40).map { DocPlace(value: ["name": "\($0)"]) })
        object.any = .fromArray([.int(number)])
        realm.add(object)
      }
    }
  }

  private func edit(_ realm: Realm) {
    func object(_ number: Int) -> DocEverything? {
      realm.object(ofType: DocEverything.self, forPrimaryKey: "id \(number)")
    }
    object(1)?.string = "new"
    object(2)?.place?.name = "q"
    object(3)?.places[17].name = "changed"
    object(4)?.any.listValue?.append(.string("x"))
    if let object = object(5) { realm.delete(object) }
    realm.create(DocEverything.self, value: ["id": "id 20"])
    // Back to what it was: nothing that shows.
    object(6)?.int = 7
    object(6)?.int = 6
  }

  private static let expected = """
    DocEverything
      ~ "id 1" string null → "new"
      ~ "id 2" place {"name":"p","owner":{"$key":2}} → {"name":"q","owner":{"$key":2}}
      ~ "id 3" places …ner":null},{"name":"17","owner":null},{"name":"18","owner":n… → \
    …ner":null},{"name":"changed","owner":null},{"name":"18","own…
      ~ "id 4" any [4] → [4,"x"]
      - "id 5" {"id":"id 5","int":5,"optionalInt":null,"bool":false,"float"…
      + "id 20" {"id":"id 20","int":0,"optionalInt":null,"bool":false,"float…
    DocEverything: 1 added, 1 removed, 4 changed

    """

  @Test func `copies of one file differ where they were changed`() throws {
    try makeOld()
    try FileManager.default.copyItem(atPath: old, toPath: new)
    let same = try ToolRunner.run("diff", old, new)
    #expect(same.status == 0 && same.output == "Nothing differs.\n")
    try change(new, edit)
    let outcome = try ToolRunner.run("diff", old, new)
    #expect(outcome.status == 2 && outcome.errors == "")
    #expect(outcome.output == Self.expected)
    let summary = try ToolRunner.run("diff", old, new, "--summary", "--json")
    #expect(summary.status == 2)
    let classes = try #require(summary.json["classes"] as? [String: [String: Int]])
    #expect(classes["DocEverything"] == ["added": 1, "removed": 1, "changed": 4])
    #expect(classes["DocPlain"] == ["added": 0, "removed": 0, "changed": 0])
  }

  @Test func `stores of two kinds are compared object by object`() throws {
    try makeOld()
    #if RocksDB
      let copy = "rocksdb:" + folder.file("copy.rocks")
    #else
      let copy = folder.file("copy.cambium")
    #endif
    try #require(try ToolRunner.run("copy", old, copy).status == 0)
    #expect(try ToolRunner.run("diff", old, copy).output == "Nothing differs.\n")
    try change(old, edit)
    let outcome = try ToolRunner.run("diff", copy, old)
    #expect(outcome.status == 2)
    // Keys that were deleted come last in the walk, so that lines are compared as a set.
    #expect(
      Set(outcome.output.split(separator: "\n")) == Set(Self.expected.split(separator: "\n")))
  }

  @Test(arguments: 0..<8 as Range<UInt64>)
  func `what is stepped over does not differ: the difference of copies is that of all objects`(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let original = try DocumentModels.realm(&random, count: 30)
    var configuration = configuration(old)
    try original.writeCopy(configuration: configuration)
    try FileManager.default.copyItem(atPath: old, toPath: new)
    try change(new) { realm in
      for object in realm.objects(DocEverything.self)
      where Int.random(in: 0..<4, using: &random) == 0 {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: object.int &+= 1
        case 1: object.place = nil
        case 2: object.places.forEach { $0.name += "!" }
        case 3: object.homes["here"]??.name = "away"
        case 4: object.anyMap["x"] = .int(99)
        case 5: object.plains.removeAll()
        case 6: realm.delete(object)
        default: object.same = nil
        }
      }
    }
    configuration.objectTypes = nil
    configuration.usesStoredClasses = true
    let before = try Realm(configuration: configuration).freeze()
    configuration.fileURL = URL(fileURLWithPath: new)
    let after = try Realm(configuration: configuration).freeze()
    let fast = ObjectDifference(old: before, new: after)
    #expect(fast.isOfOneOrigin)
    // The same content in a database with another number, row by row.
    var elsewhere = configuration
    elsewhere.fileURL = folder.url("third.cambium")
    try after.writeCopy(configuration: elsewhere)
    let slow = ObjectDifference(old: before, new: try Realm(configuration: elsewhere).freeze())
    #expect(!slow.isOfOneOrigin)
    func lines(_ difference: ObjectDifference) throws -> Set<String> {
      var lines: Set<String> = []
      for name in difference.classNames {
        try difference.forEachChange(of: name) { key, change in
          lines.insert("\(name) \(key.line) \(change)")
        }
      }
      return lines
    }
    #expect(try lines(fast) == lines(slow), "seed \(seed)")
    #expect(try !lines(fast).isEmpty)
  }

  @Test func `classes and properties that differ are named`() throws {
    for (path, document) in [
      (old, #"[{"id": 1, "name": "a", "gone": 1}]"#),
      (new, #"[{"id": 1, "name": "a", "size": 2.5}]"#),
    ] {
      let file = folder.file("document.json")
      try document.write(toFile: file, atomically: true, encoding: .utf8)
      _ = try ToolRunner.run("import", file, path, "--class", "T", "--primary-key", "id")
      _ = try ToolRunner.run("import", file, path, "--class", path == old ? "Old" : "New")
    }
    let outcome = try ToolRunner.run("diff", old, new)
    #expect(outcome.status == 2)
    #expect(
      outcome.output == """
        - class Old
        + class New
        - T.gone: Int
        + T.size: Double

        """)
    let unknown = try ToolRunner.run("diff", old, new, "--class", "Nobody")
    #expect(unknown.status == 1 && unknown.errors == "cambium: There is no class 'Nobody'.\n")
  }

  @Test func `watch shows a store, and who holds which version`() throws {
    try makeOld()
    let realm = try Realm(configuration: configuration(old))
    let held = realm.freeze()
    let outcome = try ToolRunner.run("watch", old, "--count", "1", "--json")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.json["version"] as? Int ?? 0 >= 2)
    let pins = try #require(outcome.json["pins"] as? [[String: Any]])
    #expect(pins.contains { $0["process"] as? Int == Int(getpid()) })
    withExtendedLifetime(held) {}
    let text = try ToolRunner.run("watch", old, "--count", "1")
    #expect(text.output.contains("  version "))
  }

  @Test func `watch shows what others commit`() throws {
    try makeOld()
    let (process, output) = try ToolRunner.startReading(
      "watch", old, "--interval", "0.05", "--json")
    var bytes = Data()
    func nextVersion() throws -> Int {
      while !bytes.contains(0x0A) {
        let more = output.availableData
        try #require(!more.isEmpty)
        bytes += more
      }
      let line = bytes.prefix { $0 != 0x0A }
      bytes = Data(bytes.dropFirst(line.count + 1))
      let json = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
      return try #require(json?["version"] as? Int)
    }
    // The first line says that it looks.
    let first = try nextVersion()
    try change(old) { $0.create(DocPlain.self) }
    // Others may tell of who reads which version.
    while try nextVersion() == first {}
    // The threads of tests let no other signal through, and who they start inherits that.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
