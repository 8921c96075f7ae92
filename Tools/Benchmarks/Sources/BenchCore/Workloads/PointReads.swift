/// An engine that can find one record.
protocol PointReading: Engine {
  /// Reads the name of each person in `keys`, one by one, within one snapshot.
  func readNames(of keys: [Int64]) throws -> NameDigest
}

/// Reads the name of single people by key, in a seeded random order.
struct PointReads: Workload {
  private let keys: [Int64]
  private let expected: NameDigest

  /// Draws as many keys as there are people.
  init(people: People, seed: UInt64) {
    var random = RandomBits(seed: seed)
    var digest = NameDigest()
    keys = (0..<people.count).map { _ in
      let row = Int.random(in: 0..<people.count, using: &random)
      digest.add(people.name(of: row))
      return Int64(row)
    }
    expected = digest
  }

  var name: String { "point-read" }
  var start: Contents { .people }
  var end: Contents { .people }
  var yardstick: Yardstick { .engine(LMDBEngine.name) }

  func suits(_ engine: any Engine.Type) -> Bool { engine is any PointReading.Type }

  func measure(_ engine: any Engine, round: Int) throws -> [Figure] {
    guard let engine = engine as? any PointReading else { return [] }
    let stopwatch = Stopwatch()
    let digest = try engine.readNames(of: keys)
    let nanoseconds = stopwatch.seconds * 1e9 / Double(keys.count)
    try WrongAnswer.unless(digest == expected, engine, self)
    return [Figure(name: name, value: nanoseconds, unit: "ns")]
  }
}
