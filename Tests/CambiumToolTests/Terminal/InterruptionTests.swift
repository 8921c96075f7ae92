import Foundation
import TestSupport
import Testing

/// Commands that are ended from the terminal in the middle of their work.
///
/// The terminal takes no output, so that none of them gets further than where it shows progress for the first time.
@Suite struct InterruptionTests {
  private let fixture: TerminalFixture

  init() throws { fixture = try TerminalFixture() }

  /// How a person ends what runs in a terminal.
  enum Way: CaseIterable {
    case key, hangUp

    var signal: Int32 { self == .key ? SIGINT : SIGHUP }

    func end(_ process: TerminalProcess) throws {
      switch self {
      case .key: try process.terminal.type("\u{3}")
      case .hangUp: process.terminal.hangUp()
      }
    }

    /// The same, but whoever waits for the terminal goes on waiting.
    ///
    /// A terminal that is gone fails what it held: the process might come to the end before it hears the signal.
    func endHeld(_ process: TerminalProcess) throws {
      switch self {
      case .key: try end(process)
      case .hangUp: kill(process.number, signal)
      }
    }
  }

  /// Starts a command and waits until its draft is there.
  private func startHeld(
    _ making: TerminalFixture.Making, ignoring ignored: [String] = [],
    redirecting redirection: TerminalProcess.Redirection = ""
  ) throws -> TerminalProcess {
    let terminal = try PseudoTerminal(columns: 80)
    try terminal.holdOutput()
    let watch = try FolderWatch(fixture.folder.path, for: making.draft)
    let process = try fixture.start(
      making.arguments, terminal, redirecting: redirection, ignoring: ignored)
    try #require(process.waits(for: watch))
    return process
  }

  @Test(arguments: TerminalFixture.makings, Way.allCases)
  func `what is ended in the middle leaves what was there before`(
    making: TerminalFixture.Making, way: Way
  ) throws {
    let before = try fixture.contents()
    let bytes = try Data(contentsOf: fixture.folder.url("people"))
    let process = try startHeld(making)
    try way.endHeld(process)
    #expect(process.end() == .signal(way.signal))
    #expect(try fixture.contents() == before)
    #expect(try Data(contentsOf: fixture.folder.url("people")) == bytes)
    // Nothing stands in the way of the next one.
    #expect(try fixture.run(making.arguments).status == 0)
  }

  @Test(arguments: TerminalFixture.makings)
  func `a terminal that goes away leaves no draft, whether the command came to its end or not`(
    making: TerminalFixture.Making
  ) throws {
    let before = try fixture.contents()
    let digest = try fixture.run(["digest", "people"]).output
    let process = try startHeld(making)
    process.terminal.hangUp()
    process.end()
    let after = try fixture.contents()
    let made = Set(after).subtracting(before)
    #expect(made.count <= 1)
    #expect(!made.contains { $0.hasPrefix(making.draft) })
    #expect(Set(after).isSuperset(of: before))
    #expect(try fixture.run(["digest", "people"]).output == digest)
  }

  @Test(arguments: Way.allCases)
  func `a measurement that is ended leaves nothing of its store`(way: Way) throws {
    let before = try fixture.contents()
    let process = try startHeld(
      .init(arguments: ["bench", ".", "--objects", "1000"], draft: "cambium-bench-"))
    try way.endHeld(process)
    #expect(process.end() == .signal(way.signal))
    #expect(try fixture.contents() == before)
  }

  @Test(arguments: [("Person", false), ("Row", true)])
  func `an import into a store that is there changes nothing of it, not even its classes`(
    className: String, isNew: Bool
  ) throws {
    try TerminalFixture.writeRows(200_000, to: fixture.folder.file("many.csv"))
    let schema = try fixture.run(["schema", "people"]).output
    let digest = try fixture.run(["digest", "people"]).output
    let before = try fixture.contents()
    let process = try fixture.start(
      ["import", "many.csv", "people", "--class", className], try PseudoTerminal(columns: 80))
    try #require(process.waits(forOutput: "importing"))
    try process.terminal.type("\u{3}")
    #expect(process.end() == .signal(SIGINT))
    #expect(try fixture.contents() == before)
    #expect(try fixture.run(["schema", "people"]).output == schema)
    #expect(try fixture.run(["digest", "people"]).output == digest)
    #expect(try fixture.run(["verify", "people"]).status == 0)
  }

  @Test func `who asks again does not wait for what cannot be undone`() throws {
    // Its class does not have to be learnt, which would show progress before it is there.
    let objects = (0..<1_000).map { #"{"id": \#($0)}"# }.joined(separator: ", ")
    let type = #"{"name": "Row", "properties": [{"name": "id", "type": "int"}]}"#
    try #"{"cambium": 1, "classes": [\#(type)], "objects": {"Row": [\#(objects)]}}"#
      .write(toFile: fixture.folder.file("rows.json"), atomically: true, encoding: .utf8)
    let terminal = try PseudoTerminal(columns: 80)
    try terminal.holdOutput()
    let watch = try FolderWatch(fixture.folder.path, writing: "people")
    let process = try fixture.start(["import", "rows.json", "people"], terminal)
    // It has brought its class, and now waits for the terminal.
    try #require(process.waits(for: watch))
    repeat { try terminal.type("\u{3}") } while !process.ends(withinMilliseconds: 10)
    #expect(process.end() == .signal(SIGINT))
    #expect(try fixture.run(["verify", "people"]).status == 0)
    #expect(try fixture.run(["query", "people", "Person", "--count"]).output == "5000\n")
    #expect(try fixture.run(["import", "rows.json", "people"]).status == 0)
  }

  @Test func `who started a command with a signal ignored means it`() throws {
    let making = TerminalFixture.Making(
      arguments: ["import", "rows.csv", "new", "--class", "Row"], draft: "new.copying")
    let process = try startHeld(making, ignoring: ["INT"])
    try process.terminal.type("\u{3}")
    try process.terminal.releaseOutput()
    #expect(process.end() == .status(0))
    #expect(process.screen(columns: 80).text.hasSuffix("Row: 5000 created\n"))
    // As `nohup` starts what goes on when nobody is there any more.
    let backup = TerminalFixture.Making(arguments: ["backup", "new", "b"], draft: "b.writing")
    let alone = try startHeld(backup, ignoring: ["HUP"], redirecting: "> output")
    alone.terminal.hangUp()
    #expect(alone.end() == .status(0))
    #expect(try fixture.run(["verify", "b"]).status == 0)
  }

  @Test(arguments: Way.allCases)
  func `what only reads ends at once, also when nobody takes its output`(way: Way) throws {
    for arguments in [
      ["query", "people", "Person"], ["export", "people"], ["inspect", "people"],
    ] {
      let terminal = try PseudoTerminal(columns: 80)
      try terminal.holdOutput()
      let process = try fixture.start(arguments, terminal)
      try way.end(process)
      #expect(process.end() == .signal(way.signal))
    }
    let watching = try fixture.start(["watch", "people"], try PseudoTerminal(columns: 80))
    try #require(watching.waits(forOutput: "version 2"))
    try way.end(watching)
    #expect(watching.end() == .signal(way.signal))
    #expect(try fixture.run(["verify", "people"]).status == 0)
  }
}
