import CambiumToolKit
import TestSupport
import Testing

/// JSON texts, read in portions of any size.
@Suite struct JSONTests {
  private static func random(_ random: inout SeededGenerator, depth: Int) -> JSONValue {
    let texts = ["", "a", "ä€𝄞", "\"\\\n\r\t\u{1}\u{7F}/", "\u{2028}", "$key"]
    switch Int.random(in: 0..<(depth > 3 ? 6 : 8), using: &random) {
    case 0: return .null
    case 1: return .bool(.random(using: &random))
    case 2: return .integer(Int64.random(in: .min ... .max, using: &random))
    case 3: return .integer(Int64.random(in: -9...9, using: &random))
    case 4: return .number(Double.random(in: -1e300...1e300, using: &random))
    case 5: return .string(texts.randomElement(using: &random) ?? "")
    case 6:
      return .array(
        (0..<Int.random(in: 0..<4, using: &random)).map { _ in
          Self.random(&random, depth: depth + 1)
        })
    default:
      return .object(
        (0..<Int.random(in: 0..<4, using: &random)).map { place in
          JSONValue.Member(
            "\(place)\(texts.randomElement(using: &random) ?? "")",
            Self.random(&random, depth: depth + 1))
        })
    }
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func `what was written is read as it was, whatever the portions`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let value = Self.random(&random, depth: 0)
    for text in [value.line, value.pretty, " \n\(value.line)\t"] {
      #expect(try JSONReader.value(of: text) == value, "seed \(seed)")
      var rest = Array(text.utf8)[...]
      let size = Int.random(in: 1...5, using: &random)
      var reader = JSONReader {
        defer { rest = rest.dropFirst(size) }
        return Array(rest.prefix(size))
      }
      #expect(try reader.value() == value, "seed \(seed)")
      #expect(try reader.isAtEnd())
    }
  }

  @Test(arguments: [
    ("0", JSONValue.integer(0)), ("-0", .integer(0)), ("9223372036854775807", .integer(.max)),
    ("9223372036854775808", .number("9223372036854775808")), ("1.50", .number("1.50")),
    ("1E+2", .number("1E+2")), (#""\u00e9\uD834\udd1e\/\b\f""#, .string("é𝄞/\u{8}\u{C}")),
    ("[ ]", .array([])), ("{ }", .object([])),
    (#"{"a":1,"a":2}"#, .object([.init("a", .integer(1)), .init("a", .integer(2))])),
  ])
  func `texts mean what the standard says`(text: String, value: JSONValue) throws {
    #expect(try JSONReader.value(of: text) == value)
  }

  @Test(arguments: [
    ("", "Line 1, column 1: the text ends too early."),
    ("nul", "Line 1, column 4: the text ends too early."),
    ("[1,]", "Line 1, column 4: expected a value."),
    ("[1 2]", "Line 1, column 5: expected ',' or ']'."),
    ("{a:1}", "Line 1, column 2: expected a member's name."),
    ("{\"a\" 1}", "Line 1, column 7: expected ':'."),
    ("01", "Line 1, column 3: expected a value."), ("1.", "Line 1, column 3: expected a value."),
    (".5", "Line 1, column 3: expected a value."), ("1.e5", "Line 1, column 5: expected a value."),
    ("+1", "Line 1, column 3: expected a value."), ("NaN", "Line 1, column 1: expected a value."),
    ("1 2", "Line 1, column 3: there is more behind the end."),
    ("\"a\nb\"", "Line 2, column 1: a text holds a control character."),
    ("\"\\x\"", "Line 1, column 4: unknown escape in a text."),
    ("\"\\ud800\"", "Line 1, column 9: half of a character."),
    ("\"\\udc00\"", "Line 1, column 8: half of a character."),
    ("[\n true,\n\n nope]", "Line 4, column 3: expected 'null'."),
    ("\"abc", "Line 1, column 5: the text ends too early."),
  ])
  func `what is no JSON is refused at its place`(text: String, message: String) {
    #expect { try JSONReader.value(of: text) } throws: { "\($0)" == message }
  }

  @Test func `bytes that are no UTF-8, and what nests too deep, are refused`() throws {
    var parts: [[UInt8]] = [[0x22, 0xFF, 0x22], []]
    var reader = JSONReader { parts.removeFirst() }
    #expect(throws: TransferError.self) { try reader.value() }
    let deep = String(repeating: "[", count: 100_000)
    #expect { try JSONReader.value(of: deep) } throws: { "\($0)".hasSuffix("it nests too deep.") }
  }
}
