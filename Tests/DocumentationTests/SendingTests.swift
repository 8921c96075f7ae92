import Foundation
import TestSupport
import Testing

/// What the compiler says of programs that hand trees from one thread to another.
@Suite struct SendingTests {
  @Test(arguments: [
    "let table = try transaction.table(\"a\"); Task.detached { _ = table?.count }",
    "let tree = try transaction.keyTree(\"a\"); Task.detached { _ = tree?.count }",
    "let tree = try transaction.editKeyTree(\"a\").tree; Task.detached { _ = tree.count }",
    "let editor = try transaction.editTable(\"a\"); Task.detached { _ = editor?.table.count }",
    "let source = transaction.source; Task.detached { _ = source }",
  ])
  func `what a transaction gives out stays with it`(program: String) throws {
    for parameter in ["Transaction", "some WriteTransaction"] {
      let complaints = try Self.complaints(
        about: "func run(_ transaction: \(parameter)) throws { \(program) }")
      #expect(complaints.contains("DataRace"), "\(complaints)")
    }
  }

  @Test func `what any reader gives out stays with it`() throws {
    let complaints = try Self.complaints(
      about: """
        func run(_ reader: some ReadTransaction) throws {
          let tree = try reader.keyTree("a")
          Task.detached { _ = tree?.count }
        }
        """)
    #expect(complaints.contains("DataRace"), "\(complaints)")
  }

  @Test func `every thread takes trees from a snapshot and may hand them on`() throws {
    let complaints = try Self.complaints(
      about: """
        func run(_ snapshot: Snapshot) throws {
          let table = try snapshot.table("a")
          let root = TreeRoot.empty(.key)
          let tree = KeyTree(root: root, source: snapshot.source)
          Task.detached { _ = (table?.count, tree.count) }
          Task.detached { _ = try snapshot.table("a")?.count }
        }
        """)
    #expect(complaints == "")
  }

  /// Compiles `program` against the module that was built for the tests.
  private static func complaints(about program: String) throws -> String {
    let folder = try TemporaryFolder()
    let file = folder.url.appendingPathComponent("program.swift")
    try ("import CambiumCore\n" + program).write(to: file, atomically: true, encoding: .utf8)
    let build = SampleTests.buildFolder
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "swiftc", "-swift-version", "6", "-emit-sil", "-o", "/dev/null",
      "-I", build.appendingPathComponent("Modules").path,
      "-Xcc", "-fmodule-map-file=\(build.path)/CPlatform.build/module.modulemap", file.path,
    ]
    let output = Pipe()
    process.standardError = output
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }
}
