import CambiumCore
import CambiumFile
import Foundation
import TestSupport
import Testing

/// The tool beside a process that commits all the time.
struct BusyFileTests {
  @Test func `verify and inspect look into a file that another process is writing`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("busy.cambium")
    let end = folder.file("end")
    try Ring(Database(store: FileStore(path: path)), hasBallast: true).make()
    async let writing: Void = {
      await #expect(processExitsWith: .success) { [path = path as String, end = end as String] in
        let database = try Database(store: FileStore(path: path))
        let ring = Ring(database, hasBallast: true)
        var generator = SeededGenerator(seed: 1)
        while !FileManager.default.fileExists(atPath: end) { try ring.turn(&generator) }
        try database.close()
      }
    }()
    let outcomes = try await Self.inThreadOfItsOwn { [path = path] in
      let watcher = try FileStore(path: path, options: FileStoreOptions(isReadOnly: true))
      var last: Version = 1
      let outcomes = try [["verify", path], ["inspect", path], ["verify", path, "--json"]].map {
        // At its work.
        last = watcher.waitForCommit(after: last + 20, timeoutNanoseconds: .max)
        return try ToolRunner.run(arguments: $0)
      }
      try watcher.close()
      return outcomes
    }
    for outcome in outcomes {
      #expect(outcome.status == 0, "\(outcome.output) \(outcome.errors)")
      #expect(outcome.errors == "")
    }
    try Data().write(to: URL(fileURLWithPath: end))
    await writing
  }

  /// Runs `body`, which waits for another process: not in a thread of the pool, which would have to
  /// start that process.
  private static func inThreadOfItsOwn<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      Thread { continuation.resume(with: Swift.Result { try body() }) }.start()
    }
  }
}
