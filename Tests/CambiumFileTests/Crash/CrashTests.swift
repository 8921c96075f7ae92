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
  static func settings(_ seed: UInt64, commitCount: Int) -> CrashSettings {
    let kind = Int(seed)
    return CrashSettings(
      commitCount: commitCount, durabilities: durabilities[kind % durabilities.count],
      sectorByteCount: kind / durabilities.count % 2 == 0 ? 512 : 4096,
      hasFaults: kind / durabilities.count / 2 % 2 == 1, closes: kind % 3 != 0)
  }

  /// Does the work of `seed` and opens what crashes leave of it.
  private func explore<Work: CrashWork>(
    _ seed: UInt64, _ work: Work.Type, commitCount: Int, branching: Int, depth: Int
  ) throws {
    let run = CrashRun<Work>([], Self.settings(seed, commitCount: commitCount), seed: seed)
    try run.run()
    var explorer = CrashExplorer(seed: seed, statesPerOperation: 1, branching: branching)
    try explorer.explore(run, from: 2, depth: depth)
    #expect(explorer.findings == [])
    #expect(explorer.stateCount > 5)
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `power loss at any operation leaves an acknowledged version, whole`(seed: UInt64) throws {
    try explore(seed, PageWork.self, commitCount: 7, branching: 14, depth: 2)
  }

  @Test(arguments: 0..<10 as Range<UInt64>)
  func `the same holds of databases with tables, key trees and values`(seed: UInt64) throws {
    try explore(seed, DatabaseWork.self, commitCount: 5, branching: 20, depth: 1)
  }

  @Test func `the work has everything in it that is to be held against crashes`() throws {
    var deeds = CrashDeeds()
    for seed in 0..<20 as Range<UInt64> {
      let run = CrashRun<PageWork>([], Self.settings(seed, commitCount: 7), seed: seed)
      try run.run()
      deeds.add(run.deeds)
    }
    #expect(deeds.missing == [])
  }

  @Test(arguments: 0..<6 as Range<UInt64>)
  func `sealed heads, records and pages survive the same`(seed: UInt64) throws {
    try CrashSettings.$codec.withValue(SealCodec(parameterByteCount: 9000)) {
      try explore(seed, PageWork.self, commitCount: 6, branching: 14, depth: 2)
      try explore(seed, DatabaseWork.self, commitCount: 4, branching: 20, depth: 1)
    }
  }

  @Test(arguments: [0, 1, 2, 3, 4, 5, 7, 8] as [UInt64])
  func `nobody sees a version before its time, or calls it durable before it is stored`(
    seed: UInt64
  ) throws {
    let settings = Self.settings(seed, commitCount: 12)
    let run = CrashRun<PageWork>([], settings, seed: seed)
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
        path: "simulated", options: CrashSettings.options(SimulatedDevice(stored)))
      #expect(try store.newestHead().version >= mark.version)
    }
    #expect(last.live > 0)
  }
}
