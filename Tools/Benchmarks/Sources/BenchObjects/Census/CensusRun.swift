import Cambium
import Foundation

/// Who does the work.
enum Contender: String, CaseIterable, Sendable {
  case thread = "Cambium"
  case actor = "Cambium, actor"
  case sqlite = "GRDB"
}

/// Does every piece of work with every contender, round by round, and keeps the medians.
struct CensusRun {
  /// What a run found out about one piece of work.
  struct Line {
    let work: Work
    /// Seconds per operation, the medians of all rounds.
    var medians: [Contender: Double]
  }

  /// Two contenders disagree about what came out.
  struct Disagreement: Error, CustomStringConvertible {
    let description: String
  }

  let population: Population
  let rounds: Int
  let folder: URL

  /// Runs everything; `progress` hears of each piece of work before it is done.
  func lines(progress: (String) -> Void) throws -> [Line] {
    var times: [String: [Contender: [Double]]] = [:]
    for round in 0..<rounds {
      try run(round) { work, contender, seconds in
        times[work.name, default: [:]][contender, default: []].append(seconds)
      } progress: {
        progress("round \(round + 1) of \(rounds): \($0)")
      }
    }
    return Work.all.map { work in
      Line(work: work, medians: (times[work.name] ?? [:]).mapValues { $0.sorted()[$0.count / 2] })
    }
  }

  private func run(
    _ round: Int, record: (Work, Contender, Double) -> Void, progress: (String) -> Void
  ) throws {
    let folder = folder.appending(path: "round-\(round)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let places = Contender.allCases.map { folder.appending(path: "\($0)") }
    for place in places {
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    }
    let configuration = RealmSide.configuration(in: places[0])
    let side = try RealmSide(
      realm: Realm(configuration: configuration),
      memory: Realm(configuration: RealmSide.memoryConfiguration()), configuration: configuration,
      population: population)
    let host = Host()
    let (hosted, population) = (RealmSide.configuration(in: places[1]), population)
    try waiting { try await host.open(hosted, population) }
    let sqlite = try SQLiteSide(folder: places[2], population: population)

    for work in Work.all {
      progress(work.name)
      var answers: [(Contender, Int)] = []
      // Each round begins with another contender.
      for turn in 0..<3 {
        let contender = Contender.allCases[(turn + round) % 3]
        let timing: Timing? =
          switch contender {
          case .thread: try work.overRealm(side)
          case .actor: try waiting { try await host.run(work.overRealm) }
          case .sqlite: try work.overSQLite?(sqlite)
          }
        guard let timing, !timing.seconds.isNaN else { continue }
        record(work, contender, timing.seconds)
        answers.append((contender, timing.answer))
      }
      guard Set(answers.map(\.1)).count == 1 else {
        throw Disagreement(description: "\(work.name): \(answers)")
      }
      try sqlite.settle()
    }
  }
}
