import Cambium
import CambiumRealmFile
import Foundation
import RealmFileBuilder
import TestSupport
import Testing

/// Imports of files that a test made: what holds between objects, and what a damaged file may claim.
@Suite struct HandMadeImportTests {
  private let folder: TemporaryFolder
  private var target: URL { folder.url("new.cambium") }

  private static let link: Int64 = 12
  private static let string: Int64 = 2

  init() throws { folder = try TemporaryFolder() }

  /// Imports a file and opens the result with the classes that it describes.
  private func imported(_ bytes: [UInt8]) throws -> Realm {
    let old = folder.url("old.realm")
    try Data(bytes).write(to: old)
    try Realm.importRealmFile(at: old, into: Realm.Configuration(fileURL: target))
    #expect(try Imports.findings(at: target) == [])
    var configuration = Realm.Configuration(fileURL: target)
    configuration.usesStoredClasses = true
    return try Realm(configuration: configuration)
  }

  /// The text of the error with which importing a file ends; nothing of it may be left.
  private func refusal(_ bytes: [UInt8], _ code: Realm.Error.Code = .invalidDatabase) throws
    -> String
  {
    let old = folder.url("old.realm")
    try Data(bytes).write(to: old)
    defer { try? FileManager.default.removeItem(at: old) }
    do {
      try Realm.importRealmFile(at: old, into: Realm.Configuration(fileURL: target))
    } catch let error as Realm.Error {
      #expect(error.code == code)
      #expect(try Imports.names(in: folder.url) == ["old.realm"])
      return error.localizedDescription
    }
    try? FileManager.default.removeItem(at: target)
    return ""
  }

  // MARK: Primary keys

  /// Class `P` with the primary key `id`, and class `L` whose object i links to object i of `P`.
  private func keyed(
    _ ids: (inout FileBuilder) -> Int64, type: Int64, count: Int64, links: [Int64]
  ) -> [UInt8] {
    var builder = FileBuilder()
    let column = FileBuilder.Column(name: "id", type: type)
    let idLeaf = ids(&builder)
    let keyed = builder.leaf(count: count, [idLeaf])
    let linkLeaf = builder.integers(links.map { $0 + 1 })
    let linking = builder.leaf(count: Int64(links.count), [linkLeaf])
    let first = builder.table(
      [column], tree: keyed, key: 0, targets: [FileBuilder.noTable], primaryKey: 0)
    let second = builder.table(
      [.init(name: "to", type: Self.link, attributes: FileBuilder.nullable)], tree: linking, key: 1,
      targets: [0])
    let names = builder.texts(["class_P", "class_L"])
    let tables = builder.refs([first, second])
    return builder.finish(names: names, tables: tables)
  }

  @Test func `links to objects with integer primary keys lead to the same objects`() throws {
    let realm = try imported(
      keyed({ $0.integers([500, -3, 7]) }, type: 0, count: 3, links: [2, 0, 1, 2]))
    let targets = realm.dynamicObjects("L").map { ($0["to"] as? DynamicObject)?["id"] as? Int }
    #expect(Array(targets) == [7, 500, -3, 7])
    #expect(realm.dynamicObject(ofType: "P", forPrimaryKey: -3) != nil)
  }

  @Test func `links to objects that are not there are null`() throws {
    let realm = try imported(
      keyed({ $0.integers([500, 7]) }, type: 0, count: 2, links: [5, 0, 999]))
    let targets = realm.dynamicObjects("L").map { ($0["to"] as? DynamicObject)?["id"] as? Int }
    #expect(Array(targets) == [nil, 500, nil])
  }

  @Test func `a primary key that two objects have is told`() throws {
    let numbers = try refusal(
      keyed({ $0.integers([4, 9, 4]) }, type: 0, count: 3, links: []))
    #expect(numbers.contains("P.id") && numbers.contains("primary key 4"))
    let texts = try refusal(
      keyed({ $0.texts(["a", "b", "a"]) }, type: Self.string, count: 3, links: []))
    #expect(texts.contains("P.id") && texts.contains("same primary key"))
  }

  // MARK: Embedded objects

