import Foundation

/// Results as benchmarks keep them.
enum Recorded {
  /// A line of `objects.json`.
  struct Work: Decodable {
    var work: String
    var unit: String
    var people: Int
    /// Whether it changes something.
    var writes: Bool?
    var cambium: Double?
    var grdb: Double?
  }

  /// An entry of `latest.json` and `growth.json`.
  struct Figure: Decodable {
    var workload: String
    var variant: String
    var engine: String
    var median: Double
    var unit: String
    var rows: Int
    /// Whether more is better.
    var isRate: Bool?
    /// Whether the value is of all rows together.
    var isPerRun: Bool?

    /// Seconds, for a record where the value is of all of them; nil for what is no time.
    var seconds: Double? {
      Recorded.seconds(median, unit).map { isPerRun == true ? $0 / Double(rows) : $0 }
    }
  }

  /// A line of `sizes.json`.
  struct Size: Decodable {
    var name: String
    var bytes: Int
    var flights: Int
  }

  /// What a value is in seconds; nil for what is no time.
  static func seconds(_ value: Double, _ unit: String) -> Double? {
    let factors = ["s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9]
    return factors[unit].map { value * $0 }
  }

  /// The elements of the array in a file; nil where there is no file.
  static func elements<Element: Decodable>(
    _ type: Element.Type, _ name: String, in folder: URL
  ) throws -> [Element]? {
    let url = folder.appending(path: name)
    guard FileManager.default.fileExists(atPath: url.path) else { return nil }
    return try JSONDecoder().decode([Element].self, from: Data(contentsOf: url))
  }
}
