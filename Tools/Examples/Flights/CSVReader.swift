import Foundation

/// Reads comma-separated lines without quotes, a row at a time, straight from the bytes.
struct CSVReader {
  private let bytes: [UInt8]
  private var position: Int
  private var fields: [Range<Int>] = []
  private let columns: [String: Int]

  /// Reads the header line; the first row comes with ``next()``.
  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    position = 0
    var names: [String: Int] = [:]
    let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
    let header = String(decoding: bytes[..<end], as: UTF8.self)
    for (index, name) in header.split(separator: ",").enumerated() { names[String(name)] = index }
    columns = names
    position = min(end + 1, bytes.count)
  }

  /// How much has been read, from 0 to 1.
  var progress: Double { bytes.isEmpty ? 1 : Double(position) / Double(bytes.count) }

  /// The place of a column in each row; stops when the file has no such column.
  func column(_ name: String) -> Int {
    guard let index = columns[name] else {
      preconditionFailure(
        "The file has no column '\(name)'; its columns are \(columns.keys.sorted()).")
    }
    return index
  }

  /// Goes to the next row; false at the end.
  mutating func next() -> Bool {
    fields.removeAll(keepingCapacity: true)
    guard position < bytes.count else { return false }
    var start = position
    while position < bytes.count {
      let byte = bytes[position]
      if byte == UInt8(ascii: ",") {
        fields.append(start..<position)
        start = position + 1
      } else if byte == UInt8(ascii: "\n") {
        break
      }
      position += 1
    }
    fields.append(start..<position)
    position += 1
    return true
  }

  private func isMissing(_ range: Range<Int>) -> Bool {
    range.count == 2 && bytes[range.lowerBound] == UInt8(ascii: "N")
      && bytes[range.lowerBound + 1] == UInt8(ascii: "A")
  }

  /// The field's text; nil for NA.
  func text(_ column: Int) -> String? {
    let range = fields[column]
    return isMissing(range) ? nil : String(decoding: bytes[range], as: UTF8.self)
  }

  /// The field as a whole number; nil for NA and for what is none.
  func integer(_ column: Int) -> Int? {
    var value = 0
    var isNegative = false
    let range = fields[column]
    guard !range.isEmpty else { return nil }
    for index in range {
      let byte = bytes[index]
      if byte == UInt8(ascii: "-"), index == range.lowerBound {
        isNegative = true
      } else if byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
        value = value * 10 + Int(byte - UInt8(ascii: "0"))
      } else {
        return nil
      }
    }
    return isNegative ? -value : value
  }

  /// The field as a number; nil for NA and for what is none.
  func double(_ column: Int) -> Double? { text(column).flatMap(Double.init) }

  /// The field as a moment, written like `2013-01-01T10:00:00Z`; nil for anything else.
  func date(_ column: Int) -> Date? {
    let range = fields[column]
    guard range.count == 20 else { return nil }
    func number(_ offset: Int, _ count: Int) -> Int? {
      var value = 0
      for index in range.lowerBound + offset..<range.lowerBound + offset + count {
        guard bytes[index] >= 48, bytes[index] <= 57 else { return nil }
        value = value * 10 + Int(bytes[index] - 48)
      }
      return value
    }
    guard let year = number(0, 4), let month = number(5, 2), let day = number(8, 2),
      let hour = number(11, 2), let minute = number(14, 2), let second = number(17, 2)
    else { return nil }
    let days = Self.daysSince1970(year: year, month: month, day: day)
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second
    return Date(timeIntervalSince1970: Double(seconds))
  }

  /// Days of the Gregorian calendar, counted in years that begin in March.
  ///
  /// After Howard Hinnant, “chrono-compatible low-level date algorithms”.
  private static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}
