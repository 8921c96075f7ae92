import Foundation
import TestSupport
import Testing

/// What the tool shows on a terminal, and does not show elsewhere.
@Suite struct TerminalTests {
  private let fixture: TerminalFixture

  init() throws { fixture = try TerminalFixture() }

  private static let escape = "\u{1B}"

  private static let commands =
    TerminalFixture.makings.map(\.arguments) + [
      ["verify", "people"], ["digest", "people"], ["import", "rows.csv", "people", "--dry-run"],
    ]

  @Test(arguments: commands)
  func `progress is drawn on a terminal only, and what is left is what a pipe gets`(
    arguments: [String]
  ) throws {
    let arguments = arguments.contains("--dry-run") ? arguments + ["--class", "Row"] : arguments
    let piped = try TerminalFixture(copying: fixture).run(arguments)
    #expect(piped.status == 0)
    #expect(piped.errors == "")
    #expect(!piped.output.contains(Self.escape))
    for columns in [1, 20, 80, 500, 0] {
      let (end, process) = try TerminalFixture(copying: fixture)
        .finished(arguments, columns: columns)
      #expect(end == .status(0))
      #expect(process.text.contains("\r\(Self.escape)[K"))
      var expected = TerminalScreen(columns: columns)
      expected.show(piped.output.replacingOccurrences(of: "\n", with: "\r\n"))
      let screen = process.screen(columns: columns)
      #expect(screen.text == expected.text, "\(columns) columns")
      #expect(screen.continued == expected.continued, "\(columns) columns")
    }
  }

  @Test(arguments: [
    (["compact", "people"], "compacting"), (["copy", "people", "copy"], "comparing"),
    (["backup", "people", "b"], "writing"), (["backup", "people", "b"], "checking"),
    (["export", "people", "--output", "x"], "exporting"),
  ])
  func `progress says how much of all is done`(arguments: [String], what: String) throws {
    let (end, process) = try fixture.finished(arguments)
    #expect(end == .status(0))
    let drawn = process.text.components(separatedBy: "\r\(Self.escape)[K")
    let line = try #require(drawn.first { $0.hasPrefix("\(what): ") })
    #expect(line.contains(" of ") && line.hasSuffix(" %"), "\(line)")
  }

  @Test func `an error stands on a line of its own where progress was`() throws {
    let row = "id,name\n" + (0..<2_000).map { "\($0),a\n" }.joined() + "x,b\n"
    try row.write(toFile: fixture.folder.file("bad.csv"), atomically: true, encoding: .utf8)
    let bad = try fixture.finished(["import", "bad.csv", "people", "--class", "Person"])
    #expect(bad.end == .status(1))
    #expect(bad.process.text.contains("\(Self.escape)[Kimporting"))
    #expect(bad.process.screen(columns: 500).text.hasPrefix("cambium: Line 2002: "))
  }

  @Test func `only what goes to the terminal is coloured and drawn`() throws {
    let output = try fixture.finished(["verify", "people"], redirecting: "> output")
    #expect(output.end == .status(0))
    #expect(output.process.text.contains("verifying"))
    let errors = try fixture.finished(["verify", "people"], redirecting: "2> errors")
    #expect(errors.end == .status(0))
    #expect(errors.process.screen(columns: 80).hasColours)
    #expect(!errors.process.text.contains("verifying"))
    #expect(try String(contentsOfFile: fixture.folder.file("errors"), encoding: .utf8) == "")
    let text = try String(contentsOfFile: fixture.folder.file("output"), encoding: .utf8)
    #expect(text.hasPrefix("people is sound") && !text.contains(Self.escape))
  }

  @Test(arguments: [
    ["verify", "people"], ["inspect", "people"], ["query", "people", "Person", "LIMIT(3)"],
    ["diff", "people", "base.backup", "--summary"], ["inspect", "nothing"],
  ])
  func `people may have no colours, and a terminal that cannot draw gets plain text`(
    arguments: [String]
  ) throws {
    let piped = try fixture.run(arguments)
    let plain = piped.output + piped.errors
    #expect(!plain.contains(Self.escape))
    let coloured = try fixture.finished(arguments)
    #expect(coloured.process.screen(columns: 80).hasColours == (arguments[0] != "diff"))
    for environment in [["NO_COLOR": "1"], ["TERM": "dumb"]] {
      let (end, process) = try fixture.finished(
        arguments, columns: 500, environment: environment)
      #expect(end == .status(piped.status))
      #expect(!process.screen(columns: 500).hasColours)
      #expect(process.screen(columns: 500).text == plain, "\(environment)")
      #expect(environment["TERM"] == nil || !process.text.contains(Self.escape))
    }
  }

