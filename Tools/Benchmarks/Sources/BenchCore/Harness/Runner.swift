import Foundation

/// Runs workloads on engines in interleaved rounds.
struct Runner {
  /// The results so far, in the order of the workloads.
  private(set) var results = Results()

  private let contestants: [Contestant]
  private let people: People
  private let folder: TemporaryFolder
  private let rounds: Int
  private let progress: (String) -> Void

  /// Makes a runner for engines of the given types.
  init(
    engines: [any Engine.Type], people: People, folder: TemporaryFolder, rounds: Int,
    progress: @escaping (String) -> Void
  ) {
    contestants = engines.map { Contestant(type: $0) }
    self.people = people
    self.folder = folder
    self.rounds = rounds
    self.progress = progress
  }

  /// Runs all rounds of one workload.
  ///
  /// A round lets every engine work once, and each round starts with another engine, so that a
  /// machine that slows down for a while slows all of them.
  mutating func run(_ workload: some Workload) throws {
    let suited = contestants.filter { workload.suits($0.type) }
    for round in 0..<rounds {
      for turn in suited.indices {
        let contestant = suited[(turn + round) % suited.count]
        progress("\(workload.name) · round \(round + 1) of \(rounds) · \(contestant.type.name)")
        let engine = try contestant.prepared(for: workload.start, people, folder)
        contestant.holds = workload.end
        for figure in try workload.measure(engine, round: round) {
          results.add(figure, engine: contestant.type.name, yardstick: workload.yardstick)
        }
      }
    }
  }

  /// Closes every engine.
  func close() {
    for contestant in contestants { contestant.engine?.close() }
  }
}

/// An engine and what it holds.
private final class Contestant {
  let type: any Engine.Type
  var engine: (any Engine)?
  var holds = Contents.empty

  init(type: any Engine.Type) {
    self.type = type
  }

  /// Brings the engine to what a workload starts with; nothing of this is measured.
  func prepared(
    for start: Contents, _ people: People, _ folder: TemporaryFolder
  ) throws -> any Engine {
    // Write-back of what others left behind must not fall into the measurement.
    defer { sync() }
    if let engine, holds == .people || holds == .changedPeople && start == holds,
      start != .empty
    {
      return engine
    }
    engine?.close()
    engine = nil
    let fresh = type.init(folder: try folder.emptyFolder(type.name))
    try fresh.open()
    if start != .empty, let fresh = fresh as? any BulkAppending { try fresh.append(people) }
    engine = fresh
    return fresh
  }
}