  /// Class `Owner` whose objects hold those embedded objects of class `Part`, by their keys.
  private func embedding(parts: Int64, owners: [Int64?]) -> [UInt8] {
    var builder = FileBuilder()
    let values = builder.integers((0..<parts).map { 10 + $0 })
    let partTree = builder.leaf(count: parts, [values])
    let links = builder.integers(owners.map { $0.map { $0 + 1 } ?? 0 })
    let ownerTree = builder.leaf(count: Int64(owners.count), [links])
    let part = builder.table(
      [.int("number")], tree: partTree, key: 0, targets: [FileBuilder.noTable], isEmbedded: true)
    let owner = builder.table(
      [.init(name: "part", type: Self.link, attributes: FileBuilder.nullable)], tree: ownerTree,
      key: 1, targets: [0])
    let names = builder.texts(["class_Part", "class_Owner"])
    let tables = builder.refs([part, owner])
    return builder.finish(names: names, tables: tables)
  }

  @Test func `embedded objects that nothing holds are left out`() throws {
    let realm = try imported(embedding(parts: 6, owners: [3, nil, 0]))
    let parts = realm.dynamicObjects("Owner").map {
      ($0["part"] as? DynamicObject)?["number"] as? Int
    }
    #expect(Array(parts) == [13, nil, 10])
  }

  @Test func `an embedded object with two owners is damage`() throws {
    let text = try refusal(embedding(parts: 2, owners: [1, 1]))
    #expect(text.contains("'Part'") && text.contains("two owners"))
  }

  // MARK: Values

  @Test func `integer keys of dictionaries become their digits`() throws {
    var builder = FileBuilder()
    let keys = builder.integers([-5, 40, 9])
    let values = builder.mixed([
      FileBuilder.descriptor(type: 0, place: 0, 1), FileBuilder.descriptor(type: 0, place: 0, 2),
      FileBuilder.descriptor(type: 0, place: 0, 3),
    ])
    let dictionary = builder.refs([keys, values])
    let column = builder.refs([dictionary])
    let tree = builder.leaf(count: 1, [column])
    let realm = try imported(
      builder.finish(
        [.init(name: "map", type: 0, attributes: FileBuilder.dictionary, keyType: 0)], tree: tree))
    let object = try #require(realm.dynamicObjects("A").first)
    let entries = try #require(object["map"] as? Map<String, Int>)
    #expect(entries.keys == ["-5", "40", "9"])
    #expect(entries.values == [1, 2, 3])
  }

  @Test func `what cannot be here is refused with the name of what it is about`() throws {
    // A dictionary of integers that has a text.
    var builder = FileBuilder()
    let keys = builder.texts(["a"])
    let texts = builder.texts(["no number"])
    let values = builder.mixed([FileBuilder.descriptor(type: 2, place: 1, 0)], strings: texts)
    let dictionary = builder.refs([keys, values])
    let column = builder.refs([dictionary])
    let tree = builder.leaf(count: 1, [column])
    let text = try refusal(
      builder.finish(
        [.init(name: "map", type: 0, attributes: FileBuilder.dictionary, keyType: 2)], tree: tree))
    #expect(text.contains("A.map"), "\(text)")

    // The same key twice.
    builder = FileBuilder()
    let twice = builder.texts(["a", "a"])
    let two = builder.mixed([
      FileBuilder.descriptor(type: 0, place: 0, 1), FileBuilder.descriptor(type: 0, place: 0, 2),
    ])
    let pair = builder.refs([twice, two])
    let pairs = builder.refs([pair])
    let pairTree = builder.leaf(count: 1, [pairs])
    let doubled = try refusal(
      builder.finish(
        [.init(name: "map", type: 0, attributes: FileBuilder.dictionary, keyType: 2)],
        tree: pairTree))
    #expect(doubled.contains("A.map") && doubled.contains("twice"), "\(doubled)")

    // A class whose name no class here can have, and two of one name.
    for (names, word, code) in [
      (["class_A/B"], "A/B", Realm.Error.Code.schemaMismatch),
      (["class_A", "class_A"], "class_A", .invalidDatabase),
    ] {
      builder = FileBuilder()
      let leaf = builder.integers([1])
      let tree = builder.leaf(count: 1, [leaf])
      let tables = names.enumerated().map { index, _ in
        builder.table(
          [.int("n")], tree: tree, key: Int64(index), targets: [FileBuilder.noTable])
      }
      let nameNode = builder.texts(names)
      let tableNode = builder.refs(tables)
      let text = try refusal(builder.finish(names: nameNode, tables: tableNode), code)
      #expect(text.contains(word), "\(text)")
    }
  }

