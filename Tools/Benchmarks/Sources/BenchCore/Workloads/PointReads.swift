/// An engine that can find one record.
protocol PointReading: Engine {
  /// Reads the name of each person in `keys`, one by one, within one snapshot.
  func readNames(of keys: [Int64]) throws -> NameDigest

  /// The same, making a `String` of each name.
  func readStrings(of keys: [Int64]) throws -> NameDigest

  /// Reads the age of each person in `keys`; -1 where there is none. Never measured.
  func readAges(of keys: [Int64]) throws -> [Int64]
}

/// Reads the name of single people by key, in a seeded random order.
struct PointReads: Workload {
  private let keys: [Int64]
  private let expected: NameDigest
  private let hasRandomKeys: Bool

  /// Draws as many keys as there are people.
  init(people: People, seed: UInt64, hasRandomKeys: Bool) {
    var random = RandomBits(seed: seed)
    var digest = NameDigest()
    let mixed = hasRandomKeys ? LoadOrder.randomKeys(ofRows: people.count) : []
    keys = (0..<people.count).map { _ in
      let row = Int.random(in: 0..<people.count, using: &random)
      digest.add(people.name(of: row))
      return hasRandomKeys ? mixed[row] : Int64(row)
    }
    expected = digest
    self.hasRandomKeys = hasRandomKeys
  }

  var id: String { "W3" }
  var title: String { hasRandomKeys ? "point reads, random keys" : "point reads" }
  var start: Contents { hasRandomKeys ? .randomKeys : .people }
  var end: Contents { start }

  func suits(_ engine: any Engine.Type) -> Bool { engine is any PointReading.Type }

  func measure(_ engine: any Engine, round: Int) throws -> [Figure] {
    guard let engine = engine as? any PointReading else { return [] }
    let bytes = try timed(engine) { try engine.readNames(of: keys) }
    let kind = hasRandomKeys ? "random keys" : "dense keys"
    var figures = [
      Figure(
        Measure(
          workload: id, variant: "name by key, \(kind)", unit: "ns",
          aims: [.timesBestPeer(hasRandomKeys ? 1.5 : 5)]), bytes)
    ]
    if !hasRandomKeys {
      let strings = try timed(engine) { try engine.readStrings(of: keys) }
      figures.append(
        Figure(
          Measure(
            workload: id, variant: "name by key, as a String", unit: "ns",
            aims: [.timesBestPeer(1.5)]), strings))
    }
    return figures
  }

  /// Nanoseconds per read.
  private func timed(_ engine: any Engine, _ read: () throws -> NameDigest) throws -> Double {
    let stopwatch = Stopwatch()
    let digest = try read()
    let nanoseconds = stopwatch.seconds * 1e9 / Double(keys.count)
    try WrongAnswer.unless(digest == expected, engine, self)
    return nanoseconds
  }
}
