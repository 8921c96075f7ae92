import Foundation

/// The figures of the engine without objects, as the last `make bench` left them.
struct EngineFigures {
  private struct Entry: Decodable {
    var workload: String
    var variant: String
    var engine: String
    var median: Double
    var unit: String
    var rows: Int
  }

  private let entries: [Entry]

  /// Reads them from a file; without one there are none.
  init(at url: URL, rows: Int) {
    let data = try? Data(contentsOf: url)
    let all = data.flatMap { try? JSONDecoder().decode([Entry].self, from: $0) } ?? []
    entries = all.filter { $0.engine == "cambium" && $0.rows == rows }
  }

  /// Seconds per operation.
  func seconds(of work: Work) -> Double? {
    guard let line = work.engine else { return nil }
    let entry = entries.first { $0.workload == line.workload && $0.variant == line.variant }
    guard let entry, let unit = Work.Unit(rawValue: entry.unit) else { return nil }
    let perOperation = line.variant == "read age and name of every row" ? Double(entry.rows) : 1
    return entry.median / unit.factor / perOperation
  }
}

/// A finished run, as text and as JSON.
struct CensusTable {
  let lines: [CensusRun.Line]
  let engine: EngineFigures
  let people: Int

  private static let columns = ["Cambium", "actor", "GRDB", "× GRDB", "wanted", "realm", "engine"]

  /// A line for each piece of work, aligned.
  var text: String {
    let head = row("\(people) people, medians", Self.columns, unit: "")
    return ([head] + lines.map(text)).joined(separator: "\n")
  }

  /// The same as a table in Markdown.
  var markdown: String {
    let head =
      "| work, through `Realm` | unit | " + Self.columns.joined(separator: " | ")
      + " |\n| --- | --- |"
      + String(repeating: " ---: |", count: Self.columns.count)
    let body = lines.map { line in
      "| \(line.work.name) | \(line.work.unit.rawValue) | " + cells(line).joined(separator: " | ")
        + " |"
    }
    return ([head] + body).joined(separator: "\n")
  }

  /// An array of all figures.
  func json() throws -> String {
    struct Entry: Encodable {
      var work: String
      var unit: String
      var people: Int
      /// Absent where it only asks.
      var writes: Bool?
      var cambium: Double?
      var actor: Double?
      var grdb: Double?
      var wanted: Double?
      var realmElsewhere: Double?
      var engine: Double?
    }
    let entries = lines.map { line in
      let work = line.work
      return Entry(
        work: work.name, unit: work.unit.rawValue, people: people,
        writes: work.writes ? true : nil,
        cambium: value(line, .thread), actor: value(line, .actor), grdb: value(line, .sqlite),
        wanted: work.wanted, realmElsewhere: work.realm,
        engine: engine.seconds(of: work).map { $0 * work.unit.factor })
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(entries), as: UTF8.self)
  }

  private func value(_ line: CensusRun.Line, _ contender: Contender) -> Double? {
    line.medians[contender].map { $0 * line.work.unit.factor }
  }

  private func cells(_ line: CensusRun.Line) -> [String] {
    let (ours, theirs) = (value(line, .thread), value(line, .sqlite))
    let ratio: Double? = if let ours, let theirs { theirs / ours } else { nil }
    return [
      number(ours), number(value(line, .actor)), number(theirs),
      ratio.map { number($0) + " ×" } ?? "", number(line.work.wanted), number(line.work.realm),
      number(engine.seconds(of: line.work).map { $0 * line.work.unit.factor }),
    ]
  }

  private func text(_ line: CensusRun.Line) -> String {
    row(line.work.name, cells(line), unit: line.work.unit.rawValue)
  }

  private func row(_ name: String, _ cells: [String], unit: String) -> String {
    let padded = cells.map { String(repeating: " ", count: max(0, 10 - $0.count)) + $0 }
    return name.padding(toLength: 68, withPad: " ", startingAt: 0)
      + unit.padding(toLength: 3, withPad: " ", startingAt: 0) + padded.joined()
  }

  /// Three digits that count.
  private func number(_ value: Double?) -> String {
    guard let value else { return "" }
    return switch abs(value) {
    case 100...: String(format: "%.0f", value)
    case 10..<100: String(format: "%.1f", value)
    default: String(format: "%.2f", value)
    }
  }
}
