/// An engine that can sort people, or be read for sorting.
protocol Sorting: Engine {
  /// The keys of all people by age and name.
  func sortedKeys() throws -> [Int64]

  /// The keys of the first people by age and name.
  func firstKeys(_ count: Int) throws -> [Int64]

  /// Reads the age and the name of everybody, in key order.
  func readAgesAndNames() throws -> (ages: Int64, names: NameDigest)
}

/// Sorts by two columns, and reads two columns.
struct SortedReads: Workload {
  private let people: People
  private let expected: [Int64]
  private let expectedAges: Int64
  private let expectedNames: NameDigest
  private static let limit = 100

  /// Sorts once.
  init(people: People) {
    self.people = people
    var sorter = NameSorter(capacity: people.count, hasAges: true)
    var (ages, names): (Int64, NameDigest) = (0, NameDigest())
    for row in 0..<people.count {
      let person = people[row]
      sorter.add(person.id, age: person.age, person.name)
      ages += person.age
      names.add(person.name)
    }
    sorter.sort()
    var keys: [Int64] = []
    sorter.forEach { key, _ in keys.append(key) }
    (expected, expectedAges, expectedNames) = (keys, ages, names)
  }

  var id: String { "W7" }
  var title: String { "sort and read two columns" }
  var start: Contents { .people }
  var end: Contents { .people }

  func suits(_ engine: any Engine.Type) -> Bool { engine is any Sorting.Type }

  func measure(_ engine: any Engine, round: Int) throws -> [Figure] {
    guard let engine = engine as? any Sorting else { return [] }
    let sorted = try Repeated(1) { try engine.sortedKeys() }
    let first = try Repeated(3) { try engine.firstKeys(Self.limit) }
    let read = try Repeated(3) { try engine.readAgesAndNames() }
    try WrongAnswer.unless(sorted.results.allSatisfy { $0 == expected }, engine, self)
    let expectedFirst = Array(expected.prefix(Self.limit))
    try WrongAnswer.unless(first.results.allSatisfy { $0 == expectedFirst }, engine, self)
    try WrongAnswer.unless(
      read.results.allSatisfy { $0.ages == expectedAges && $0.names == expectedNames }, engine,
      self)
    return [
      Figure(
        Measure(
          workload: id, variant: "sort by age and name", unit: "ms", isPerRun: true,
          aims: [.timesBestPeer(5)]), sorted.seconds * 1e3),
      Figure(
        Measure(
          workload: id, variant: "first 100 by age and name", unit: "ms", isPerRun: true,
          aims: [.timesBestPeer(20)]), first.seconds * 1e3),
      Figure(
        Measure(
          workload: id, variant: "read age and name of every row", unit: "ms", isPerRun: true,
          aims: [.timesBestPeer(2)]), read.seconds * 1e3),
    ]
  }
}