  @Test func `what a set here does not tell apart is one value`() throws {
    var builder = FileBuilder()
    let pairs = builder.integers([0, 77, 0, 88])
    let ints = builder.integers([Int64(bitPattern: (1.0).bitPattern)])
    let set = builder.mixed(
      [
        // 1, 1.0, null, and two links to objects that are not there.
        FileBuilder.descriptor(type: 0, place: 0, 1), FileBuilder.descriptor(type: 10, place: 1, 0),
        0, FileBuilder.descriptor(type: 16, place: 1, 0),
        FileBuilder.descriptor(type: 16, place: 1, 1),
      ], ints: ints, pairs: pairs)
    let column = builder.refs([set])
    let tree = builder.leaf(count: 1, [column])
    let realm = try imported(
      builder.finish(
        [.init(name: "set", type: 6, attributes: 128 | FileBuilder.nullable)], tree: tree))
    let values = try #require(
      realm.dynamicObjects("A").first?["set"] as? MutableSet<AnyRealmValue>)
    #expect(values.count == 2)
  }

  @Test func `large values are not all held at once`() throws {
    // Of 40 objects with 4 MiB each, behind one another.
    var builder = FileBuilder()
    let content = [UInt8](repeating: 7, count: 4 << 20)
    let blobs = (0..<40).map { _ in builder.blob(content) }
    let column = builder.refs(blobs, context: true)
    let tree = builder.leaf(count: 40, [column])
    let old = folder.url("old.realm")
    try Data(builder.finish([.init(name: "data", type: 4)], tree: tree)).write(to: old)
    let file = try RealmFile(path: old.path)
    var counts: [Int] = []
    try file.forEachLeaf(of: 0) { leaf in
      var row = 0
      while row < leaf.keys.count {
        let values = try leaf.values(of: 0, from: row, byteLimit: 1 << 20)
        #expect(values.allSatisfy { $0 == .data(content) })
        counts.append(values.count)
        row += values.count
      }
    }
    #expect(counts == [Int](repeating: 1, count: 40))
    let realm = try imported([UInt8](Data(contentsOf: old)))
    #expect(realm.dynamicObjects("A").count == 40)
  }

  @Test func `texts that are no UTF-8 are repaired and counted`() throws {
    var builder = FileBuilder()
    let text = builder.blob([0x61, 0xFF, 0x62, 0])
    let column = builder.refs([text], context: true)
    let tree = builder.leaf(count: 1, [column])
    let old = folder.url("old.realm")
    try Data(builder.finish([.init(name: "text", type: Self.string)], tree: tree)).write(to: old)
    let report = try Realm.importRealmFile(at: old, into: Realm.Configuration(fileURL: target))
    #expect(report.repairedTextCount == 1)
    var configuration = Realm.Configuration(fileURL: target)
    configuration.usesStoredClasses = true
    let realm = try Realm(configuration: configuration)
    #expect(realm.dynamicObjects("A").first?["text"] as? String == "a\u{FFFD}b")
  }

  // MARK: Large files

  @Test func `large files come over whole`() throws {
    let count = Exhaustive.isWanted ? 200_000 : 20_000
    let realm = try imported(WideFile.links(count: count))
    #expect(realm.dynamicObjects("A").count == count)
    let friend = try #require(realm.dynamicObjects("A").last?["friend"] as? DynamicObject)
    #expect(!realm.rowKeys(linkingTo: friend, from: "A", by: "friend").isEmpty)
  }

  // MARK: Damage

  @Test(arguments: ["tiny", "tombstones", "scalars"], Exhaustive.seeds(40, few: 2))
  func `a damaged file is refused, or what it says is imported`(name: String, seed: UInt64) throws {
    let original = [UInt8](try Samples.bytes("\(name).realm"))
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<40 {
      var bytes = original
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let position = Int.random(in: 0..<bytes.count, using: &generator)
        bytes[position] = UInt8.random(in: 0...255, using: &generator)
      }
      let old = folder.url("old.realm")
      try Data(bytes).write(to: old)
      do {
        try Realm.importRealmFile(at: old, into: Realm.Configuration(fileURL: target))
        #expect(try Imports.findings(at: target) == [])
        for file in [target.path, target.path + ".lock"] {
          try? FileManager.default.removeItem(atPath: file)
        }
      } catch let error as Realm.Error {
        #expect(error.code != .fail, "\(error)")
      }
      #expect(try Imports.names(in: folder.url) == ["old.realm"])
    }
  }
}
