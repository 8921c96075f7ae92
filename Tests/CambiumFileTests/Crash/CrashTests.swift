import CambiumCore
import Synchronization
import TestSupport
import Testing

@testable import CambiumFile

/// Cuts the power at every operation of random work and opens what is left; `make soak` does the same
/// for long.
@Suite(ExploredStates(runCount: 71, leastStateCount: Exhaustive.isWanted ? 8000 : 2000))
struct CrashTests {
  /// The kinds of work.
  static let durabilities: [[Durability]] = [
    [.full], [.full, .relaxed], [.relaxed],
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
    _ seed: UInt64, _ work: Work.Type, commitCount: Int, image: [UInt8] = [], branching: Int,
    depth: Int
  ) throws {
    let run = CrashRun<Work>(image, Self.settings(seed, commitCount: commitCount), seed: seed)
    try run.run()
    var explorer = CrashExplorer(seed: seed, statesPerOperation: 1, branching: branching)
    // The first two operations create a file.
    try explorer.explore(run, from: image.isEmpty ? 2 : 0, depth: depth)
    #expect(explorer.findings == [])
    #expect(explorer.stateCount > 5)
    ExploredStates.note(explorer.stateCount)
  }

  /// One in so many states is gone on from.
  private static let branching = Exhaustive.isWanted ? 20 : 100
  private static let pageSeeds = 0..<20 as Range<UInt64>
  private static let pageCommitCount = 7
  private static let databaseSeeds = 8..<20 as Range<UInt64>
  private static let databaseCommitCount = 5
  /// Those of runs that begin with a file that is to become shorter.
  private static let emptiedSeeds = 1..<4 as Range<UInt64>
  private static let emptiedCommitCount = 6
  private static let rowSeeds = 0..<12 as Range<UInt64>
  private static let rowCommitCount = 12
  private static let limitedSeeds = 3..<9 as Range<UInt64>
  private static let limitedCommitCount = 40
  private static let sealedSeeds = 0..<6 as Range<UInt64>

  @Test(arguments: pageSeeds)
  func `power loss at any operation leaves an acknowledged version, whole`(seed: UInt64) throws {
    try explore(
      seed, PageWork.self, commitCount: Self.pageCommitCount, branching: Self.branching, depth: 2)
  }

  @Test(arguments: databaseSeeds)
  func `the same holds of databases with tables, key trees and values`(seed: UInt64) throws {
    try explore(
      seed, DatabaseWork.self, commitCount: Self.databaseCommitCount, branching: Self.branching,
      depth: 1)
  }

  @Test(arguments: emptiedSeeds)
  func `the same holds of databases whose pages are moved from the end of the file`(
    seed: UInt64
  ) throws {
    try explore(
      seed, DatabaseWork.self, commitCount: Self.emptiedCommitCount,
      image: DatabaseWork.emptiedFile(), branching: 2 * Self.branching, depth: 1)
  }

  @Test(arguments: rowSeeds)
  func `the same holds of small commits that leave what they change in the log`(
    seed: UInt64
  ) throws {
    try explore(
      seed, RowWork.self, commitCount: Self.rowCommitCount, image: RowWork.loggedFile(),
      branching: Self.branching, depth: 2)
  }

  /// Gives a file with a log so much room that it is at its limit at once, or after a while.
  private static func limited<Value>(
    _ seed: UInt64, _ body: (_ image: [UInt8]) throws -> Value
  ) throws -> Value {
    // It was without one before.
    let image = try RowWork.loggedFile()
    let limit = (seed % 2 == 0 ? 240 : 512) << 10
    return try CrashSettings.$maximumByteCount.withValue(limit) { try body(image) }
  }

  @Test(arguments: limitedSeeds)
  func `the same holds of small commits near the limit of their file`(seed: UInt64) throws {
    try Self.limited(seed) { image in
      try explore(
        seed, RowWork.self, commitCount: Self.limitedCommitCount, image: image,
        branching: 3 * Self.branching, depth: 1)
    }
  }

  /// What becomes of a seed: of work on pages with much that crashes leave of it, and of other work.
  private static func digests(_ seed: UInt64) throws -> [UInt64] {
    let pages = CrashRun<PageWork>([], settings(seed, commitCount: 8), seed: seed)
    try pages.run()
    var explorer = CrashExplorer(seed: seed, statesPerOperation: 1, branching: 20)
    try explorer.explore(pages, from: pages.device.operationCount / 2, depth: 1)
    let databases = try [[], DatabaseWork.emptiedFile()].map { image in
      let run = CrashRun<DatabaseWork>(image, settings(seed, commitCount: 8), seed: seed)
      try run.run()
      return run.digest
    }
    return [explorer.digest] + databases
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `a seed is a history, in this process and in another one`(seed: UInt64) async throws {
    let first = try Self.digests(seed)
    let again = try Self.digests(seed)
    #expect(again == first)
    await #expect(processExitsWith: .success) {
      [seed = seed as UInt64, first = first as [UInt64]] in
      let again = try Self.digests(seed)
      #expect(again == first)
    }
  }

  @Test func `who comes after a kill behind a failed sync goes on alone`() throws {
    var poisonedCount = 0
    for seed in 0..<60 as Range<UInt64> {
      var settings = Self.settings(seed, commitCount: 4)
      settings.hasFaults = true
      let run = CrashRun<PageWork>([], settings, seed: seed)
      try run.run()
      guard run.isPoisoned else { continue }
      poisonedCount += 1
      let next = CrashRun(
        killing: run, after: run.device.operationCount, isEarly: false, joins: true, seed: seed)
      try next.run()
      #expect(next.findings == [])
    }
    #expect(poisonedCount > 0)
  }

