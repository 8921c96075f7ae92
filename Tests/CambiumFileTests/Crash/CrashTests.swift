import CambiumCore
import TestSupport
import Testing

@testable import CambiumFile

/// Cuts the power at every operation of random work and opens what is left; `make soak` does the same
/// for long.
struct CrashTests {
  /// The kinds of work.
  static let durabilities: [[Durability]] = [
    [.full], [.full, .relaxed], [.relaxed], [.full, .relaxed, .none], [.none, .full],
  ]

  /// The work of a seed: each kind of it, on sectors of both sizes, with and without faults.
  static func settings(_ seed: UInt64, commitCount: Int) -> CrashRun.Settings {
    let kind = Int(seed)
    return CrashRun.Settings(
      commitCount: commitCount, durabilities: durabilities[kind % durabilities.count],
      sectorByteCount: kind / durabilities.count % 2 == 0 ? 512 : 4096,
      hasFaults: kind / durabilities.count / 2 % 2 == 1, closes: kind % 3 != 0)
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `power loss at any operation leaves an acknowledged version, whole`(seed: UInt64) throws {
    let run = CrashRun([], Self.settings(seed, commitCount: 7), seed: seed)
    try run.run()
    var explorer = CrashExplorer(seed: seed, statesPerOperation: 1, branching: 14)
    try explorer.explore(run, from: 2, depth: 2)
    #expect(explorer.findings == [])
    #expect(explorer.stateCount > 10)
  }

  @Test(arguments: [0, 1, 2, 3, 4, 5, 7, 8] as [UInt64])
  func `nobody sees a version before its time, or calls it durable before it is stored`(
    seed: UInt64
  ) throws {
    let settings = Self.settings(seed, commitCount: 12)
    let run = CrashRun([], settings, seed: seed)
    try run.run()
    #expect(run.findings == [])
    var generator = SeededGenerator(seed: seed)
    var states = CrashStates(run.device)
    var last: (live: Version, mark: Version) = (0, 0)
    for count in 2...run.device.operationCount {
      states.advance(to: count, generator: &generator)
      guard let (live, mark) = try run.shared(after: count) else { continue }
      #expect(mark.version <= live)
      // Commits that are durable when they return are not seen before they are.
      if settings.durabilities == [.full] { #expect(mark.version == live) }
      #expect(last.live <= live && last.mark <= mark.version)
      last = (live, mark.version)
      if mark.isVolatile { continue }
      let stored = states.image(mood: 0, generator: &generator)
      let store = try FileStore(
        path: "simulated", options: CrashRun.options(SimulatedDevice(stored)))
      #expect(try store.newestHead().version >= mark.version)
    }
    #expect(last.live > 0)
  }
}
