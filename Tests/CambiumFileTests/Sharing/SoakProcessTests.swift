import CambiumCore
import CambiumFile
import Foundation
import TestSupport
import Testing

/// Eight processes at a time on one file, writers and readers, all of which are killed at random
/// moments, until so many were; the long form of ``SharedProcessTests``.
@Suite(.enabled(if: Soak.killCount > 0)) struct SoakProcessTests {
  private static let processCount = 8
  private let folder: TemporaryFolder
  private var path: String { folder.file("a.cambium") }

  init() throws { folder = try TemporaryFolder() }

  @Test func `whoever is killed, readers see whole versions and nothing is lost`() async throws {
    try Ring(Database(store: FileStore(path: path))).make()
    var generator = SeededGenerator(seed: Soak.seed)
    var killCount = 0
    var leastVersion: Version = 0
    var sizes: [Int] = []
    while killCount < Soak.killCount {
      // With somebody who stays, and without, so that who comes next recovers alone.
      let watcher =
        Bool.random(using: &generator) ? try Database(store: FileStore(path: path)) : nil
      await killAll(&generator)
      try #require(Killing.lastWords(at: path) == [])
      killCount += Self.processCount
      let database = try watcher ?? Database(store: FileStore(path: path))
      try Ring(database).check()
      let version = try database.snapshot().version
      try #require(version >= leastVersion, "Published versions are gone.")
      try Ring(database).turn(&generator)
      leastVersion = version + 1
      let findings = try database.verify().findings
      try #require(findings == [])
      sizes.append(try FileStore.inspect(path: path).fileByteCount)
      try database.close()
      if killCount % (10 * Self.processCount) == 0 {
        Soak.report("\(killCount) processes killed, \(version) versions")
      }
    }
    let shorter = zip(sizes, sizes.dropFirst()).count { $0 > $1 }
    Soak.report(
      "\(killCount) processes killed, \(leastVersion) versions, no violation; the file had "
        + "\(sizes.min() ?? 0)...\(sizes.max() ?? 0) bytes and was shorter \(shorter) times")
  }

  /// Starts as many processes as there may be at a time and waits for their ends.
  private func killAll(_ generator: inout SeededGenerator) async {
    await withTaskGroup(of: Void.self) { [path = path as String] group in
      for _ in 0..<Self.processCount {
        let seed = generator.next()
        let delay = UInt32.random(in: 500...150_000, using: &generator)
        group.addTask {
          await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, seed = seed as UInt64, delay = delay as UInt32] in
            Killing.after(microseconds: delay)
            try Killing.leavingWord(at: path) {
              if seed % 3 == 0 {
                try Ring.watch(path, seed: seed)
              } else {
                try Ring.work(path, seed: seed, count: .max)
              }
            }
          }
        }
      }
    }
  }
}
