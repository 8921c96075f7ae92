/// An engine that can find people by name.
protocol Indexing: Engine {
  /// Makes an index of names over all people, in one durable transaction.
  func buildIndex() throws

  /// Counts the people of each name, one name after the other, through the index.
  func indexedCounts(of names: [[UInt8]]) throws -> Int

  /// Adds up the ages of the people of each name, through the index.
  func indexedAges(of names: [[UInt8]]) throws -> Int64

  /// Removes the index. Never measured.
  func dropIndex() throws
}

/// Builds an index and asks it.
struct IndexUse: Workload {
  private let names: [[UInt8]]
  private let expectedCount: Int
  private let expectedAges: Int64

  /// Draws names that there are, and counts by hand.
  init(people: People, seed: UInt64) {
    var counts: [[UInt8]: (count: Int, ages: Int64)] = [:]
    for row in 0..<people.count {
      let person = people[row]
      counts[Array(person.name), default: (0, 0)].count += 1
      counts[Array(person.name), default: (0, 0)].ages += person.age
    }
    var random = RandomBits(seed: seed)
    names = (0..<20_000).map { _ in
      Array(people.name(of: Int.random(in: 0..<people.count, using: &random)))
    }
    expectedCount = names.reduce(0) { $0 + (counts[$1]?.count ?? 0) }
    expectedAges = names.reduce(0) { $0 + (counts[$1]?.ages ?? 0) }
  }

  var id: String { "W6" }
  var title: String { "index of names" }
  var start: Contents { .people }
  var end: Contents { .changedPeople }
  var roundLimit: Int? { 3 }

  func suits(_ engine: any Engine.Type) -> Bool { engine is any Indexing.Type }

  func measure(_ engine: any Engine, round: Int) throws -> [Figure] {
    guard let engine = engine as? any Indexing else { return [] }
    let build = Stopwatch()
    try engine.buildIndex()
    let buildSeconds = build.seconds
    try engine.settle()
    let counts = try Repeated(3) { try engine.indexedCounts(of: names) }
    let ages = try Repeated(3) { try engine.indexedAges(of: names) }
    try WrongAnswer.unless(counts.results.allSatisfy { $0 == expectedCount }, engine, self)
    try WrongAnswer.unless(ages.results.allSatisfy { $0 == expectedAges }, engine, self)
    try engine.dropIndex()
    let perName = 1e9 / Double(names.count)
    return [
      Figure(
        Measure(
          workload: id, variant: "build an index of names, sync inside", unit: "ms",
          isPerRun: true, aims: [.timesBestPeer(2)]), buildSeconds * 1e3),
      Figure(
        Measure(
          workload: id, variant: "indexed equality, count", unit: "ns",
          aims: [.timesBestPeer(1.2)]), counts.seconds * perName),
      Figure(
        Measure(workload: id, variant: "indexed equality, ages of the hits", unit: "ns"),
        ages.seconds * perName),
    ]
  }
}
