/// An engine that can remove many records.
protocol Deleting: Engine {
  /// Removes the people with odd keys, in one durable transaction.
  func removeOddKeys() throws

  /// Removes the people with these keys, which ascend, in one durable transaction.
  func remove(_ keys: [Int64]) throws

  /// How much of the file the engine can fill again without making it longer, from 0 to 1; nil for
  /// engines whose files are never filled again.
  func reusableShare() throws -> Double?

  /// Makes the files as small as they can be, as copies or in place; returns their bytes.
  func compactedByteCount() throws -> Int
}

/// Removes many rows, and looks at what that leaves of the files.
struct Deletion: Workload {
  /// Which rows go.
  enum Part {
    /// Every second one.
    case everySecond
    /// Four of five, drawn at random.
    case fourFifths
  }

  let people: People
  let part: Part
  let folder: TemporaryFolder
  private let removed: [Int64]
  private let leftNames: NameDigest
  private let leftKeys: [Int64]
  private let leftScore: Double

  /// Draws the rows and finds out what stays.
  init(people: People, part: Part, folder: TemporaryFolder, seed: UInt64) {
    self.people = people
    self.part = part
    self.folder = folder
    var random = RandomBits(seed: seed)
    var (removed, leftKeys): ([Int64], [Int64]) = ([], [])
    var (leftNames, leftScore) = (NameDigest(), 0.0)
    for row in 0..<people.count {
      let goes = part == .everySecond ? row % 2 == 1 : Int.random(in: 0..<5, using: &random) < 4
      if goes {
        removed.append(Int64(row))
      } else {
        leftNames.add(people.name(of: row))
        leftKeys.append(Int64(row))
        leftScore += people[row].score
      }
    }
    (self.removed, self.leftKeys) = (removed, leftKeys)
    (self.leftNames, self.leftScore) = (leftNames, leftScore)
  }

  var id: String { "W9" }
  var title: String { part == .everySecond ? "delete every second row" : "delete 80 %" }
  var start: Contents { .people }
  var end: Contents { .changedPeople }
  var roundLimit: Int? { 3 }

  func suits(_ engine: any Engine.Type) -> Bool { engine is any Deleting.Type }

  func measure(_ engine: any Engine, round: Int) throws -> [Figure] {
    guard let engine = engine as? any Deleting & PointReading & ColumnScanning else { return [] }
    let before = try folder.byteCount(of: type(of: engine).name)
    let stopwatch = Stopwatch()
    switch part {
    case .everySecond: try engine.removeOddKeys()
    case .fourFifths: try engine.remove(removed)
    }
    let seconds = stopwatch.seconds
    try check(engine)
    let name = part == .everySecond ? "delete every second row" : "delete a random 80 %"
    var figures = [
      Figure(
        Measure(
          workload: id, variant: "\(name), sync inside", unit: "ms", isPerRun: true,
          aims: part == .everySecond ? [.timesBestPeer(4)] : []), seconds * 1e3)
    ]
    switch part {
    case .everySecond:
      try engine.settle()
      let after = try folder.byteCount(of: type(of: engine).name)
      let compacted = try engine.compactedByteCount()
      figures += [
        Figure(
          Measure(
            workload: id, variant: "compacted after that, of the file before", unit: "%",
            aims: [.limit(51)]), Double(compacted) / Double(before) * 100),
        Figure(
          Measure(workload: "W12", variant: "files after deleting every second row", unit: "MB"),
          Double(after) / 1e6),
        Figure(
          Measure(workload: "W12", variant: "those, compacted", unit: "MB"),
          Double(compacted) / 1e6),
      ]
    case .fourFifths:
      if let share = try engine.reusableShare() {
        figures.append(
          Figure(
            Measure(
              workload: id, variant: "\(name): share of the file that is free", unit: "%",
              isRate: true, aims: [.limit(70)]), share * 100))
      }
    }
    return figures
  }

  private func check(_ engine: any Deleting & PointReading & ColumnScanning) throws {
    try WrongAnswer.unless(try engine.readNames(of: leftKeys) == leftNames, engine, self)
    let gone = removed.isEmpty ? [] : [removed[0], removed[removed.count - 1]]
    try WrongAnswer.unless(try engine.readAges(of: gone).allSatisfy { $0 == -1 }, engine, self)
    let sum = try engine.sumOfScores()
    try WrongAnswer.unless(abs(sum - leftScore) <= leftScore * 1e-9, engine, self)
  }
}
