/// An engine that can change every record.
protocol ColumnUpdating: Engine {
  /// Makes everybody a year older, 99 becoming 0, in one transaction that nobody waits for.
  func addYear() throws
}

/// Changes one integer of every row in one transaction; the sync is outside.
struct ColumnUpdate: Workload {
  let people: People

  var id: String { "W8" }
  var title: String { "update a column of every row" }
  var start: Contents { .people }
  var end: Contents { .changedPeople }
  var roundLimit: Int? { 3 }

  func suits(_ engine: any Engine.Type) -> Bool { engine is any ColumnUpdating.Type }

  func measure(_ engine: any Engine, round: Int) throws -> [Figure] {
    guard let engine = engine as? any ColumnUpdating & ColumnScanning else { return [] }
    let stopwatch = Stopwatch()
    try engine.addYear()
    let seconds = stopwatch.seconds
    for ages in [0..<1, 30..<40, 99..<100] as [Range<Int64>] {
      let before = (ages.lowerBound + 99) % 100
      let expected = people.count(ofAgesIn: before..<before + Int64(ages.count))
      try WrongAnswer.unless(try engine.count(ofAgesIn: ages) == expected, engine, self)
    }
    return [
      Figure(
        Measure(
          workload: id, variant: "update one Int of every row", unit: "ms", isPerRun: true,
          aims: [.timesBestPeer(3)]), seconds * 1e3)
    ]
  }
}