  @Test func `names and values are no commands to a terminal, and stay in a pipe as they are`()
    throws
  {
    let name = "Row\u{9B}2J"
    let document =
      #"{"cambium": 1, "classes": [{"name": "\#(name)", "properties": ["#
      + #"{"name": "x\#u{202E}y", "type": "string"}]}], "#
      + #""objects": {"\#(name)": [{"x\#u{202E}y": "a\u001bc"}]}}"#
    try document.write(
      toFile: fixture.folder.file("names.json"), atomically: true, encoding: .utf8)
    #expect(try fixture.run(["import", "names.json", "names"]).status == 0)
    for arguments in [
      ["import", "names.json", "other", "--dry-run"], ["import", "names.json", "more"],
      ["inspect", "names"], ["verify", "names"], ["diff", "names", "people"], ["schema", "names"],
      ["query", "names", name, "--format", "csv"], ["query", "names", name + "x"],
    ] {
      let (_, process) = try fixture.finished(arguments, environment: ["NO_COLOR": "1"])
      for scalar in ["\u{9B}", "\u{202E}", "\u{1B}c"] as [String] {
        #expect(!process.text.contains(scalar), "\(arguments): \(process.text)")
      }
    }
    let piped = try fixture.run(["query", "names", name, "--format", "csv"])
    #expect(piped.output == "x\u{202E}y\r\na\u{1B}c\r\n")
    let shown = try fixture.finished(["query", "names", name, "--format", "csv"])
    #expect(shown.process.screen(columns: 80).text == "x\\u{202e}y\na\\u{1b}c\n")
  }

  @Test func `differences have the colours of what became of them`() throws {
    let other = "id,name\n0,name 0\n1,another\n"
    try other.write(toFile: fixture.folder.file("o.csv"), atomically: true, encoding: .utf8)
    #expect(try fixture.run(["import", "o.csv", "other", "--class", "Person"]).status == 0)
    let (end, process) = try fixture.finished(["diff", "other", "people"])
    #expect(end == .status(2))
    let lines = process.text.split(separator: "\n")
    for (mark, colour) in [("+", 32), ("~", 33)] {
      #expect(
        lines.contains {
          $0.hasPrefix("\(Self.escape)[\(colour)m  \(mark) #") && $0.hasSuffix("\(Self.escape)[0m")
        }, "\(mark)")
    }
  }

  @Test(arguments: [1, 20, 80, 500, 0])
  func `no line of a table is wider than the terminal`(columns: Int) throws {
    try FileManager.default.copyItem(
      atPath: "Tests/FormatTests/Golden/types-2.cambium", toPath: fixture.folder.file("types"))
    for (store, name) in [("people", "Person"), ("types", "GoldenTypes")] {
      let query = try fixture.finished(["query", store, name, "LIMIT(100)"], columns: columns)
      #expect(query.end == .status(0))
      var screen = TerminalScreen(columns: columns)
      let lines = query.process.text.split(separator: "\n")
      // Below the table they are counted.
      screen.show(lines.dropLast().joined(separator: "\r\n"))
      #expect(screen.continued.isEmpty, "\(screen.text)")
      let inspection = try fixture.finished(["inspect", store, "--pages"], columns: columns)
      #expect(inspection.end == .status(0))
      let tables = inspection.process.text.split(separator: "\n")
        .drop { $0 != "Trees" }
        .filter { $0.contains("  ") || $0.contains("…") }
        .filter { !$0.hasPrefix("  each character") }
      #expect(tables.count > 10)
      screen = TerminalScreen(columns: columns)
      screen.show(tables.joined(separator: "\r\n"))
      #expect(screen.continued.isEmpty, "\(screen.text)")
    }
  }

  @Test(arguments: [1, 20, 80, 500, 0])
  func `every command says what it is for on a terminal of any width`(columns: Int) throws {
    let help = try fixture.finished(["--help"], columns: columns)
    #expect(help.end == .status(0))
    #expect(help.process.text.contains("SUBCOMMANDS"))
    for command in ["inspect", "query", "import", "bench"] {
      let (end, process) = try fixture.finished([command, "--help"], columns: columns)
      #expect(end == .status(0))
      #expect(process.text.contains("USAGE: cambium \(command)"))
    }
    let mistake = try fixture.finished(["inspect", "people", "--colour"], columns: columns)
    #expect(mistake.end == .status(64))
    #expect(mistake.process.text.contains("Unknown option '--colour'"))
    let narrow = try fixture.finished(
      ["--help"], columns: columns, environment: ["COLUMNS": "3"])
    #expect(narrow.end == .status(0))
    let query = try fixture.finished(["query", "people", "Person", "age >"], columns: columns)
    #expect(query.end == .status(1))
  }
}
