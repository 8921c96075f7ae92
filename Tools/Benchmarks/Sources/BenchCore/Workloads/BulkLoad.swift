import CambiumCore

/// An engine that can take all people at once.
protocol BulkLoading: Engine {
  /// Puts all people into an empty database, in one durable transaction.
  func load(_ people: People, _ order: LoadOrder) throws
}

/// Inserts every record in one durable transaction; the sync is inside.
struct BulkLoad: Workload {
  let people: People
  let order: LoadOrder

  var id: String { "W1" }
  var title: String { order.isAscending ? "bulk insert" : "bulk insert, shuffled" }
  var start: Contents { .empty }
  var end: Contents { order.isAscending ? .people : .changedPeople }

  /// The configured budget of a transaction and 64 MiB, in megabytes.
  private static var memoryLimit: Double {
    Double(DatabaseOptions().transactionBudgetByteCount + (64 << 20)) / 1e6
  }

  func suits(_ engine: any Engine.Type) -> Bool {
    engine is any BulkLoading.Type && engine != FloorEngine.self
  }

  func measure(_ engine: any Engine, round: Int) throws -> [Figure] {
    guard let engine = engine as? any BulkLoading else { return [] }
    var seconds = 0.0
    let bytes = try MemoryMeter.peak {
      let stopwatch = Stopwatch()
      try engine.load(people, order)
      seconds = stopwatch.seconds
    }
    if let reading = engine as? any PointReading {
      let digest = try reading.readNames(of: people.sampleKeys)
      try WrongAnswer.unless(digest == people.sampleDigest, engine, self)
    }
    let variant = order.isAscending ? "insert in key order" : "insert shuffled"
    var figures = [
      Figure(
        Measure(
          workload: id, variant: "\(variant), sync inside", unit: "ms", isPerRun: true,
          aims: [.timesBestPeer(order.isAscending ? 2.5 : 4)]), seconds * 1e3)
    ]
    if let bytes {
      figures.append(
        Figure(
          Measure(
            workload: id, variant: "\(variant), memory taken", unit: "MB", isPerRun: true,
            aims: [.limit(Self.memoryLimit)]), Double(bytes) / 1e6))
    }
    return figures
  }
}
