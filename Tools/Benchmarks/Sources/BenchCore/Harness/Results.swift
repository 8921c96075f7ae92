import Foundation

/// The figures of all rounds.
struct Results {
  /// One measure at one number of rows, with the values of every engine that gave it.
  struct Line {
    var measure: Measure
    var rows: Int
    fileprivate(set) var values: [(engine: String, rounds: [Double])] = []

    func median(of engine: String) -> Double? {
      values.first { $0.engine == engine }?.rounds.quantile(0.5)
    }
  }

  /// An element of the array that `--json` prints.
  private struct Entry: Encodable {
    var workload: String
    var variant: String
    var engine: String
    var median: Double
    var unit: String
    var rows: Int
    /// What pictures have to know of the measure; absent for what is false.
    var isRate: Bool?
    var isPerRun: Bool?
  }

  /// The engine the aims are for.
  static let subject = CambiumEngine.name
  /// The databases it is compared with.
  static let peers = [LMDBEngine.name, RocksDBEngine.name, SQLiteEngine.name]
  /// Everybody, in the order of the columns.
  static let engines = [FloorEngine.name] + peers + [subject]

  private(set) var lines: [Line] = []

  /// Adds what one engine did in one round.
  mutating func add(_ figure: Figure, engine: String, rows: Int) {
    let line =
      lines.firstIndex { $0.measure == figure.measure && $0.rows == rows }
      ?? {
        lines.append(Line(measure: figure.measure, rows: rows))
        return lines.count - 1
      }()
    if let column = lines[line].values.firstIndex(where: { $0.engine == engine }) {
      lines[line].values[column].rounds.append(figure.value)
    } else {
      lines[line].values.append((engine, [figure.value]))
    }
  }

  /// Sorts the lines by workload, and within one as they came.
  mutating func sort() {
    let order = lines.enumerated().sorted {
      (number($0.element), $0.offset) < (number($1.element), $1.offset)
    }
    lines = order.map(\.element)
  }

  private func number(_ line: Line) -> Int { Int(line.measure.workload.dropFirst()) ?? 0 }

  /// The medians as a JSON array.
  func json() throws -> String {
    let entries = lines.flatMap { line in
      Self.engines.compactMap { engine in
        line.median(of: engine).map {
          Entry(
            workload: line.measure.workload, variant: line.measure.variant, engine: engine,
            median: $0, unit: line.measure.unit, rows: line.rows,
            isRate: line.measure.isRate ? true : nil,
            isPerRun: line.measure.isPerRun ? true : nil)
        }
      }
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return String(decoding: try encoder.encode(entries), as: UTF8.self)
  }
}
