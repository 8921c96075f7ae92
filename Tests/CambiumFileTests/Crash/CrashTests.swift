import CambiumCore
import CambiumFile
import TestSupport
import Testing

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
}
