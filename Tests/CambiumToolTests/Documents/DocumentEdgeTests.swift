import Cambium
import CambiumToolKit
import Foundation
import TestSupport
import Testing

/// Documents with keys and names that are unlike most, through the command line.
@Suite struct DocumentEdgeTests {
  private let folder: TemporaryFolder
  private var store: String { folder.file("a.cambium") }
  private var copy: String { folder.file("b.cambium") }

  init() throws { folder = try TemporaryFolder() }

  private func file(_ name: String, _ text: String) throws -> String {
    let path = folder.file(name)
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return path
  }

  @discardableResult
  private func run(_ arguments: String..., status: Int32 = 0) throws -> String {
    let outcome = try ToolRunner.run(arguments: arguments)
    #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
    return status == 0 ? outcome.output : outcome.errors
  }

  @Test func `links of objects with negative keys are imported`() throws {
    let document = """
      {"cambium": 1, "classes": [{"name":"P","properties":[
        {"name":"id","type":"int","primaryKey":true},
        {"name":"boss","type":"object","class":"P","optional":true},
        {"name":"tag","type":"any"},
        {"name":"team","type":"object","class":"P","collection":"list"}]}],
      "objects": {"P": [
        {"id":-5,"boss":5,"tag":"x","team":[5,-5]},
        {"id":5,"boss":-5,"tag":null,"team":[-5]}]}}
      """
    try run("import", file("a.json", document), store)
    let text = try run("export", store)
    #expect(text.contains(#"{"id":-5,"boss":5,"tag":"x","team":[5,-5]}"#), "\(text)")
    #expect(text.contains(#"{"id":5,"boss":-5,"tag":null,"team":[-5]}"#), "\(text)")
    try run("import", file("again.json", text), copy)
    #expect(try run("diff", store, copy) == "Nothing differs.\n")
  }

  @Test func `a document that describes a class twice is refused`() throws {
    let type = #"{"name":"A","properties":[{"name":"x","type":"int"}]}"#
    let document = try file("a.json", #"{"cambium":1,"classes":[\#(type),\#(type)],"objects":{}}"#)
    let error = try run("import", document, store, status: 1)
    #expect(error.contains("the class 'A' is described twice"), "\(error)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.json"])
  }

  @Test func `names that are no paths are columns like others`() throws {
    let heading = "first name,e-mail,1st,self,a.b,%,x#,@x,a[0]"
    let text = "\(heading)\r\n1,2,3,4,5,6,7,8,9\r\n"
    try run("import", file("a.csv", text), store, "--class", "P")
    #expect(try run("export", store, "--format", "csv") == text)
    #expect(try run("query", store, "P", "--format", "csv") == text)
  }

  @Test func `a quotation mark that a mark combines with is doubled`() throws {
    let value = "x\"\u{301},99\n7,evil\"\u{20DD}"
    #expect(CSVWriter.record([value]) == "\"x\"\"\u{301},99\n7,evil\"\"\u{20DD}\"")
    let line = String(decoding: try JSONEncoder().encode(["text": value]), as: UTF8.self)
    try run("import", file("a.json", line), store, "--class", "P")
    let records = try run("export", store, "--format", "csv")
    try run("import", file("a.csv", records), copy, "--class", "P")
    #expect(
      try run("query", copy, "P", "--format", "lines")
        == run("query", store, "P", "--format", "lines"))
  }

