import CambiumCore
import TestSupport

/// Cuts the power at every operation of a run and opens what the disk may hold then; now and then
/// works on from there, or from the kill of the process, and cuts the power again.
struct CrashExplorer {
  /// How many different states of the disk were opened.
  private(set) var stateCount = 0
  /// What was done and found, as a number: the same for the same seed.
  private(set) var digest: UInt64 = 0
  /// What was wrong, for people.
  private(set) var findings: [String] = []
  private var seen: Set<UInt64> = []
  private var generator: SeededGenerator
  /// How many random states are looked at per operation, besides the two extreme ones.
  private let statesPerOperation: Int
  /// One of so many states is worked on from.
  private let branching: Int

  init(seed: UInt64, statesPerOperation: Int, branching: Int) {
    generator = SeededGenerator(seed: seed)
    self.statesPerOperation = statesPerOperation
    self.branching = branching
  }

  /// Does it for `run`, which has done its work, from the point after `first` operations on.
  mutating func explore<Work>(
    _ run: CrashRun<Work>, from first: Int, depth: Int
  ) throws {
    findings += run.findings
    note(run.digest)
    var states = CrashStates(run.device)
    let operationCount = run.device.operationCount
    for count in first...max(first, operationCount) {
      states.advance(to: count, generator: &generator)
      for mood in moods(states) {
        if !findings.isEmpty { return }
        let image = states.image(mood: mood, generator: &generator)
        let hash = image.withUnsafeBytes { Checksum.hash($0) }
        note(hash)
        if seen.insert(hash).inserted { stateCount += 1 }
        let (found, isOpened) = run.examine(image, after: count)
        findings += found
        if !found.isEmpty { Soak.report(run.story(before: count)) }
        guard depth > 0, isOpened, Int.random(in: 0..<branching, using: &generator) == 0 else {
          continue
        }
        let next = CrashRun<Work>(
          image, after: run, at: count, CrashSettings(commitCount: 2), seed: generator.next())
        try next.run()
        try explore(next, from: 0, depth: depth - 1)
      }
      guard depth > 0, count > first, Int.random(in: 0..<branching, using: &generator) == 0 else {
        continue
      }
      let next = CrashRun<Work>(
        killing: run, after: count, isEarly: Bool.random(using: &generator),
        joins: Bool.random(using: &generator), seed: generator.next())
      try next.run()
      try explore(next, from: count, depth: depth - 1)
    }
  }

  private mutating func note(_ number: UInt64) {
    digest = withUnsafeBytes(of: (digest, number)) { Checksum.hash($0) }
  }

  private mutating func moods(_ states: CrashStates) -> [Double] {
    // With nothing to lose there is one state.
    guard states.isOpen else { return [1] }
    var moods = [1.0]
    // Nothing of it: the same state until the next sync.
    if Int.random(in: 0..<3, using: &generator) == 0 { moods.append(0) }
    for _ in 0..<statesPerOperation { moods.append(.random(in: 0.05..<0.95, using: &generator)) }
    return moods
  }
}
