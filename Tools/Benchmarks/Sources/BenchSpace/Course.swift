import CambiumCore
import CambiumFile
import Foundation

/// One situation from the first row to the last commit.
struct Course {
  private static let table = "Person"
  private static let sampleCount = 20

  private let situation: Situation
  private let path: String
  private let rowCount: Int
  private let commitCount: Int
  private let pinCount: Int
  private var database: Database
  private var random = RandomBits(state: 4711)
  private var snapshots: [Snapshot] = []
  private var holder: Holder?
  /// The largest bound so far: what was taken rightly is given back only little by little.
  private var largestBound = 0

  init(
    _ situation: Situation, folder: String, rowCount: Int, commitCount: Int, pinCount: Int
  ) throws {
    self.situation = situation
    self.rowCount = rowCount
    self.commitCount = commitCount
    self.pinCount = pinCount
    path = folder + "/\(situation.rawValue).cambium"
    database = try Self.open(path)
  }

  private static func open(_ path: String) throws -> Database {
    try Database(store: FileStore(path: path))
  }

  mutating func run(_ show: (Sample) -> Void) throws -> Report {
    try load()
    switch situation {
    case .one: snapshots.append(try database.snapshot())
    case .process, .reopen: holder = try Holder(path)
    case .none, .staggered: break
    }
    defer { holder?.release() }
    let step = max(1, commitCount / Self.sampleCount)
    var report = Report(situation: situation, rows: rowCount, samples: [], microsecondsPerCommit: 0)
    var elapsed = 0.0
    for start in stride(from: 0, to: commitCount, by: step) {
      let clock = ContinuousClock()
      let time = try clock.measure {
        for commit in start..<min(commitCount, start + step) { try change(commit) }
      }
      elapsed += Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
      let sample = try sample(start + step)
      show(sample)
      report.samples.append(sample)
      if situation == .reopen {
        try database.close()
        database = try Self.open(path)
      }
    }
    report.microsecondsPerCommit = elapsed * 1e6 / Double(commitCount)
    snapshots = []
    try database.close()
    try FileManager.default.removeItem(atPath: path)
    return report
  }

  private mutating func load() throws {
    let transaction = try database.beginWrite()
    let editor = try transaction.createTable(
      Self.table,
      columns: [
        ColumnDescriptor(type: .bytes, isNullable: false, name: "name"),
        ColumnDescriptor(type: .int, isNullable: false, name: "age"),
        ColumnDescriptor(type: .double, isNullable: false, name: "score"),
      ])
    for row in 0..<rowCount {
      let name = Array("\(random.next() % 10_000_000_000)".utf8)
      try name.withUnsafeBytes { name in
        _ = try editor.insert(
          key: Int64(row),
          values: [(1, .bytes(name)), (2, .int(Int64(row % 100))), (3, .double(Double(row)))])
      }
    }
    _ = try transaction.commit()
  }

  private mutating func change(_ commit: Int) throws {
    if situation == .staggered { try changePins(commit) }
    let transaction = try database.beginWrite(expecting: .relaxed)
    guard let editor = try transaction.editTable(Self.table) else { return }
    let key = Int64(random.next() % UInt64(rowCount))
    try editor.update(key: key, column: 2, value: .int(Int64(random.next() % 100)))
    _ = try transaction.commit(durability: .relaxed)
  }

  /// Pins a version now and then in the first half; then lets them go one by one, and is done well
  /// before the end.
  private mutating func changePins(_ commit: Int) throws {
    let half = commitCount / 2
    let distance = max(1, min(1000, half / pinCount))
    if commit < half {
      if commit % distance == 0, snapshots.count < pinCount {
        snapshots.append(try database.snapshot())
      }
    } else if (commit - half) % max(1, commitCount / 3 / pinCount) == 0, !snapshots.isEmpty {
      snapshots.remove(at: Int(random.next() % UInt64(snapshots.count)))
    }
  }

  private mutating func sample(_ commit: Int) throws -> Sample {
    // The snapshot of the last commit is held by nobody here.
    let report = try database.verify()
    if let finding = report.findings.first { throw Finding(description: finding) }
    let statistics = try database.statistics()
    let alone = statistics.exclusiveByteCounts.values.reduce(0, +)
    // What several versions hold together is in what waits, and in nobody's share.
    let held = situation == .staggered ? statistics.pendingByteCount : alone
    let bound =
      report.reachableByteCount + held + Sample.durableByteCount
      + max(1 << 20, (report.reachableByteCount + held) / 10)
    largestBound = max(largestBound, bound)
    return Sample(
      commit: commit, file: statistics.totalByteCount, reachable: report.reachableByteCount,
      held: statistics.pendingByteCount, alone: alone, free: statistics.freeByteCount,
      pins: statistics.pinnedVersions.count,
      bound: snapshots.count > 0 && situation == .staggered ? largestBound : bound)
  }
}

/// The store contradicts itself.
struct Finding: Error, CustomStringConvertible {
  var description: String
}

/// Pseudo-random bits (SplitMix64).
struct RandomBits {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
    bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
    return bits ^ (bits >> 31)
  }
}
