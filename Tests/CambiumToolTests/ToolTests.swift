import CambiumCore
import CambiumFile
import Foundation
import Testing

@Suite struct ToolTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("people.cambium")
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
    #expect(outcome.json["formatVersion"] as? Int == 1)
    let sizes = try #require(outcome.json["sizes"] as? [String: Int])
    #expect(try #require(sizes["reachable"]) > 10_000)
    let classes = try #require(outcome.json["classes"] as? [[String: Any]])
    #expect(classes.first?["name"] as? String == "Person")
    #expect(classes.first?["objects"] as? Int == 10_000)
    let columns = try #require(classes.first?["columns"] as? [[String: Any]])
    #expect(columns.map { $0["name"] as? String } == ["age", "name"])
    #expect(columns.map { $0["type"] as? String } == ["int", "bytes"])
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
    #expect(outcome.output.contains("format version 1"))
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
    let output = folder.path("saved.cambium")
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
    let output = folder.path("small.cambium")
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
    let foreign = folder.path("notes.txt")
    let text = Data(String(repeating: "These are notes, not a store.\n", count: 400).utf8)
    try text.write(to: URL(fileURLWithPath: foreign))
    for bad in [foreign, folder.path("missing.cambium"), folder.url.path] {
      let outcome = try ToolRunner.run(command, bad)
      #expect(outcome.status == 1, "\(command) \(bad)")
      #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
      #expect(outcome.errors.contains(bad), "\(outcome.errors)")
      #expect(!outcome.errors.contains("open it"), "no command creates a store")
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: foreign)) == text)
    #expect(!FileManager.default.fileExists(atPath: folder.path("missing.cambium")))
  }

  @Test func `help names every command`() throws {
    let outcome = try ToolRunner.run("--help")
    #expect(outcome.status == 0)
    for command in ["inspect", "verify", "compact"] { #expect(outcome.output.contains(command)) }
  }
}
