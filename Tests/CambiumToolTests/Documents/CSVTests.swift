import CambiumToolKit
import TestSupport
import Testing

/// CSV files, written and read.
@Suite struct CSVTests {
  private static func records(_ text: String, separator: Character = ",") throws -> [[String?]] {
    var rest = Array(text.utf8)[...]
    var reader = CSVReader(separator: separator) {
      defer { rest = rest.dropFirst(3) }
      return Array(rest.prefix(3))
    }
    var records: [[String?]] = []
    while let record = try reader.record(fieldCount: records.first?.count) {
      records.append(record.map { $0.text.isEmpty && !$0.isQuoted ? nil : $0.text })
    }
    return records
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func `what was written is read as it was`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let texts: [String?] = [
      nil, "", "a", " a ", "a,b", "\"", "a\"b\"", "x\r\ny", "\n", "ä€", "1.5",
    ]
    let columns = Int.random(in: 1...4, using: &random)
    // As in a document, the first one has a name for each column.
    let heading: [[String?]] = [(0..<columns).map { "column \($0)" }]
    let records =
      heading
      + (0..<7).map { _ in
        (0..<columns).map { _ in texts.randomElement(using: &random) ?? nil }
      }
    let text = records.map { CSVWriter.record($0) + "\r\n" }.joined()
    #expect(try Self.records(text) == records, "seed \(seed): \(text)")
    #expect(try Self.records("\u{FEFF}" + text.replacing("\r\n", with: "\n")).count == 8)
  }

  @Test func `the last line needs no end, empty lines are nothing, and others may separate`() throws
  {
    #expect(try Self.records("a,b\n\n1,2\r\n\r\n3,") == [["a", "b"], ["1", "2"], ["3", nil]])
    #expect(try Self.records("a;b\n1,5;2", separator: ";") == [["a", "b"], ["1,5", "2"]])
    #expect(try Self.records("") == [])
  }

  @Test(arguments: [
    ("a\n\"b", "Line 2: the quotes of a field do not end."),
    ("a\n\"b\"c", "Line 2: something stands behind the quotes of a field."),
  ])
  func `broken quotes are refused with their line`(text: String, message: String) {
    #expect { try Self.records(text) } throws: { "\($0)" == message }
  }
}
