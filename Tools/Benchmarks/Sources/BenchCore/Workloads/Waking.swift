import Foundation

/// An engine on which a process can wait for the commits of another one.
protocol CommitWaiting: Engine {
  /// Makes `stamp` the newest one for all processes.
  func commit(stamp: UInt64) throws

  /// Remembers what is the newest one, so that the next wait is for those that follow.
  func beginWaiting() throws

  /// Sleeps until there is a newer stamp than the last one that was seen here, and returns it.
  func waitForStamp() throws -> UInt64
}

/// How long it takes from a commit in one process to the first step of those that wait for it in
/// others.
struct Waking: Workload {
  let folder: TemporaryFolder
  private static let sampleCount = 500

  var id: String { "W15" }
  var title: String { "waking other processes" }
  var start: Contents { .changedPeople }
  var end: Contents { .changedPeople }

  func suits(_ engine: any Engine.Type) -> Bool { engine is any CommitWaiting.Type }

  func measure(_ engine: any Engine, round: Int) throws -> [Figure] {
    guard let engine = engine as? any CommitWaiting else { return [] }
    var figures: [Figure] = []
    // Bytes in a pipe wake one process.
    for processCount in type(of: engine) == FloorEngine.self ? [1] : [1, 4] {
      let times = try latencies(engine, processCount: processCount)
      let who = processCount == 1 ? "one process" : "the last of \(processCount) processes"
      figures += [
        Figure(
          Measure(workload: id, variant: "commit wakes \(who)", unit: "µs", aims: [.limit(100)]),
          times.quantile(0.5)),
        Figure(
          Measure(workload: id, variant: "commit wakes \(who), p99", unit: "µs"),
          times.quantile(0.99)),
      ]
    }
    return figures
  }

  /// The microseconds from before each commit until the last process was awake.
  private func latencies(_ engine: any CommitWaiting, processCount: Int) throws -> [Double] {
    let sleepers = try (0..<processCount).map { _ in
      try Sleeper(engine: type(of: engine).name, in: folder)
    }
    defer { for sleeper in sleepers { sleeper.end() } }
    return try (0..<Self.sampleCount).map { _ in
      // They are asleep by then.
      usleep(500)
      try engine.commit(stamp: CompanionProcess.now)
      return try sleepers.map { Double(try $0.nanoseconds()) / 1e3 }.max() ?? 0
    }
  }
}

/// Another process that waits for commits and tells how long they took to wake it.
private final class Sleeper {
  private let process = Process()
  private let output = Pipe()
  private let engine: String

  /// Starts a process and waits until it waits.
  init(engine: String, in folder: TemporaryFolder) throws {
    self.engine = engine
    process.executableURL = CompanionProcess.executable
    process.environment = ProcessInfo.processInfo.environment.merging(
      CompanionProcess.waiter(of: engine, in: folder)
    ) { $1 }
    process.standardOutput = output
    try process.run()
    _ = try nanoseconds()
  }

  /// What it says about the next commit.
  func nanoseconds() throws -> UInt64 {
    guard let bytes = try output.fileHandleForReading.read(upToCount: 8), bytes.count == 8 else {
      throw VictimFailure(engine: engine)
    }
    return bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
  }

  func end() {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