  @Test func `cells of links are keys as they are written`() throws {
    let document = """
      {"cambium": 1, "classes": [
        {"name":"Text","properties":[{"name":"id","type":"string","primaryKey":true}]},
        {"name":"P","properties":[
          {"name":"id","type":"int","primaryKey":true},
          {"name":"to","type":"object","class":"Text","optional":true}]}],
      "objects": {
        "Text": [{"id":"7"}, {"id":"007"}, {"id":"+7"}, {"id":"#12"}],
        "P": [{"id":1,"to":"7"}, {"id":2,"to":"007"}, {"id":3,"to":"+7"}, {"id":4,"to":"#12"}]}}
      """
    try run("import", file("a.json", document), store)
    let records = try run("export", store, "--class", "P", "--format", "csv")
    try run("import", file("p.csv", records), store, "--class", "P", "--existing", "update")
    let lines = try run("query", store, "P", "SORT(id)", "--format", "lines")
    #expect(
      lines.split(separator: "\n").map { $0.split(separator: "\"to\":")[1] }
        == ["\"7\"}", "\"007\"}", "\"+7\"}", "\"#12\"}"], "\(lines)")
  }

  @Test func `a number with a space in it is none`() throws {
    try run("import", file("a.json", #"{"n":1}"#), store, "--class", "P")
    let error = try run("import", file("a.csv", "n\r\n1 2\r\n"), store, "--class", "P", status: 1)
    #expect(error.contains("expected an integer instead of \"1 2\""), "\(error)")
    try run("import", file("b.csv", "n\r\n 12 \r\n"), store, "--class", "P")
    #expect(try run("query", store, "P", "n == 12", "--count") == "1\n")
  }

  @Test func `an export replaces no lock file, and keeps the rights of what it replaces`() throws {
    try run("import", file("a.json", #"{"n":1}"#), store, "--class", "P")
    try run("export", store)
    let lock = try Data(contentsOf: URL(fileURLWithPath: store + ".lock"))
    let error = try run("export", store, "--output", store + ".lock", status: 1)
    #expect(error.contains("which no export replaces"), "\(error)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: store + ".lock")).count == lock.count)
    let target = try file("private.json", "old")
    let manager = FileManager.default
    try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: target)
    let link = folder.file("link.json")
    try manager.createSymbolicLink(atPath: link, withDestinationPath: target)
    try run("export", store, "--output", link)
    #expect(try manager.destinationOfSymbolicLink(atPath: link) == target)
    #expect(try manager.attributesOfItem(atPath: target)[.posixPermissions] as? Int == 0o600)
    #expect(try String(contentsOfFile: target, encoding: .utf8).contains("\"n\":1"))
  }

  @Test func `what is made of a private store is private`() throws {
    try run("import", file("a.json", #"{"n":1}"#), store, "--class", "P")
    let manager = FileManager.default
    try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: store)
    let (backup, restored) = (folder.file("a.backup"), folder.file("restored.cambium"))
    let salvaged = folder.file("saved.cambium")
    try run("backup", store, backup)
    try run("restore", backup, restored)
    try run("copy", store, copy)
    try run("verify", store, "--salvage", salvaged)
    for path in [backup, restored, copy, salvaged, store + ".lock"] {
      #expect(
        try manager.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600, "\(path)")
    }
  }

  @Test func `the difference of one class says nothing of others`() throws {
    try run("import", file("a.json", #"{"n":1}"#), store, "--class", "P")
    try run("copy", store, copy)
    try run("import", file("b.json", #"{"m":1}"#), copy, "--class", "Q")
    #expect(try run("diff", store, copy, "--class", "P") == "Nothing differs.\n")
    #expect(try ToolRunner.run("diff", store, copy, "--class", "Q").status == 2)
  }

  @Test func `a damaged page ends a query with one line`() throws {
    let lines = (0..<20_000).map {
      "{\"n\":\($0),\"text\":\"\(String(repeating: "x", count: 40))\($0)\"}"
    }
    try run("import", file("a.jsonl", lines.joined(separator: "\n")), store, "--class", "P")
    var bytes = try Data(contentsOf: URL(fileURLWithPath: store))
    bytes[bytes.count / 2] ^= 0x5A
    try bytes.write(to: URL(fileURLWithPath: store))
    let output = folder.file("all.json")
    for arguments in [
      ["query", store, "P", "n >= 0", "--format", "lines"], ["export", store, "-o", output],
    ] {
      let outcome = try ToolRunner.run(arguments: arguments)
      #expect(outcome.status == 1 && outcome.errors.hasPrefix("cambium: "), "\(outcome)")
      #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(!left.contains { $0.hasPrefix("all.json") }, "\(left)")
  }

  @Test func `a class with a strange name has a reference of its own`() throws {
    let document = try file("a.json", #"{"n":1}"#)
    try run("import", document, store, "--class", "a~b c%")
    let schema = try run("schema", store, "--format", "json-schema")
    #expect(schema.contains("#/$defs/a~0b%20c%25"), "\(schema)")
  }
}