  /// Kills whoever has just heard that a sync failed, before it can say so, while others have the file open; how often.
  ///
  /// The system tells nobody else.
  private func killOverFailedSyncs<Work: CrashWork>(
    _ seeds: Range<UInt64>, _ work: Work.Type, image: [UInt8] = []
  ) throws -> Int {
    var killCount = 0
    for seed in seeds {
      for durabilities in [[Durability.relaxed], [.full], [.full, .relaxed]] {
        let settings = CrashSettings(
          commitCount: 8, durabilities: durabilities, sectorByteCount: 512, hasFaults: true)
        let run = CrashRun<Work>(image, settings, seed: seed)
        try run.run()
        for (number, operation) in run.device.operations.enumerated() {
          guard case .failedSync = operation else { continue }
          killCount += 1
          let next = CrashRun(
            killing: run, after: number + 1, isEarly: true, joins: true, seed: seed)
          try next.run()
          var explorer = CrashExplorer(seed: seed, statesPerOperation: 4, branching: 40)
          try explorer.explore(next, from: number + 1, depth: 0)
          #expect(explorer.findings == [], "seed \(seed), \(durabilities)")
        }
      }
    }
    return killCount
  }

  @Test func `who comes after a kill over a failed sync promises nothing that is lost`() throws {
    #expect(try killOverFailedSyncs(0..<24, PageWork.self) > 10)
    #expect(try killOverFailedSyncs(0..<6, DatabaseWork.self) > 2)
    #expect(try killOverFailedSyncs(0..<12, RowWork.self, image: RowWork.loggedFile()) > 5)
  }

  /// These are the runs after each operation of which the power is cut above.
  private func deeds<Work: CrashWork>(
    _ seeds: Range<UInt64>, _ work: Work.Type, commitCount: Int, image: [UInt8] = []
  ) throws -> CrashDeeds {
    var deeds = CrashDeeds()
    for seed in seeds {
      let run = CrashRun<Work>(image, Self.settings(seed, commitCount: commitCount), seed: seed)
      try run.run()
      deeds.add(run.deeds)
    }
    return deeds
  }

  @Test func `the work has everything in it that is to be held against crashes`() throws {
    let pages = try deeds(Self.pageSeeds, PageWork.self, commitCount: Self.pageCommitCount)
    // Only an engine leaves pages in memory, and what changes them in a log.
    #expect(pages.missing == [.commitInMemory, .batchInLog, .refusedByLimit, .logGivenUp])
    var databases = try deeds(
      Self.databaseSeeds, DatabaseWork.self, commitCount: Self.databaseCommitCount)
    databases.add(
      try deeds(
        Self.emptiedSeeds, DatabaseWork.self, commitCount: Self.emptiedCommitCount,
        image: DatabaseWork.emptiedFile()))
    let rows = try deeds(
      Self.rowSeeds, RowWork.self, commitCount: Self.rowCommitCount, image: RowWork.loggedFile())
    #expect(rows[.batchInLog] > 20, "\(rows)")
    databases.add(rows)
    for seed in Self.limitedSeeds {
      databases.add(
        try Self.limited(seed) { image in
          try deeds(
            seed..<seed + 1, RowWork.self, commitCount: Self.limitedCommitCount, image: image)
        })
    }
    #expect(databases.missing == [])
    #expect(databases[.movedPage] > 5, "\(databases)")
  }

  @Test(arguments: sealedSeeds)
  func `sealed heads, records and pages survive the same`(seed: UInt64) throws {
    try CrashSettings.$codec.withValue(SealCodec(parameterByteCount: 9000)) {
      try explore(seed, PageWork.self, commitCount: 6, branching: Self.branching, depth: 2)
      try explore(seed, DatabaseWork.self, commitCount: 4, branching: Self.branching, depth: 1)
      try explore(
        seed, RowWork.self, commitCount: 4, image: RowWork.loggedFile(),
        branching: Self.branching, depth: 1)
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
      guard let (live, mark) = run.shared(after: count) else { continue }
      #expect(mark.version <= live)
      // Commits that are durable when they return are not seen before they are.
      if settings.durabilities == [.full] { #expect(mark.version == live) }
      #expect(last.live <= live && last.mark <= mark.version)
      last = (live, mark.version)
      let stored = states.image(mood: 0, generator: &generator)
      let store = try FileStore(
        path: "simulated", options: CrashSettings.options(SimulatedDevice(stored)))
      #expect(try store.newestHead().version >= mark.version)
    }
    #expect(last.live > 0)
  }
}

/// Asks all runs of the suite together to have opened as many states as is said of them.
///
/// Where only some of the tests were run nothing is asked.
private struct ExploredStates: SuiteTrait, TestScoping {
  /// How many runs are explored when all tests are run.
  let runCount: Int
  let leastStateCount: Int
  private static let total = Mutex((runCount: 0, stateCount: 0))

  /// Counts a run, after which so many states were opened.
  static func note(_ stateCount: Int) {
    total.withLock { total in
      total.runCount += 1
      total.stateCount += stateCount
    }
  }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await function()
    let total = Self.total.withLock { $0 }
    guard total.runCount >= runCount else { return }
    #expect(total.stateCount >= leastStateCount, "Too few states were opened.")
  }
}
