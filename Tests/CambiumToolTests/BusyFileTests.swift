import CambiumCore
import CambiumFile
import Foundation
import Synchronization
import TestSupport
import Testing

/// The tool beside a process that commits all the time.
struct BusyFileTests {
  /// What the tool said beside the writer, and why it could not be asked.
  private final class Answers: Sendable {
    let outcomes = Mutex<[ToolRunner.Outcome]>([])
    let failure = Mutex<(any Error)?>(nil)
  }

  @Test func `verify and inspect look into a file that another process is writing`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("busy.cambium")
    let end = folder.file("end")
    try Ring(Database(store: FileStore(path: path)), hasBallast: true).make()
    let answers = Answers()
    // Not in a thread of the pool, which has to look after the writing process.
    Thread {
      do {
        try Self.ask(path, answers)
      } catch {
        answers.failure.withLock { $0 = error }
      }
      // The writer ends, whatever became of the questions.
      _ = FileManager.default.createFile(atPath: end, contents: nil)
    }.start()
    await #expect(processExitsWith: .success) { [path = path as String, end = end as String] in
      let database = try Database(store: FileStore(path: path))
      let ring = Ring(database, hasBallast: true)
      var generator = SeededGenerator(seed: 1)
      while !FileManager.default.fileExists(atPath: end) { try ring.turn(&generator) }
      try database.close()
    }
    let outcomes = answers.outcomes.withLock { $0 }
    #expect(answers.failure.withLock { $0 } == nil)
    #expect(outcomes.count == 3)
    for outcome in outcomes {
      #expect(outcome.status == 0, "\(outcome.output) \(outcome.errors)")
      #expect(outcome.errors == "")
    }
  }

  private static func ask(_ path: String, _ answers: Answers) throws {
    let watcher = try FileStore(path: path, options: FileStoreOptions(isReadOnly: true))
    var last: Version = 1
    for arguments in [["verify", path], ["inspect", path], ["verify", path, "--json"]] {
      // At its work.
      last = watcher.waitForCommit(after: last + 20, timeoutNanoseconds: .max)
      let outcome = try ToolRunner.run(arguments: arguments)
      answers.outcomes.withLock { $0.append(outcome) }
    }
    try watcher.close()
  }
}
