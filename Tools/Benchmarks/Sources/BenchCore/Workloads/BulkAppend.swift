/// An engine that can take all people at once.
protocol BulkAppending: Engine {
  /// Appends all people to an empty database, in key order, in one durable transaction.
  func append(_ people: People) throws
}

/// Appends every record in one durable transaction; the sync is inside.
struct BulkAppend: Workload {
  let people: People

  var name: String { "bulk-append" }
  var start: Contents { .empty }
  var end: Contents { .people }
  var yardstick: Yardstick { .engine(LMDBEngine.name) }

  func suits(_ engine: any Engine.Type) -> Bool { engine is any BulkAppending.Type }

  func measure(_ engine: any Engine, round: Int) throws -> [Figure] {
    guard let engine = engine as? any BulkAppending else { return [] }
    let stopwatch = Stopwatch()
    try engine.append(people)
    return [Figure(name: name, value: stopwatch.seconds * 1e3, unit: "ms")]
  }
}
