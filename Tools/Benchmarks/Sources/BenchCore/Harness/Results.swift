import Foundation

/// The figures of all rounds.
struct Results {
  /// One figure's name, with the values of every engine that gave it.
  private struct Line {
    var name: String
    var unit: String
    var yardstick: Yardstick
    var values: [(engine: String, rounds: [Double])] = []

    func median(of engine: String) -> Double? {
      values.first { $0.engine == engine }?.rounds.quantile(0.5)
    }
  }

  /// An element of the array that `--json` prints.
  private struct Entry: Encodable {
    var workload: String
    var engine: String
    var median: Double
    var unit: String
  }

  private var lines: [Line] = []

  /// Adds what one engine did in one round.
  mutating func add(_ figure: Figure, engine: String, yardstick: Yardstick) {
    let line =
      lines.firstIndex { $0.name == figure.name }
      ?? {
        lines.append(Line(name: figure.name, unit: figure.unit, yardstick: yardstick))
        return lines.count - 1
      }()
    if let column = lines[line].values.firstIndex(where: { $0.engine == engine }) {
      lines[line].values[column].rounds.append(figure.value)
    } else {
      lines[line].values.append((engine, [figure.value]))
    }
  }

  /// The medians as a JSON array, engines in the given order.
  func json(engines: [String]) throws -> String {
    let entries = lines.flatMap { line in
      engines.compactMap { engine in
        line.median(of: engine).map {
          Entry(workload: line.name, engine: engine, median: $0, unit: line.unit)
        }
      }
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return String(decoding: try encoder.encode(entries), as: UTF8.self)
  }

  /// The medians as a table, with what they say about `subject`.
  func table(engines: [String], subject: String) -> String {
    var rows = [["workload", "unit"] + engines + [subject + " is"]]
    for line in lines {
      let medians = engines.map { line.median(of: $0).map(Self.format) ?? "–" }
      rows.append([line.name, line.unit] + medians + [verdict(line, subject)])
    }
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.enumerated().map { index, row in
      let cells = row.indices.map { column in
        let padding = String(repeating: " ", count: widths[column] - row[column].count)
        let isText = column < 2 || column == row.count - 1
        return isText ? row[column] + padding : padding + row[column]
      }
      let text = "| " + cells.joined(separator: " | ") + " |"
      guard index == 0 else { return text }
      return text + "\n|" + widths.map { String(repeating: "-", count: $0 + 2) + "|" }.joined()
    }.joined(separator: "\n")
  }

  private func verdict(_ line: Line, _ subject: String) -> String {
    guard let own = line.median(of: subject), own > 0 else { return "–" }
    switch line.yardstick {
    case .engine(let name):
      guard let other = line.median(of: name) else { return "–" }
      return Self.format(other / own) + " × as fast as " + name
    case .floor(let name):
      guard let other = line.median(of: name), other > 0 else { return "–" }
      return Self.format(own / other) + " × the " + name
    }
  }

  private static func format(_ value: Double) -> String {
    String(format: value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value)
  }
}
