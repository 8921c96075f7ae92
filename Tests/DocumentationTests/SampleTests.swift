import Foundation
import TestSupport
import Testing

/// Every Swift sample of the documents is a snippet that was built, runs, and prints what it should.
@Suite struct SampleTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  /// The samples of a document, in order, but for manifests, which no program can hold.
  private static func samples(of document: String) throws -> [String] {
    try text(document).components(separatedBy: "```swift\n").dropFirst()
      .compactMap { $0.components(separatedBy: "\n```").first }
      .filter { !$0.hasPrefix(".package(") }
  }

  /// What a snippet shows, in as many parts as there are samples of it.
  private static func shown(_ snippet: String) throws -> [String] {
    var isShown = true
    var parts = [""]
    for line in try text("Snippets/\(snippet).swift").components(separatedBy: "\n") {
      switch line.drop(while: { $0 == " " }) {
      case "// snippet.hide": isShown = false
      case "// snippet.show": isShown = true
      case "// snippet.next": parts.append("")
      default: if isShown { parts[parts.count - 1] += line + "\n" }
      }
    }
    return parts
  }

  /// The words of a program: documents may align comments, the formatter does not.
  private static func words(_ program: String) -> [Substring] {
    program.split(whereSeparator: \.isWhitespace)
  }

  @Test(arguments: [
    ("README.md", ["QuickStart", "Actors", "Stores"]),
    ("DESIGN.md", []),
    ("CHANGELOG.md", []),
    ("Sources/Cambium/Cambium.docc/Cambium.md", ["Objects"]),
    ("Sources/Cambium/Cambium.docc/GettingStarted.md", ["GettingStarted"]),
    ("Sources/Cambium/Cambium.docc/Actors.md", ["Kennels"]),
    ("Sources/Cambium/Cambium.docc/Modelling.md", ["Libraries"]),
    ("Sources/Cambium/Cambium.docc/Relationships.md", ["Relationships"]),
    ("Sources/Cambium/Cambium.docc/Collections.md", ["Collections"]),
    ("Sources/Cambium/Cambium.docc/AnyValues.md", ["AnyValues"]),
    ("Sources/Cambium/Cambium.docc/Querying.md", ["Querying"]),
    ("Sources/Cambium/Cambium.docc/ChangingClasses.md", ["Migrating"]),
    ("Sources/Cambium/Cambium.docc/SectionsAndProjections.md", ["Guests"]),
    ("Sources/Cambium/Cambium.docc/TestingModels.md", ["TestingModels"]),
    ("Sources/Cambium/Cambium.docc/MovingFromRealm.md", ["MovingFiles"]),
    ("Sources/CambiumCore/CambiumCore.docc/CambiumCore.md", ["Engine"]),
    ("Sources/CambiumCore/CambiumCore.docc/TreesAndTransactions.md", ["Contracts"]),
    ("Sources/CambiumCore/CambiumCore.docc/Contexts.md", ["Contexts"]),
    ("Sources/CambiumCore/CambiumCore.docc/WritingAStore.md", ["WritingAStore"]),
    ("Sources/CambiumCore/CambiumCore.docc/WritingACodec.md", ["WritingACodec"]),
    ("Sources/RealmSwift/RealmSwift.docc/RealmSwift.md", []),
  ])
  func `a document's samples are snippets`(document: String, snippets: [String]) throws {
    #expect(
      try Self.samples(of: document).map(Self.words)
        == snippets.flatMap { try Self.shown($0).map(Self.words) })
  }

  @Test func `no other page has samples`() throws {
    let files = FileManager.default.enumerator(
      at: Self.root.appendingPathComponent("Sources"), includingPropertiesForKeys: nil)
    var pages: Set<String> = []
    for case let file as URL in try #require(files) where file.pathExtension == "md" {
      if try String(contentsOf: file, encoding: .utf8).contains("```swift\n") {
        pages.insert(file.lastPathComponent)
      }
    }
    #expect(
      pages == [
        "Actors.md", "Cambium.md", "CambiumCore.md", "Contexts.md", "ChangingClasses.md",
        "GettingStarted.md", "Relationships.md", "Collections.md", "AnyValues.md",
        "Modelling.md", "MovingFromRealm.md", "Querying.md", "SectionsAndProjections.md",
        "TestingModels.md",
        "TreesAndTransactions.md", "WritingACodec.md", "WritingAStore.md",
      ])
  }

  /// Those that keep something run twice; the others are long.
  @Test(arguments: [
    ("QuickStart", "1 Ada\n0 1\n", 2), ("Actors", "new: [\"Ada\"]\n", 2),
    ("GettingStarted", "Ada 1\nAda\nnew owners: [\"Ben\"]\n2 3\n", 2), ("Objects", "Ada\n", 2),
    ("Kennels", "2 [\"Ada\", \"Rex\"]\n", 2),
    ("Libraries", "1 1 1 1\n98 0\n", 2),
    ("Relationships", "Ben Engine\n[\"Ben\"] 2 [\"Ada\"]\n0 nobody [\"Ben\"]\n", 2),
    (
      "Collections",
      """
      ["Noon", "Dawn", "Dusk"]
      true
      3 true
      Dawn 1
      1 1 ["Dawn", "Dusk", "Noon"]

      """, 2
    ),
    (
      "AnyValues",
      """
      retries is the number 3
      timeout is 2.5
      window has ["sizes", "title"]
      retries 1 1
      1

      """, 2
    ),
    (
      "Guests",
      """
      Aachen ["Bob"]
      Bonn ["Ann", "Cid"]
      ["A", "B", "C"]
      ["Ann", "Cid"] 0

      """, 2
    ),
    (
      "Querying",
      """
      Café Äpfel, Café Äpfel, Café Äpfel
      Tea House Café Äpfel Books, Tea House Café Äpfel Books, Tea House Café Äpfel Books
      Café Äpfel, Café Äpfel, Tea House
      Café Äpfel, Tea House, Tea House, Tea House Books
      ["Bob", "Cid"]
      Tea House, Tea House, Tea House
      Tea House Café Äpfel, Tea House Café Äpfel, Tea House, Tea House Café Äpfel, Tea House Café Äpfel
      Tea House, Tea House
      Books Tea House Café Äpfel, Tea House Café Äpfel, Tea House Café Äpfel Books
      240.0 Tea House 0
      Books
      Tea House
      Shop.city: at most 2 of 3 objects of Shop, each tested

      """, 2
    ),
    ("Migrating", "Ada Byron ada 53111 Main Street\nBob Meyer bob 1067 High Street\n", 2),
    ("Engine", "36\n", 2),
    ("Contracts", "1\n3\n1\n", 2), ("Contexts", "Draft\n", 2),
    ("Stores", "stores.cambium\nmemory\n", 2), ("WritingAStore", "done\n", 1),
    ("WritingACodec", "done\n", 1), ("TestingModels", "passed\n", 1),
    ("MovingFiles", movedFiles, 2),
  ])
  func `a snippet prints what it should, run after run`(
    snippet: String, expected: String, runCount: Int
  ) throws {
    let folder = try TemporaryFolder()
    for _ in 0..<runCount {
      #expect(try Self.run(snippet, in: folder.url) == expected)
    }
  }

  /// What a trait brings is not there without it.
  private static var movedFiles: String {
    #if RealmFile
      let progress = "Dog: 0 of 2\nDog: 2 of 2\n"
      return progress + progress + "[\"Rex\", \"Bello\"]\nDog 2\n"
    #else
      return ""
    #endif
  }

  /// Where the tests were built.
  static let buildFolder = URL(
    fileURLWithPath: (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      ?? CommandLine.arguments[0]
  ).deletingLastPathComponent()

  private static func run(_ snippet: String, in folder: URL) throws -> String {
    let process = Process()
    // Snippets are built into the folder of the tests.
    process.executableURL = buildFolder.appendingPathComponent(snippet)
    process.currentDirectoryURL = folder
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return String(decoding: data, as: UTF8.self)
  }
}
