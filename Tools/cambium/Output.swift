import Foundation

/// How results reach people and programs.
enum Output {
  /// Prints `value` as JSON with sorted keys.
  static func json(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    print(String(decoding: try encoder.encode(value), as: UTF8.self))
  }

  /// Prints one line on standard error.
  static func error(_ message: String) { write("cambium: \(message)\n") }

  /// Writes on standard error as it is.
  static func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }

  /// A number of bytes with a unit that people like.
  static func bytes(_ count: Int) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
    var value = Double(count)
    var unit = 0
    while value >= 1024, unit < units.count - 1 {
      value /= 1024
      unit += 1
    }
    return unit == 0 ? "\(count) bytes" : String(format: "%.1f %@", value, units[unit] as NSString)
  }

  /// Prints rows in columns; the first row is the heading, numbers stand to the right.
  static func table(_ rows: [[String]], indent: String = "  ") {
    guard let heading = rows.first else { return }
    var widths = heading.map(\.count)
    for row in rows {
      for (index, cell) in row.enumerated() { widths[index] = max(widths[index], cell.count) }
    }
    for row in rows {
      var line = indent
      for (index, cell) in row.enumerated() {
        let padding = String(repeating: " ", count: widths[index] - cell.count)
        let isNumber = cell.first?.isNumber ?? false
        line += isNumber ? padding + cell : cell + padding
        line += "  "
      }
      while line.last == " " { line.removeLast() }
      print(line)
    }
  }
}
