import CambiumCore
import CambiumFile
import Foundation
import TestSupport
import Testing

/// Processes that do not see each other's numbers, because each is the first of its own namespace.
struct NamespaceTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("a.cambium") }

  /// What makes namespaces; nil where that is missing or forbidden.
  private static let unshare: URL? = {
    let url = URL(fileURLWithPath: "/usr/bin/unshare")
    guard FileManager.default.isExecutableFile(atPath: url.path),
      let probe = try? Process.run(url, arguments: ["--pid", "--fork", "true"])
    else { return nil }
    probe.waitUntilExit()
    return probe.terminationStatus == 0 ? url : nil
  }()

  /// The file on which a test in a namespace of its own works.
  private static let guestPath = ProcessInfo.processInfo.environment["CAMBIUM_NAMESPACE_FILE"]

  init() throws { folder = try TemporaryFolder() }

  @Test(.enabled(if: guestPath == nil))
  func `processes of several namespaces keep the ring whole`() async throws {
    guard let unshare = Self.unshare else {
      return print("Namespaces of process numbers cannot be made here: not tested.")
    }
    let database = try Database(store: FileStore(path: path))
    try Ring(database).make()
    let watcher = try Database(store: FileStore(path: path))
    var guests: [Process] = []
    for _ in 0..<2 {
      let guest = Process()
      guest.executableURL = unshare
      // Whoever waits for ever is ended.
      guest.arguments = [
        "--pid", "--fork", "timeout", "--signal", "KILL", "900", CommandLine.arguments[0],
        "--testing-library", "swift-testing", "--filter", "NamespaceTests",
      ]
      guest.environment = ProcessInfo.processInfo.environment.merging(
        ["CAMBIUM_NAMESPACE_FILE": path]) { $1 }
      guest.standardOutput = FileHandle.nullDevice
      guest.standardError = FileHandle.nullDevice
      try guest.run()
      guests.append(guest)
    }
    var generator = SeededGenerator(seed: 3)
    var turnCount: Version = 0
    while guests.contains(where: { $0.isRunning }) {
      try Ring(watcher).turn(&generator)
      turnCount += 1
      try Ring(watcher).check()
    }
    for guest in guests {
      guest.waitUntilExit()
      #expect(guest.terminationStatus == 0)
    }
    #expect(try watcher.snapshot().version == 1 + turnCount + 2 * 30)
    #expect(try watcher.verify().findings == [])
  }

  @Test(.enabled(if: guestPath != nil))
  func `the guest of another namespace turns the ring`() throws {
    let path = try #require(Self.guestPath)
    try Ring.work(path, seed: UInt64.random(in: 0..<1000), count: 30)
  }
}
