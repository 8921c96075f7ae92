import Foundation

/// Numbers as people read them.
enum Words {
  /// `169 ×`, `5.9 ×`, `0.14 ×`.
  static func times(_ factor: Double) -> String {
    "\(digits(factor, factor < 0.995 ? 2 : factor < 9.95 ? 1 : 0)) ×"
  }

  /// A power of ten or two in front of a line: `0.1 ×`, `1,000 ×`.
  static func power(_ factor: Double) -> String {
    "\(factor < 1 ? String(format: "%g", factor) : count(Int(factor.rounded()))) ×"
  }

  /// Three digits and a unit: `83.1 ms`.
  static func duration(_ seconds: Double) -> String {
    let units = [("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)]
    let (unit, factor) = units.first { seconds >= $0.1 * 0.9995 } ?? ("ns", 1e-9)
    let value = seconds / factor
    return "\(digits(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0)) \(unit)"
  }

  /// `336,776`.
  static func count(_ count: Int) -> String {
    var text = ""
    for (index, digit) in String(count).reversed().enumerated() {
      if index > 0, index % 3 == 0, digit != "-" { text.append(",") }
      text.append(digit)
    }
    return String(text.reversed())
  }

  /// `100 thousand`, `a million`.
  static func rows(_ count: Int) -> String {
    switch count {
    case 1_000_000: "a million"
    case 1_000_000... where count % 1_000_000 == 0: "\(count / 1_000_000) million"
    case 1_000... where count % 1_000 == 0: "\(count / 1_000) thousand"
    default: self.count(count)
    }
  }

  /// `100 k`, `1 M`.
  static func shortRows(_ count: Int) -> String {
    switch count {
    case 1_000_000...: "\(digits(Double(count) / 1e6, count % 1_000_000 == 0 ? 0 : 1)) M"
    case 1_000...: "\(digits(Double(count) / 1e3, count % 1_000 == 0 ? 0 : 1)) k"
    default: "\(count)"
    }
  }

  /// `17.4 MB`.
  static func megabytes(_ byteCount: Int) -> String { "\(digits(Double(byteCount) / 1e6, 1)) MB" }

  private static func digits(_ value: Double, _ count: Int) -> String {
    String(format: "%.\(count)f", value)
  }
}
