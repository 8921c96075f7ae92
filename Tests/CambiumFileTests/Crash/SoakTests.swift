import CambiumCore
import Foundation
import Synchronization
import TestSupport
import Testing

/// What `make soak` asks for in the environment.
enum Soak {
  static func number(_ name: String) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? 0
  }

  /// How many states of a disk are to be opened.
  static let stateCount = number("CAMBIUM_SOAK_STATES")
  /// How many processes are to be killed.
  static let killCount = number("CAMBIUM_SOAK_KILLS")
  /// Where the random numbers begin.
  static let seed = UInt64(max(0, number("CAMBIUM_SOAK_SEED")))

  /// Says how far it is.
  static func report(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
}

/// The crash tests with long work and many seeds, until so many states of a disk were opened.
@Suite(.enabled(if: Soak.stateCount > 0)) struct SoakTests {
  private struct Progress {
    var seed = Soak.seed
    var stateCount = 0
    var findings: [String] = []
  }

  @Test func `no state that a crash may leave loses or tears a commit`() {
    let progress = Mutex(Progress())
    let ended = DispatchSemaphore(value: 0)
    let threadCount = ProcessInfo.processInfo.activeProcessorCount
    for _ in 0..<threadCount {
      Thread {
        while let seed = progress.withLock({ Self.nextSeed(&$0) }) {
          let (stateCount, digest, findings) = Self.explore(seed)
          progress.withLock { progress in
            progress.stateCount += stateCount
            progress.findings += findings.map { "seed \(seed): \($0)" }
            Soak.report(
              "seed \(seed): \(stateCount) states, digest \(String(digest, radix: 16)), "
                + "\(progress.stateCount) in all"
                + (findings.isEmpty ? "" : ", \(findings)"))
          }
        }
        ended.signal()
      }.start()
    }
    for _ in 0..<threadCount { ended.wait() }
    let (seeds, states, findings) = progress.withLock {
      ($0.seed - Soak.seed, $0.stateCount, $0.findings)
    }
    Soak.report("\(states) states of \(seeds) seeds, \(findings.count) violations")
    #expect(findings == [])
  }

  private static func nextSeed(_ progress: inout Progress) -> UInt64? {
    guard progress.stateCount < Soak.stateCount else { return nil }
    defer { progress.seed += 1 }
    return progress.seed
  }

  /// Every other seed works on a whole database: half of these make small commits, every other time on a sealed file,
  /// every fourth near the limit of one, and a quarter moves its pages at once.
  private static func explore(_ seed: UInt64) -> (Int, UInt64, [String]) {
    do {
      switch seed % 4 {
      case 1:
        // Sealing takes long.
        let codec = seed % 8 == 5 ? SealCodec(parameterByteCount: 0) : nil
        return try CrashSettings.$codec.withValue(codec) {
          let image = try RowWork.loggedFile()
          let limit = seed % 16 == 9 ? Int(240 + seed / 16 % 5 * 80) << 10 : nil
          return CrashSettings.$maximumByteCount.withValue(limit) {
            explore(
              seed, RowWork.self, commitCount: codec == nil ? 20...60 : 6...12, image: image)
          }
        }
      case 3:
        let image = seed % 8 == 7 ? try DatabaseWork.emptiedFile() : []
        return explore(seed, DatabaseWork.self, commitCount: 10...40, image: image)
      default: return explore(seed, PageWork.self, commitCount: 20...120)
      }
    } catch {
      return (0, 0, ["\(error)"])
    }
  }

  private static func explore<Work: CrashWork>(
    _ seed: UInt64, _ work: Work.Type, commitCount: ClosedRange<Int>, image: [UInt8] = []
  ) -> (Int, UInt64, [String]) {
    var generator = SeededGenerator(seed: seed)
    let commitCount = Int.random(in: commitCount, using: &generator)
    let run = CrashRun<Work>(
      image, CrashTests.settings(seed, commitCount: commitCount), seed: seed)
    var explorer = CrashExplorer(seed: seed, statesPerOperation: 6, branching: 40)
    do {
      try run.run()
      try explorer.explore(run, from: image.isEmpty ? 2 : 0, depth: 2)
      return (explorer.stateCount, explorer.digest, explorer.findings)
    } catch {
      return (explorer.stateCount, explorer.digest, explorer.findings + ["\(error)"])
    }
  }
}
