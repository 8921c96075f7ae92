import Cambium
import Foundation

/// Points in time as ISO 8601 texts in UTC, to the nanosecond and for every year that a date may have:
/// `2024-02-29T12:00:00.5Z`, `-012345-01-01T00:00:00Z`.
package enum DateText {
  /// The text of a stored date.
  package static func text(_ date: StoredDate) -> String {
    let (days, second) = date.seconds.floorDivided(by: 86_400)
    let (year, month, day) = civil(days)
    var text = "\(yearText(year))-\(two(month))-\(two(day))"
    text += "T\(two(second / 3600)):\(two(second / 60 % 60)):\(two(second % 60))"
    if date.nanoseconds > 0 {
      var fraction = String(date.nanoseconds)
      fraction = String(repeating: "0", count: 9 - fraction.count) + fraction
      while fraction.last == "0" { fraction.removeLast() }
      text += ".\(fraction)"
    }
    return text + "Z"
  }

  /// The date of a text: a day alone, or with a time; nil for other texts.
  ///
  /// A space may stand for the `T`, and an offset such as `+01:30` for the `Z`, which may be left out.
  package static func date(_ text: String) -> Date? {
    var rest = Substring(text)
    guard let year = year(&rest), rest.take("-"), let month = number(&rest, 2), rest.take("-"),
      let day = number(&rest, 2), (1...12).contains(month),
      (1...length(of: month, year)).contains(day)
    else { return nil }
    var time: Int64 = 0
    var nanoseconds: Int64 = 0
    if !rest.isEmpty {
      guard rest.take("T") || rest.take(" "), let hour = number(&rest, 2), rest.take(":"),
        let minute = number(&rest, 2), hour < 24, minute < 60
      else { return nil }
      time = hour * 3600 + minute * 60
      if rest.take(":") {
        guard let second = number(&rest, 2), second < 60 else { return nil }
        time += second
        if rest.take(".") {
          let digits = rest.prefix { $0.isASCII && $0.isNumber }
          guard !digits.isEmpty, digits.count <= 9, let value = Int64(digits) else { return nil }
          rest = rest.dropFirst(digits.count)
          nanoseconds = (0..<9 - digits.count).reduce(value) { value, _ in value * 10 }
        }
      }
      guard let offset = offset(&rest), rest.isEmpty else { return nil }
      time -= offset
    }
    // A year of twelve digits may lie beyond all that a date can have.
    guard let seconds = Int64(exactly: Int128(days(year, month, day)) * 86_400 + Int128(time))
    else { return nil }
    return StoredDate(seconds: seconds, nanoseconds: UInt32(nanoseconds)).date
  }

  // MARK: Parts

  private static func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }

  private static func yearText(_ year: Int64) -> String {
    let digits = String(year.magnitude)
    if (0...9999).contains(year) { return String(repeating: "0", count: 4 - digits.count) + digits }
    return (year < 0 ? "-" : "+") + String(repeating: "0", count: max(0, 6 - digits.count)) + digits
  }

  private static func year(_ rest: inout Substring) -> Int64? {
    let sign: Int64? = rest.take("+") ? 1 : rest.take("-") ? -1 : nil
    guard let sign else { return number(&rest, 4) }
    let digits = rest.prefix { $0.isASCII && $0.isNumber }
    guard (4...12).contains(digits.count), let value = Int64(digits) else { return nil }
    rest = rest.dropFirst(digits.count)
    return sign * value
  }

  private static func offset(_ rest: inout Substring) -> Int64? {
    if rest.isEmpty || rest.take("Z") { return 0 }
    let sign: Int64? = rest.take("+") ? 1 : rest.take("-") ? -1 : nil
    guard let sign, let hours = number(&rest, 2) else { return nil }
    _ = rest.take(":")
    guard let minutes = rest.isEmpty ? 0 : number(&rest, 2), hours < 24, minutes < 60 else {
      return nil
    }
    return sign * (hours * 3600 + minutes * 60)
  }

  private static func number(_ rest: inout Substring, _ count: Int) -> Int64? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else {
      return nil
    }
    rest = rest.dropFirst(count)
    return Int64(digits)
  }

  // MARK: Days
  //
  // The proleptic Gregorian calendar in eras of 400 years that begin on a first of March.

  private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = (days + 719_468).floorDivided(by: 146_097)
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * month + 2) / 5 + 1
    let civilMonth = month < 10 ? month + 3 : month - 9
    return (yearOfEra + era * 400 + (civilMonth <= 2 ? 1 : 0), civilMonth, day)
  }

  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = year.floorDivided(by: 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func length(of month: Int64, _ year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

extension Int64 {
  fileprivate func floorDivided(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}

extension Substring {
  fileprivate mutating func take(_ character: Character) -> Bool {
    guard first == character else { return false }
    removeFirst()
    return true
  }
}
