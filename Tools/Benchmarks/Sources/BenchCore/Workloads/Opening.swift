import Foundation

/// Opens a closed database and reads one name.
struct Opening: Workload {
  let people: People
  let folder: TemporaryFolder
  let seed: UInt64

  var id: String { "W11" }
  var title: String { "open and read" }
  var start: Contents { .changedPeople }
  var end: Contents { .changedPeople }

  func suits(_ engine: any Engine.Type) -> Bool {
    engine is any PointReading.Type && engine is any SmallCommitting.Type
  }

  func measure(_ engine: any Engine, round: Int) throws -> [Figure] {
    guard let engine = engine as? any PointReading else { return [] }
    var random = RandomBits(seed: seed &+ UInt64(round))
    // The round before has left what a killed writer leaves, which each opening looks through until
    // somebody writes.
    if let writing = engine as? any SmallCommitting {
      try writing.commit([AgeChange(key: 0, age: 30)], isDurable: true)
    }
    engine.close()
    let clean = try (0..<10).map { _ in
      let milliseconds = try timed(engine, &random)
      engine.close()
      return milliseconds
    }
    let killed = try (0..<3).map { _ in
      try Victim.killWriter(of: type(of: engine).name, in: folder, rows: people.count)
      let milliseconds = try timed(engine, &random)
      engine.close()
      return milliseconds
    }
    try engine.open()
    return [
      Figure(
        Measure(
          workload: id, variant: "open and read a name, warm", unit: "ms", aims: [.limit(0.2)]),
        clean.quantile(0.5)),
      Figure(
        Measure(
          workload: id, variant: "the same after kill -9 of a writer", unit: "ms",
          aims: [.limit(5)]), killed.quantile(0.5)),
    ]
  }

  /// The milliseconds from nothing to a name.
  private func timed(
    _ engine: any PointReading, _ random: inout RandomBits
  ) throws -> Double {
    let row = Int.random(in: 0..<people.count, using: &random)
    var expected = NameDigest()
    expected.add(people.name(of: row))
    let stopwatch = Stopwatch()
    try engine.open()
    let digest = try engine.readNames(of: [Int64(row)])
    let milliseconds = stopwatch.seconds * 1e3
    try WrongAnswer.unless(digest == expected, engine, self)
    return milliseconds
  }
}
