import Foundation
import TestSupport
import Testing

@testable import CambiumTool

/// The parts that lay out what a terminal shows.
@Suite struct TerminalWhiteBoxTests {
  @Test(arguments: [
    ("", 0), ("abc", 3), ("Cäsar", 5), ("e\u{301}a", 2), ("日本語", 6), ("한글", 4), ("ﾊﾝ", 2),
    ("Ａ", 2), ("🙂", 2), ("👩‍👩‍👧", 2), ("🇩🇪", 2), ("❤️", 2), ("a…b", 3), ("→", 1), ("█", 1),
  ])
  func `text takes as many cells as terminals give it`(text: String, width: Int) {
    #expect(CellText.width(text) == width)
  }

  @Test func `what is cut fits, begins as the text does and ends with a mark`() {
    let text = "a日e\u{301}🙂b👩‍👩‍👧한c"
    let whole = CellText.width(text)
    for width in 0...(whole + 2) {
      let cut = CellText.cut(text, to: width)
      #expect(CellText.width(cut) <= width)
      if width >= whole {
        #expect(cut == text)
      } else if width > 0 {
        #expect(cut.last == "…" && text.hasPrefix(cut.dropLast()))
        // No more than half of a wide character is given away.
        #expect(CellText.width(cut) >= width - 1)
      }
    }
  }

  @Test func `nothing in a cell moves the cursor, ends the line or turns the direction`() {
    #expect(CellText.cleaned("a\tb\r\n\u{1B}[2Jc") == "a\\tb\\r\\n\\u{1b}[2Jc")
    #expect(CellText.cleaned("\u{9B}2J\u{7F}") == "\\u{9b}2J\\u{7f}")
    #expect(CellText.cleaned("x\u{202E}y\u{2028}") == "x\\u{202e}y\\u{2028}")
    #expect(CellText.cleaned("👩‍👩‍👧 e\u{301}") == "👩‍👩‍👧 e\u{301}")
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `no table has a line that is wider than it may be`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let characters = Array("abc 1234日🙂é") + ["👩‍👩‍👧"]
    func text() -> String {
      String(
        (0..<Int.random(in: 0...20, using: &random)).compactMap { _ in
          characters.randomElement(using: &random)
        })
    }
    let columns = (0..<Int.random(in: 1...7, using: &random)).map { _ in
      TextTable.Column(heading: text(), isNumber: Bool.random(using: &random))
    }
    let rows = (0..<10).map { _ in columns.map { _ in text() } }
    let indent = String(repeating: " ", count: Int.random(in: 0...3, using: &random))
    for width in 0...200 {
      var table = TextTable(columns, width: width, indent: indent)
      // What comes later is fitted into the columns that there are.
      let lines = table.lines(Array(rows[..<5])) + table.lines(Array(rows[5...]))
      #expect(lines.count == rows.count + 2)
      #expect(lines.allSatisfy { CellText.width($0.text) <= width }, "seed \(seed), \(width)")
    }
  }

  @Test(arguments: [
    (0, nil, "rows", 0.0, "0 rows"), (5, nil, "rows", 0.5, "5 rows"),
    (50, nil, "rows", 2, "50 rows, 25 rows a second"),
    (5, 20, "rows", 0.5, "5 of 20 rows, 25 %"),
    (5, 20, "rows", 1, "5 of 20 rows, 25 %, 5 rows a second, 3 s left"),
    (10, 1210, "rows", 1, "10 of 1210 rows, 0 %, 10 rows a second, 2:00 left"),
    (20, 20, "rows", 2, "20 of 20 rows, 100 %, 10 rows a second"),
    (30, 20, "rows", 2, "30 of 20 rows, 100 %, 15 rows a second"),
    (0, 0, "rows", 2, "0 rows"),
    (1 << 20, 1 << 22, "bytes", 2, "1.0 MiB of 4.0 MiB, 25 %, 512.0 KiB a second, 6 s left"),
    (Int.max, Int.max, "rows", 0.5, "\(Int.max) of \(Int.max) rows, 100 %"),
  ])
  func `progress is told in words`(
    done: Int, total: Int?, unit: String, seconds: Double, text: String
  ) {
    #expect(ProgressLine.text(done, of: total, unit, after: seconds) == text)
  }
}
