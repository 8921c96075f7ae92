import Cambium
import CambiumCore
import CambiumFile
import Foundation
import TestSupport
import Testing

/// Documents and queries through the command line.
@Suite struct DocumentCommandTests {
  private let folder: TemporaryFolder
  private let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.file("people.cambium")
  }

  /// Writes a document of people and imports it.
  private func makePeople() throws {
    let document = folder.file("people.json")
    try """
    [{"id": 1, "name": "Ada", "age": 36, "team": "red"},
     {"id": 2, "name": "Bob\\n", "age": 7, "team": null},
     {"id": 3, "name": "Cäsar, the third", "age": 56, "team": "blue"}]
    """.write(toFile: document, atomically: true, encoding: .utf8)
    let outcome = try ToolRunner.run(
      "import", document, store, "--class", "Person", "--primary-key", "id")
    try #require(outcome.status == 0, "\(outcome.errors)")
    #expect(
      outcome.output == """
        class Person: Object {
          @Persisted(primaryKey: true) var id: Int
          @Persisted var name: String
          @Persisted var age: Int
          @Persisted var team: String?
        }

        Person: 3 created

        """)
  }

  @Test func `a query is answered as a table, CSV, JSON and lines`() throws {
    try makePeople()
    let table = try ToolRunner.run("query", store, "Person", "age > 5 SORT(name DESC)")
    #expect(
      table.output == """
        id  name              age  team
        --  ----------------  ---  ----
         3  Cäsar, the third   56  blue
         2  Bob\\n               7
         1  Ada                36  red
        3 objects

        """)
    let csv = try ToolRunner.run(
      "query", store, "Person", "SORT(id) LIMIT(2)", "--columns", "name, team", "--format", "csv")
    #expect(csv.output == "name,team\r\nAda,red\r\n\"Bob\n\",\r\n")
    let json = try ToolRunner.run("query", store, "Person", "team = 'red'", "--json")
    #expect(json.output == "[\n  {\"id\":1,\"name\":\"Ada\",\"age\":36,\"team\":\"red\"}\n]\n")
    let lines = try ToolRunner.run(
      "query", store, "Person", "age < 40 DISTINCT(team) SORT(age)", "--format", "lines",
      "--columns", "id")
    #expect(lines.output == "{\"id\":2}\n{\"id\":1}\n")
    let count = try ToolRunner.run("query", store, "Person", "age > 30", "--count")
    #expect(count.output == "2\n")
    let nobody = try ToolRunner.run("query", store, "Person", "age > 300")
    #expect(nobody.output == "id  name  age  team\n--  ----  ---  ----\n0 objects\n")
    let plan = try ToolRunner.run(
      "query", store, "Person", "id = 2 SORT(age) LIMIT(1)", "--explain")
    #expect(plan.output.hasSuffix("sorted by age ASC\nthe first 1\n"), "\(plan.output)")
  }

  @Test func `mistakes of a query point to their place`() throws {
    try makePeople()
    for (text, place) in [
      ("age >", 5), ("size = 1", 0), ("age > 1 SORT(size)", 13), ("name = 1", 0),
    ] {
      let outcome = try ToolRunner.run("query", store, "Person", text)
      #expect(outcome.status == 1 && outcome.output == "")
      let lines = outcome.errors.split(separator: "\n")
      // The text and the mark below it are indented.
      #expect(
        lines.contains { $0 == String(repeating: " ", count: place + 2) + "^" }, "\(outcome.errors)"
      )
    }
    let outcome = try ToolRunner.run("query", store, "Nobody")
    #expect(outcome.errors == "cambium: There is no class 'Nobody'.\n")
    let column = try ToolRunner.run("query", store, "Person", "", "--columns", "size")
    #expect(
      column.errors
        == "cambium: The column 'size' cannot be shown: 'Person' has no property 'size'.\n")
  }

  @Test func `what was exported is imported through a pipe, into any kind of store`() throws {
    try makePeople()
    let document = folder.file("all.jsonl")
    let export = try ToolRunner.run("export", store, "--format", "lines", "--output", document)
    #expect(export.status == 0 && export.output == "", "\(export.errors)")
    #if RocksDB
      let places = ["rocksdb:" + folder.file("copy.rocks"), folder.file("copy.cambium")]
    #else
      let places = [folder.file("copy.cambium")]
    #endif
    for place in places {
      let outcome = try ToolRunner.run(
        redirecting: "< '\(document)'", arguments: ["import", "-", place])
      #expect(outcome.status == 0, "\(outcome.errors)")
      let again = try ToolRunner.run("export", place, "--format", "lines")
      #expect(again.output == (try String(contentsOfFile: document, encoding: .utf8)))
      #expect(try ToolRunner.run("verify", place).status == 0)
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy {
        !$0.hasSuffix(".copying") && !$0.contains(".writing")
      })
  }

  @Test func `an export replaces a document, and never a store`() throws {
    try makePeople()
    let (backup, other) = (folder.file("people.backup"), folder.file("other.cambium"))
    #expect(try ToolRunner.run("backup", store, backup).status == 0)
    #expect(try ToolRunner.run("copy", store, other).status == 0)
    let second = folder.file("second name")
    try FileManager.default.linkItem(atPath: store, toPath: second)
    let damaged = folder.file("damaged")
    var bytes = try Data(contentsOf: URL(fileURLWithPath: store))
    bytes[100] ^= 1
    try bytes.write(to: URL(fileURLWithPath: damaged))
    var places = [store, backup, other, second, damaged]
    #if RocksDB
      places.append(folder.file("other.rocks"))
      #expect(try ToolRunner.run("copy", store, "rocksdb:" + places[5]).status == 0)
    #endif
    for place in places {
      let outcome = try ToolRunner.run("export", store, "--output", place)
      #expect(outcome.status == 1 && outcome.output == "")
      #expect(
        outcome.errors
          == "cambium: '\(place)' is a store, which no export replaces; name another file.\n")
    }
    #expect(try ToolRunner.run("verify", store).status == 0)
    let document = folder.file("people.json")
    #expect(try ToolRunner.run("export", store, "--output", document).status == 0)
    let content = try ToolRunner.run("export", store).output
    #expect(try String(contentsOfFile: document, encoding: .utf8) == content)
  }

  @Test func `an export leaves alone what another one writes to the same file`() throws {
    try makePeople()
    let document = folder.file("out.json")
    try "another's".write(toFile: document + ".writing", atomically: true, encoding: .utf8)
    #expect(try ToolRunner.run("export", store, "--output", document).status == 0)
    #expect(try String(contentsOfFile: document + ".writing", encoding: .utf8) == "another's")
  }

  @Test func `standard input that finds no room is not taken for a shorter document`() throws {
    let document = folder.file("rows.csv")
    // Its end lies in a block of its own.
    try ("name\n" + String(repeating: "abcdefgh\n", count: 460))
      .write(toFile: document, atomically: true, encoding: .utf8)
    let outcome = try ToolRunner.runLimited(
      fileBlocks: 8, redirecting: "< '\(document)'", "import", "-", store, "--class", "Row",
      "--dry-run")
    #expect(outcome.status == 1 && outcome.output == "", "\(outcome.output)")
    #expect(outcome.errors.contains("No space left"), "\(outcome.errors)")
  }

  @Test func `an import that fails leaves the store as it was, and no new one`() throws {
    try makePeople()
    let before = try ToolRunner.run("export", store).output
    let document = folder.file("more.json")
    try #"[{"id": 4, "name": "Dan", "age": 1}, {"id": 5, "name": 5, "age": 1}]"#
      .write(toFile: document, atomically: true, encoding: .utf8)
    for arguments in [[], ["--dry-run"]] {
      let outcome = try ToolRunner.run(
        arguments: ["import", document, store, "--class", "Person"] + arguments)
      #expect(outcome.status == 1 && outcome.output == "")
      #expect(
        outcome.errors == "cambium: Line 1: 'Person.name': expected a text instead of 5.\n",
        "\(outcome.errors)")
    }
    #expect(try ToolRunner.run("export", store).output == before)
    let new = folder.file("new.cambium")
    try #"{"cambium": 1, "classes": [], "objects": {"A": [{}]}}"#
      .write(toFile: document, atomically: true, encoding: .utf8)
    let outcome = try ToolRunner.run("import", document, new)
    #expect(outcome.errors == "cambium: Line 1: there is no class 'A'.\n")
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy {
        !$0.hasPrefix("new.cambium")
      })
  }

  @Test func `classes that an import has brought go when it fails`() throws {
    try makePeople()
    let before = try ToolRunner.run("schema", store).output
    let document = folder.file("dogs.json")
    try #"[{"id": 1, "name": "Rex"}, {"id": 1, "name": "Max"}]"#
      .write(toFile: document, atomically: true, encoding: .utf8)
    let outcome = try ToolRunner.run(
      "import", document, store, "--class", "Dog", "--primary-key", "id")
    #expect(outcome.status == 1 && outcome.errors.contains("is there already"))
    #expect(try ToolRunner.run("schema", store).output == before)
    #expect(try ToolRunner.run("verify", store).status == 0)
  }

  @Test(arguments: [
    (#"{"name": "A", "properties": [{"name": "b", "type": "object", "class": "B"}]}"#, "class 'B'"),
    (
      #"{"name": "A", "embedded": true, "properties": [{"name": "a", "type": "object", "class": "A"}]}"#,
      "Cycles containing embedded objects"
    ),
    (
      #"{"name": "A", "embedded": true, "properties": [{"name": "a", "type": "int", "primaryKey": true}]}"#,
      "cannot have a primary key"
    ),
    (#"{"name": "A/B", "properties": [{"name": "a", "type": "int"}]}"#, "can have the name 'A/B'"),
    (#"{"name": "A\u0000", "properties": [{"name": "a", "type": "int"}]}"#, "can have the name"),
    (
      #"{"name": "\#(String(repeating: "A", count: 300))", "properties": [{"name": "a", "type": "int"}]}"#,
      "Name too long"
    ),
    (
      #"{"name": "A", "properties": [{"name": "\#(String(repeating: "a", count: 64))", "type": "int"}]}"#,
      "Name too long"
    ),
  ])
  func `a document whose classes cannot be is refused in one line`(
    type: String, message: String
  ) throws {
    let document = folder.file("document.json")
    try #"{"cambium": 1, "classes": [\#(type)], "objects": {}}"#
      .write(toFile: document, atomically: true, encoding: .utf8)
    let outcome = try ToolRunner.run("import", document, store)
    #expect(outcome.status == 1 && outcome.output == "")
    #expect(outcome.errors.contains(message), "\(outcome.errors)")
    #expect(outcome.errors.split(separator: "\n").count == 1)
    #expect(!FileManager.default.fileExists(atPath: store))
  }

  @Test func `a dry run shows the classes and changes nothing`() throws {
    let document = folder.file("rows.csv")
    try "code;value\n007;1,5\n008;2,5\n".write(toFile: document, atomically: true, encoding: .utf8)
    let arguments = [
      "import", document, store, "--class", "Row", "--separator", ";", "--dry-run",
    ]
    let outcome = try ToolRunner.run(arguments: arguments)
    #expect(
      outcome.output == """
        class Row: Object {
          @Persisted var code: String
          @Persisted var value: String
        }

        Row: 2 read
        Nothing was changed.

        """, "\(outcome.errors)")
    #expect(!FileManager.default.fileExists(atPath: store))
    let json = try ToolRunner.run(arguments: arguments + ["--json"])
    #expect(json.json["dryRun"] as? Bool == true)
  }

  @Test func `a store that is being written may be exported and queried beside its writer`() throws
  {
    try makePeople()
    let writer = try Database(store: FileStore(path: store))
    let transaction = try writer.beginWrite()
    #expect(try ToolRunner.run("export", store).status == 0)
    #expect(try ToolRunner.run("query", store, "Person", "--count").output == "3\n")
    #expect(try ToolRunner.run("schema", store).status == 0)
    transaction.rollback()
    try writer.close()
  }

  @Test func `the schema is shown in every form`() throws {
    try makePeople()
    let swift = try ToolRunner.run("schema", store)
    #expect(swift.output.hasPrefix("import Cambium\nimport Foundation\n\nclass Person: Object {\n"))
    let json = try ToolRunner.run("schema", store, "--format", "json-schema")
    let definitions = try #require(json.json["$defs"] as? [String: Any])
    let person = try #require(definitions["Person"] as? [String: Any])
    #expect(person["required"] as? [String] == ["id", "name", "age", "team"])
    let diagram = try ToolRunner.run("schema", store, "--format", "mermaid")
    #expect(
      diagram.output == """
        classDiagram
          class Person {
            Int id (key)
            String name
            Int age
            String? team
          }

        """)
    let plain = try ToolRunner.run("schema", store, "--json")
    #expect((plain.json["classes"] as? [Any])?.count == 1)
  }

  @Test func `names of a store are no code of the models that are made of it`() throws {
    let document = folder.file("names.json")
    try #"""
    {"cambium": 1, "classes": [{"name": "a`{}; b\u009b", "properties": [
      {"name": "x`: Int = {abort();return 0}(); var `y", "type": "int"},
      {"name": "back\\slash", "type": "int"}, {"name": "a b", "type": "int"},
      {"name": "next", "type": "object", "class": "a`{}; b\u009b"}]}], "objects": {}}
    """#.write(toFile: document, atomically: true, encoding: .utf8)
    #expect(try ToolRunner.run("import", document, store).status == 0)
    let models = try ToolRunner.run("schema", store)
    #expect(
      models.output == #"""
        import Cambium
        import Foundation

        class `a_{}; b_`: Object {  // 'a`{}; b\u{009B}' in the store
          @Persisted var `x_: Int = {abort();return 0}(); var _y`: Int  // 'x`: Int = {abort();return 0}(); var `y' in the store
          @Persisted var `back_slash`: Int  // 'back\\slash' in the store
          @Persisted var `a b`: Int
          @Persisted var next: `a_{}; b_`?
        }

        """#, "\(models.errors)")
    let diagram = try ToolRunner.run("schema", store, "--format", "mermaid").output
    #expect(!diagram.contains("x`") && !diagram.contains("\u{9B}"))
  }

  @Test func `a signal in the middle of an import leaves nothing behind`() throws {
    // What the tests were started with ignored ('nohup', a shell's background) stays so in the child.
    for number in [SIGHUP, SIGINT, SIGTERM] where !isIgnored(number) {
      let big = folder.file("big.csv")
      let rows = (0..<200_000).map { "\($0),name \($0)" }.joined(separator: "\n")
      try ("id,name\n" + rows + "\n").write(toFile: big, atomically: true, encoding: .utf8)
      // The draft is there while it is being filled.
      let process = try ToolRunner.startAndSignal(number, "import", big, store, "--class", "Row") {
        FileManager.default.fileExists(atPath: store + ".copying/store")
      } again: {
        try FileManager.default.removeItem(atPath: store)
      }
      #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == number)
      #expect(!FileManager.default.fileExists(atPath: store))
      #expect(!FileManager.default.fileExists(atPath: store + ".copying"))
    }
  }

  private func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    sigaction(number, nil, &action)
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}
