import Foundation

/// The file at one moment; all sizes are in bytes.
struct Sample: Codable {
  var commit: Int
  /// The length of the file.
  var file: Int
  /// What the newest version reaches.
  var reachable: Int
  /// What pinned versions and the last durable one hold besides.
  var held: Int
  /// What each pin alone holds, added up.
  var alone: Int
  /// What the next commits can use.
  var free: Int
  var pins: Int
  /// What the file may take.
  var bound: Int

  /// The last durable version may hold so much.
  static let durableByteCount = 16 << 20

  var line: String {
    func megabytes(_ count: Int) -> String { String(format: "%9.1f", Double(count) / 1e6) }
    return "\(String(format: "%9d", commit)) commits: file \(megabytes(file)) MB, "
      + "bound \(megabytes(bound)), reachable \(megabytes(reachable)), "
      + "held \(megabytes(held)), alone \(megabytes(alone)), free \(megabytes(free)), \(pins) pins"
  }
}

/// What became of a situation.
struct Report: Encodable {
  var situation: Situation
  var rows: Int
  var samples: [Sample]
  var microsecondsPerCommit: Double

  /// Whether the file never took more than it may, and does not go on growing.
  var isWithin: Bool { samples.allSatisfy { $0.file <= $0.bound } && trend <= Self.largestTrend }
  /// The file is given back and taken in steps, and where one falls is chance.
  private static let largestTrend = 0.05

  /// By which share of the bound the file grew in the second half, what the bound grew by aside.
  var trend: Double {
    let half = samples.suffix(samples.count / 2)
    guard let first = half.first, let last = half.last else { return 0 }
    let growth = (last.file - last.bound) - (first.file - first.bound)
    return Double(growth) / Double(first.bound)
  }

  private enum CodingKeys: CodingKey {
    case situation, rows, samples, microsecondsPerCommit, isWithin, trend
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(situation, forKey: .situation)
    try container.encode(rows, forKey: .rows)
    try container.encode(samples, forKey: .samples)
    try container.encode(microsecondsPerCommit, forKey: .microsecondsPerCommit)
    try container.encode(isWithin, forKey: .isWithin)
    try container.encode(trend, forKey: .trend)
  }

  var line: String {
    let peak = samples.map { Double($0.file) / Double($0.bound) }.max() ?? 0
    return "\(situation.rawValue): \(isWithin ? "within" : "PAST") the bound, at most "
      + String(format: "%.0f %% of it", peak * 100)
      + String(format: ", trend of the second half %+.1f %%", trend * 100)
      + String(format: ", %.1f µs per commit", microsecondsPerCommit)
  }
}
