import Foundation
import Testing

@testable import Cambium

/// Decimal numbers against a table that `decimal-cases.py` made.
@Suite struct DecimalTableTests {
  /// A line of the table: an operation, its operands and its result.
  private struct Case {
    let words: [String]

    var name: String { words[0] }
    var result: String { words[words.count - 1] }
    func operand(_ index: Int) throws -> Decimal128 { try Decimal128(validating: words[index + 1]) }
  }

  private static func cases(_ name: String) throws -> [Case] {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appending(path: "decimal-cases.txt")
    return try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      .map { Case(words: $0.split(separator: " ").map(String.init)) }
      .filter { $0.name == name }
  }

  /// Whether numbers are the same, zeros with their signs.
  private func isSame(_ left: Decimal128, _ right: Decimal128) -> Bool {
    if left.isNaN || right.isNaN { return left.isNaN && right.isNaN }
    return left == right && left.bits.high >> 63 == right.bits.high >> 63
  }

  @Test(arguments: [
    ("add", 900), ("subtract", 900), ("multiply", 900), ("divide", 900), ("negate", 400),
    ("magnitude", 400), ("read", 600), ("of", 300),
  ])
  func `results are those of the table, and their texts read as them`(name: String, count: Int)
    throws
  {
    let cases = try Self.cases(name)
    #expect(cases.count == count)
    for line in cases {
      let found: Decimal128
      switch name {
      case "add": found = try line.operand(0) + line.operand(1)
      case "subtract": found = try line.operand(0) - line.operand(1)
      case "multiply": found = try line.operand(0) * line.operand(1)
      case "divide": found = try line.operand(0) / line.operand(1)
      case "negate": found = try -line.operand(0)
      case "magnitude": found = try line.operand(0).magnitude
      case "of": found = Decimal128(value: try #require(Double(line.words[1])))
      default: found = try Decimal128(string: line.words[1])
      }
      let expected = try Decimal128(validating: line.result)
      #expect(isSame(found, expected), "\(line.words.joined(separator: " ")), found \(found)")
      #expect(isSame(try Decimal128(validating: found.stringValue), found), "\(found)")
      if name == "negate" {
        let number = try line.operand(0)
        number.negate()
        #expect(isSame(number, expected), "\(line.words.joined(separator: " "))")
      }
    }
  }

  @Test func `order is that of the table`() throws {
    let cases = try Self.cases("compare")
    #expect(cases.count > 400)
    for line in cases {
      let (left, right) = (try line.operand(0), try line.operand(1))
      let order = left < right ? "-1" : left > right ? "1" : "0"
      #expect(order == line.result, "\(line.words.joined(separator: " "))")
      #expect((left == right) == (line.result == "0"))
      if left == right { #expect(left.hashValue == right.hashValue) }
    }
  }

  @Test func `doubles are the nearest ones`() throws {
    let cases = try Self.cases("double")
    #expect(cases.count > 200)
    for line in cases {
      let text =
        line.result == "inf" ? "infinity" : line.result == "-inf" ? "-infinity" : line.result
      let expected = try #require(Double(text))
      #expect(try line.operand(0).doubleValue == expected, "\(line.words.joined(separator: " "))")
    }
  }
}
