import CambiumCore
import CambiumFile
import Foundation
import TestSupport
import Testing

@Suite struct ToolTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("people.cambium")
  }

  /// A table of people, half of it deleted again, so that there is something to compact.
  private func makeStore() throws {
    let database = try Database(store: FileStore(path: path))
    let filling = try database.beginWrite()
    let people = try filling.createTable(
      "class/Person",
      columns: [
        ColumnDescriptor(type: .int, isNullable: false, name: "age"),
        ColumnDescriptor(type: .bytes, isNullable: true, name: "name"),
      ])
    for key in 0..<20_000 as Range<Int64> {
      var name = Array("person \(key)".utf8)
      for step in 1...10 as ClosedRange<Int64> {
        name += Array(String(key &* 7_919 &* step % 1_000_003, radix: 36).utf8)
      }
      try name.withUnsafeBytes { bytes in
        _ = try people.insert(key: key, values: [(1, .int(key % 100)), (2, .bytes(bytes))])
      }
    }
    _ = try filling.commit()
    let deleting = try database.beginWrite()
    let table = try #require(try deleting.editTable("class/Person"))
    for key in 0..<10_000 as Range<Int64> { try table.remove(key: key) }
    _ = try deleting.commit()
    try database.close()
  }

  @Test func `inspect shows sizes, trees and columns as JSON`() throws {
    try makeStore()
    let outcome = try ToolRunner.run("inspect", path, "--json")
    #expect(outcome.status == 0)
    #expect(outcome.errors == "")
    #expect(outcome.json["store"] as? String == "file")
    #expect(outcome.json["formatVersion"] as? Int == 2)
    #expect(outcome.json["rocksDB"] == nil)
    let sizes = try #require(outcome.json["sizes"] as? [String: Int])
    #expect(try #require(sizes["reachable"]) > 10_000)
    let classes = try #require(outcome.json["classes"] as? [[String: Any]])
    #expect(classes.first?["name"] as? String == "Person")
    #expect(classes.first?["objects"] as? Int == 10_000)
    let columns = try #require(classes.first?["columns"] as? [[String: Any]])
    #expect(columns.map { $0["name"] as? String } == ["age", "name"])
    #expect(columns.map { $0["type"] as? String } == ["int", "bytes"])
  }

  @Test func `inspect shows one class, and the pages by kind and place`() throws {
    try makeStore()
    let chosen = try ToolRunner.run("inspect", path, "--class", "Person", "--pages", "--json")
    #expect(chosen.status == 0, "\(chosen.errors)")
    let trees = try #require(chosen.json["trees"] as? [[String: Any]])
    #expect(trees.map { $0["name"] as? String } == ["class/Person"])
    let pages = try #require(chosen.json["pages"] as? [String: Any])
    let kinds = try #require(pages["kinds"] as? [[String: Any]])
    let bytes = kinds.compactMap { $0["bytes"] as? Int }.reduce(0, +)
    let extents = try #require(pages["extents"] as? [[Int]])
    let sizes = try #require(chosen.json["sizes"] as? [String: Int])
    #expect(bytes == sizes["reachable"])
    #expect(extents.reduce(0) { $0 + $1[1] } == bytes)
    #expect(zip(extents, extents.dropFirst()).allSatisfy { $0[0] + $0[1] < $1[0] })
    let text = try ToolRunner.run("inspect", path, "--pages")
    #expect(text.output.contains("\nPages\n") && text.output.contains("  |"))
    let unknown = try ToolRunner.run("inspect", path, "--class", "Nobody")
    #expect(unknown.status == 1)
    #expect(unknown.errors == "cambium: There is no class 'Nobody'.\n")
  }

  @Test func `bench measures a store of its own and leaves nothing`() throws {
    for store in ["file", "memory"] {
      let outcome = try ToolRunner.run(
        "bench", folder.path, "--objects", "1000", "--store", store, "--json")
      #expect(outcome.status == 0, "\(outcome.errors)")
      let figures = try #require(
        try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]])
      #expect(figures.count == (store == "file" ? 7 : 5))
      #expect(figures.allSatisfy { $0["value"] as? Double ?? 0 > 0 })
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    let nowhere = try ToolRunner.run("bench", folder.file("none"))
    #expect(nowhere.status == 1 && nowhere.errors.contains("its folder does not exist"))
  }

  @Test func `inspect names the properties that columns store, and what is embedded`() throws {
    try FileManager.default.copyItem(
      atPath: "Tests/FormatTests/Golden/types-1.cambium", toPath: path)
    let outcome = try ToolRunner.run("inspect", path)
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("\nGoldenPlace: 303 embedded objects, "))
    for line in [
      "id        int, primary key                 int ", "inner     GoldenInner      int? ",
      "others    dictionary<string, GoldenTypes>  bytes ", "value     mixed ",
      "name      string, indexed  bytes ", "valueSet  set<mixed> ", "$created ",
    ] {
      #expect(outcome.output.contains("\n  " + line), "\(line)")
    }
  }

  @Test func `inspect says who pins what, and how much that alone holds`() throws {
    try makeStore()
    var options = FileStoreOptions()
    options.label = "a report"
    let database = try Database(store: FileStore(path: path, options: options))
    let pinned = try database.snapshot()
    let deleting = try database.beginWrite()
    let table = try #require(try deleting.editTable("class/Person"))
    for key in 10_000..<12_000 as Range<Int64> { try table.remove(key: key) }
    _ = try deleting.commit()
    let alone = try #require(try database.statistics().exclusiveByteCounts[pinned.version])
    #expect(alone > 100_000)
    let outcome = try ToolRunner.run("inspect", path, "--json")
    let pins = try #require(outcome.json["pins"] as? [[String: Any]])
    let pin = try #require(pins.first { $0["version"] as? Int == Int(pinned.version) })
    #expect(pin["process"] as? Int == Int(ProcessInfo.processInfo.processIdentifier))
    #expect(pin["label"] as? String == "a report")
    #expect(pin["ageSeconds"] as? Double ?? -1 >= 0)
    #expect(pin["bytesAlone"] as? Int == alone)
    let text = try ToolRunner.run("inspect", path).output
    #expect(text.contains("version \(pinned.version) by process"))
    #expect(text.contains("(a report)"))
    #expect(text.contains("of its own"))
    try database.close()
  }

  @Test func `inspect prints for people`() throws {
    try makeStore()
    let outcome = try ToolRunner.run("inspect", path)
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("Person: 10000 objects"))
    #expect(outcome.output.contains("format version 2"))
  }

  @Test func `verify calls a sound store sound`() throws {
    try makeStore()
    let outcome = try ToolRunner.run("verify", path)
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("is sound"))
    #expect(try ToolRunner.run("verify", path, "--json").json["isSound"] as? Bool == true)
  }

  @Test func `verify lists what is damaged and ends with status 1`() throws {
    try makeStore()
    let url = URL(fileURLWithPath: path)
    var bytes = try Data(contentsOf: url)
    // The largest part of the file is pages of the table.
    for place in stride(from: 64 << 10, to: bytes.count - 64, by: 4 << 10) { bytes[place] ^= 0x5A }
    try bytes.write(to: url)
    let outcome = try ToolRunner.run("verify", path, "--json")
    #expect(outcome.status == 1)
    #expect(outcome.json["isSound"] as? Bool == false)
    #expect(!(try #require(outcome.json["findings"] as? [String]).isEmpty))
  }

  @Test func `verify mends a damaged free map when it is asked to`() throws {
    try makeStore()
    let url = URL(fileURLWithPath: path)
    var bytes = try Data(contentsOf: url)
    // The record of the newest commit, by the head's reference to it.
    let place = bytes.withUnsafeBytes { bytes in
      PageReference(loadingFrom: bytes.baseAddress.unsafelyUnwrapped + 4096 + 88).byteOffset
    }
    bytes[place + 8] ^= 1
    try bytes.write(to: url)
    let error = #expect(throws: StoreError.self) { try FileStore(path: path).beginWrite() }
    #expect("\(String(describing: error))".contains("cambium verify \(path) --repair"))
    #expect(try ToolRunner.run("verify", path).status == 1)
    let outcome = try ToolRunner.run("verify", path, "--repair")
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("was rebuilt"))
    #expect(outcome.output.contains("is sound"))
    try FileStore(path: path).beginWrite().abort()
  }

  @Test func `verify --salvage writes what can be read and lists what is lost`() throws {
    try makeStore()
    let url = URL(fileURLWithPath: path)
    var bytes = try Data(contentsOf: url)
    bytes[bytes.count / 2] ^= 0x5A
    try bytes.write(to: url)
    let output = folder.file("saved.cambium")
    let outcome = try ToolRunner.run("verify", path, "--salvage", output, "--json")
    let losses = try #require(outcome.json["losses"] as? [[String: Any]])
    let lost = losses.reduce(0) { $0 + ($1["rows"] as? Int ?? 0) }
    let saved = try #require(outcome.json["saved"] as? [[String: Any]])
    #expect(saved.first?["rows"] as? Int == 10_000 - lost)
    #expect(outcome.status == (losses.isEmpty ? 0 : 1))
    #expect(try ToolRunner.run("verify", output).status == 0)
    #expect(try Data(contentsOf: url) == bytes)
    let again = try ToolRunner.run("verify", path, "--salvage", output)
    #expect(again.status == 1 && again.errors.contains(output))
    #expect(try ToolRunner.run("verify", path, "--salvage", output, "--repair").status != 0)
  }

  @Test func `compact makes the file smaller and keeps its content`() throws {
    try makeStore()
    let before = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
    let outcome = try ToolRunner.run("compact", path, "--json")
    #expect(outcome.status == 0, "\(outcome.errors)")
    let after = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
    #expect(outcome.json["bytesBefore"] as? Int == before)
    #expect(outcome.json["bytesAfter"] as? Int == after)
    #expect(try #require(after) < (try #require(before)))
    #expect(try ToolRunner.run("verify", path).status == 0)
    let database = try Database(store: FileStore(path: path))
    #expect(try database.snapshot().table("class/Person")?.count == 10_000)
    try database.close()
  }

  @Test func `compact with an output leaves the original alone`() throws {
    try makeStore()
    let original = try Data(contentsOf: URL(fileURLWithPath: path))
    let output = folder.file("small.cambium")
    #expect(try ToolRunner.run("compact", path, "--output", output).status == 0)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == original)
    #expect(try ToolRunner.run("verify", output).status == 0)
  }

  @Test func `a store in use is refused in one line`() throws {
    try makeStore()
    let database = try Database(store: FileStore(path: path))
    let outcome = try ToolRunner.run("compact", path)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("in use"))
    #expect(outcome.errors.split(separator: "\n").count == 1)
    try database.close()
  }

  @Test(arguments: ["inspect", "verify", "compact"])
  func `what is no store is refused in one line and left alone`(command: String) throws {
    let foreign = folder.file("notes.txt")
    let text = Data(String(repeating: "These are notes, not a store.\n", count: 400).utf8)
    try text.write(to: URL(fileURLWithPath: foreign))
    for bad in [foreign, folder.file("missing.cambium"), folder.path] {
      let outcome = try ToolRunner.run(command, bad)
      #expect(outcome.status == 1, "\(command) \(bad)")
      #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
      #expect(outcome.errors.contains(bad), "\(outcome.errors)")
      #expect(!outcome.errors.contains("open it"), "no command creates a store")
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: foreign)) == text)
    #expect(!FileManager.default.fileExists(atPath: folder.file("missing.cambium")))
  }

  private func digest(_ location: String) throws -> String {
    let outcome = try ToolRunner.run("digest", location)
    #expect(outcome.status == 0, "\(outcome.errors)")
    return outcome.output
  }

  @Test func `a copy has the digest of its source, and so has the compacted store`() throws {
    try makeStore()
    let expected = try digest(path)
    #expect(expected.count == 33)
    let copy = folder.file("copy.cambium")
    let outcome = try ToolRunner.run("copy", path, "file:\(copy)", "--json")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.json["digest"].map { "\($0)\n" } == expected)
    #expect(outcome.json["store"] as? String == "file")
    #expect(try digest("file://\(copy)") == expected)
    #expect(try ToolRunner.run("compact", path).status == 0)
    #expect(try digest(path) == expected)
    let transaction = try Database(store: FileStore(path: copy)).beginWrite()
    try #require(try transaction.editTable("class/Person")).remove(key: 15_000)
    _ = try transaction.commit()
    #expect(try digest(copy) != expected)
  }

  @Test func `a copy never takes the place of something, and leaves nothing when it fails`() throws
  {
    try makeStore()
    let taken = folder.file("taken")
    try Data("notes".utf8).write(to: URL(fileURLWithPath: taken))
    let refused = try ToolRunner.run("copy", path, taken)
    #expect(refused.status == 1 && refused.errors.contains("File exists"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: taken)) == Data("notes".utf8))
    let memory = try ToolRunner.run("copy", path, "memory:x")
    #expect(memory.status == 1 && memory.errors.contains("end with this command"))
    let unknown = try ToolRunner.run("copy", path, folder.file("new"), "--codec", "lzw")
    #expect(unknown.status == 1 && unknown.errors.contains("There is no codec lzw"))
    let missing = try ToolRunner.run("copy", folder.file("missing"), folder.file("new"))
    #expect(missing.status == 1 && missing.errors.contains("No such file"))
    #expect(!FileManager.default.fileExists(atPath: folder.file("new")))
    #expect(!FileManager.default.fileExists(atPath: folder.file("new.lock")))
  }

  #if RocksDB && Zstd && Crypto
    @Test func `every command knows every kind of store and codec`() throws {
      try makeStore()
      let expected = try digest(path)
      let key = folder.file("key")
      try Data((0..<64).map { UInt8($0) }).write(to: URL(fileURLWithPath: key))
      let rocks = folder.file("people.rocks")
      let copied = try ToolRunner.run(
        "copy", path, "rocksdb:\(rocks)", "--codec", "zstd:3+aes-256-gcm", "--new-key-file", key)
      #expect(copied.status == 0, "\(copied.errors)")
      #expect(copied.output.contains("zstd+aes-256-gcm"))
      // Found by what is there, without its kind.
      #expect(try ToolRunner.run("digest", rocks, "--key-file", key).output == expected)
      let locked = try ToolRunner.run("digest", rocks)
      #expect(locked.status == 1 && locked.errors.contains("--key-file"))
      #expect(try ToolRunner.run("verify", rocks, "--key-file", key).status == 0)
      let inspected = try ToolRunner.run("inspect", rocks, "--key-file", key, "--json")
      #expect(inspected.json["store"] as? String == "rocksdb")
      #expect(inspected.json["codec"] as? String == "zstd+aes-256-gcm")
      let counts = try #require(inspected.json["rocksDB"] as? [String: Any])
      for name in [
        "blockCacheByteCount", "blockCacheHitCount", "blockCacheMissCount", "liveDataByteCount",
        "pendingCompactionByteCount", "deletionCount",
      ] { #expect(counts[name] as? Int ?? -1 >= 0, "\(name)") }
      #expect(counts["fileCountByLevel"] as? [Int] != nil)
      let text = try ToolRunner.run("inspect", rocks, "--key-file", key).output
      for line in ["block cache", "live data", "  files  ", "deletions", "pending (estimate)"] {
        #expect(text.contains(line), "\(line)")
      }
      #expect(try ToolRunner.run("compact", rocks, "--key-file", key).status == 0)
      let salvaging = try ToolRunner.run("verify", rocks, "--salvage", folder.file("saved"))
      #expect(salvaging.status == 1 && salvaging.errors.contains("rocksdb"))
      let back = folder.file("back.cambium")
      let outcome = try ToolRunner.run(
        "copy", rocks, back, "--key-file", key, "--codec", "none")
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(try digest(back) == expected)
    }
  #endif

  @Test func `help names every command`() throws {
    let outcome = try ToolRunner.run("--help")
    #expect(outcome.status == 0)
    for command in ["inspect", "verify", "compact", "copy", "digest"] {
      #expect(outcome.output.contains(command))
    }
  }

  #if Zstd
    @Test func `compact trains a dictionary, changes the codec and takes it away again`() throws {
      try makeStore()
      let before = try FileStore.inspect(path: path).fileByteCount
      #expect(try ToolRunner.run("compact", path, "--train-dictionary").status == 0)
      #expect(try FileStore.inspect(path: path).identity.codec == "zstd")
      #expect(try FileStore.inspect(path: path).fileByteCount < before)
      #expect(try ToolRunner.run("verify", path).status == 0)
      #expect(try ToolRunner.run("inspect", path, "--json").json["codec"] as? String == "zstd")
      #expect(try ToolRunner.run("compact", path, "--codec", "zstd:12").status == 0)
      let wrong = try ToolRunner.run("compact", path, "--codec", "zstd:40")
      #expect(wrong.status == 1 && wrong.errors.contains("1 to 22"))
      let unknown = try ToolRunner.run("compact", path, "--codec", "lzw")
      #expect(unknown.status == 1 && unknown.errors.contains("There is no codec lzw"))
      #expect(try ToolRunner.run("compact", path, "--codec", "none").status == 0)
      #expect(try FileStore.inspect(path: path).identity.codec == "")
      #expect(try ToolRunner.run("verify", path).status == 0)
    }
  #endif

  #if Crypto
    @Test func `keys come from files, and compact changes them`() throws {
      try makeStore()
      let keys = [folder.file("one.key"), folder.file("two.key"), folder.file("bad.key")]
      try Data((0..<64).map { UInt8($0) }).write(to: URL(fileURLWithPath: keys[0]))
      let digits = (0..<64).map { String(format: "%02x", 255 - $0) }.joined()
      try Data("\(digits)\n".utf8).write(to: URL(fileURLWithPath: keys[1]))
      try Data("too short".utf8).write(to: URL(fileURLWithPath: keys[2]))
      #expect(try ToolRunner.run("compact", path, "--new-key-file", keys[0]).status == 0)
      #expect(try FileStore.inspect(path: path).identity.codec == "aes-256-gcm")
      let locked = try ToolRunner.run("verify", path)
      #expect(locked.status == 1 && locked.errors.contains("--key-file"))
      #expect(try ToolRunner.run("verify", path, "--key-file", keys[0]).status == 0)
      let other = try ToolRunner.run("verify", path, "--key-file", keys[1])
      #expect(other.status == 1 && other.errors.contains("the key is not the one"))
      #expect(!other.errors.contains(digits))
      let bad = try ToolRunner.run("verify", path, "--key-file", keys[2])
      #expect(bad.status == 1 && bad.errors.contains("128 hexadecimal digits"))
      #expect(!bad.errors.contains("too short"))
      let missing = try ToolRunner.run("verify", path, "--key-file", folder.file("none"))
      #expect(missing.status == 1 && missing.errors.contains("No such file"))
      let rotated = try ToolRunner.run(
        "compact", path, "--key-file", keys[0], "--new-key-file", keys[1])
      #expect(rotated.status == 0)
      #expect(try ToolRunner.run("verify", path, "--key-file", keys[0]).status == 1)
      #expect(
        try ToolRunner.run("inspect", path, "--key-file", keys[1]).output.contains("10000 objects"))
      let saved = folder.file("saved.cambium")
      #expect(
        try ToolRunner.run("verify", path, "--key-file", keys[1], "--salvage", saved).status == 0)
      #expect(try FileStore.inspect(path: saved).identity.codec == "aes-256-gcm")
      #expect(try ToolRunner.run("verify", saved, "--key-file", keys[1]).status == 0)
      let opened = try ToolRunner.run(
        "compact", path, "--key-file", keys[1], "--codec", "none")
      #expect(opened.status == 0)
      #expect(try ToolRunner.run("verify", path).status == 0)
    }
  #endif
}
