/// An engine that can look at every name.
protocol TextScanning: Engine {
  /// Counts the people of this name, without an index.
  func count(named name: [UInt8]) throws -> Int

  /// Counts the people whose name contains these bytes.
  func count(nameContaining part: [UInt8]) throws -> Int
}

/// Scans the column of names.
struct TextScans: Workload {
  private let name: [UInt8]
  private let part = Array("ab".utf8)
  private let expectedNamed: Int
  private let expectedContaining: Int

  /// Finds the right answers first.
  init(people: People) {
    let name = Array(people.name(of: people.count / 2))
    let part = part
    self.name = name
    expectedNamed = (0..<people.count).count { people.name(of: $0).elementsEqual(name) }
    expectedContaining = (0..<people.count).count { row in
      let bytes = people.name(of: row)
      return bytes.indices.dropLast().contains {
        bytes[$0] == part[0] && bytes[$0 + 1] == part[1]
      }
    }
  }

  var id: String { "W5" }
  var title: String { "scans of text" }
  var start: Contents { .people }
  var end: Contents { .people }

  func suits(_ engine: any Engine.Type) -> Bool { engine is any TextScanning.Type }

  func measure(_ engine: any Engine, round: Int) throws -> [Figure] {
    guard let engine = engine as? any TextScanning else { return [] }
    let named = try Repeated(3) { try engine.count(named: name) }
    let containing = try Repeated(3) { try engine.count(nameContaining: part) }
    try WrongAnswer.unless(named.results.allSatisfy { $0 == expectedNamed }, engine, self)
    try WrongAnswer.unless(
      containing.results.allSatisfy { $0 == expectedContaining }, engine, self)
    return [
      Figure(
        Measure(
          workload: id, variant: "count name == X, no index", unit: "ms", isPerRun: true,
          aims: [.timesBestPeer(8)]), named.seconds * 1e3),
      Figure(
        Measure(
          workload: id, variant: "count name contains \"ab\"", unit: "ms", isPerRun: true,
          aims: [.timesBestPeer(6)]), containing.seconds * 1e3),
    ]
  }
}
