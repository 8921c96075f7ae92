import Cambium
import CambiumToolKit
import Foundation
import TestSupport
import Testing

/// Dates as texts.
@Suite struct DateTextTests {
  @Test(arguments: [
    ("1970-01-01T00:00:00Z", 0.0), ("2000-02-29T12:30:15.5Z", 951_827_415.5),
    ("1969-12-31T23:59:59Z", -1), ("0001-01-01T00:00:00Z", -62_135_596_800),
    ("0000-03-01T00:00:00Z", -62_162_035_200), ("-000001-12-31T00:00:00Z", -62_167_305_600),
    ("+012345-06-07T00:00:00Z", 327_416_947_200), ("9999-12-31T23:59:59Z", 253_402_300_799),
  ])
  func `a date has one text`(text: String, seconds: Double) {
    let date = Date(timeIntervalSince1970: seconds)
    #expect(DateText.date(text) == date)
    #expect(DateText.text(StoredDate(date)) == text)
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `every second of many years comes back`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let date = StoredDate(
        seconds: Int64.random(in: -10_000_000_000_000...10_000_000_000_000, using: &random),
        nanoseconds: 0)
      let text = DateText.text(date)
      #expect(DateText.date(text).map { StoredDate($0) } == date, "seed \(seed): \(text)")
    }
  }

  @Test func `times of day, offsets and days alone are read`() {
    let noon = Date(timeIntervalSince1970: 1_709_208_000)
    for text in [
      "2024-02-29T12:00:00Z", "2024-02-29 12:00:00", "2024-02-29T12:00Z",
      "2024-02-29T13:30:00+01:30",
      "2024-02-29T10:00:00-0200", "2024-02-29T12:00:00.000Z",
    ] {
      #expect(DateText.date(text) == noon, "\(text)")
    }
    #expect(DateText.date("2024-02-29") == noon.addingTimeInterval(-43_200))
  }

  @Test func `the first and the last second that a date may have are read`() {
    #expect(
      DateText.date("+292277026596-12-04T15:30:07Z")
        == StoredDate(seconds: .max, nanoseconds: 0).date)
    #expect(
      DateText.date("-292277022657-01-27T08:29:52Z")
        == StoredDate(seconds: .min, nanoseconds: 0).date)
  }

  @Test(arguments: [
    "", "2024", "2024-13-01", "2023-02-29", "2024-00-10", "2024-01-32", "2024-1-1", "2024-01-01T",
    "24-01-01",
    "2024-01-01T25:00", "2024-01-01T12:60", "2024-01-01T12:00:60", "2024-01-01T12:00:00.Z",
    "2024-01-01T12:00:00.1234567890Z", "2024-01-01T12:00:00+25:00", "2024-01-01Z x", "a2024-01-01",
    "2024-01-01T12:00:00ZZ", "٢٠٢٤-01-01", "+999999999999-01-01", "-999999999999-01-01T12:00:00Z",
    "+292277026596-12-04T15:30:08Z", "+292277026596-12-04T15:30:07-00:01",
    "-292277022657-01-27T08:29:51Z", "-292277022657-01-27T08:29:52+00:01",
  ])
  func `what is no date is none`(text: String) { #expect(DateText.date(text) == nil) }
}
