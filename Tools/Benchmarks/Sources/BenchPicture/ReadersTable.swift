import Foundation

/// The table of the benchmark page: what programs do, and what it takes here and elsewhere.
struct ReadersTable {
  /// A line: a piece of work, in words for people, and where its figures are.
  private struct Line {
    var words: String
    /// Of objects, or of the engine.
    var objects: String?
    var workload = ""
    var variant = ""
  }

  private static let lines = [
    Line(words: "**A Realm beside SQLite through GRDB**"),
    Line(
      words: "make a million objects in one transaction",
      objects: "create a million typed objects, one transaction"),
    Line(
      words: "find an object by its primary key, read a text of it",
      objects: "look up by primary key and read a text"),
    Line(words: "count a range of an integer, no index", objects: "count 30 ≤ age < 40"),
    Line(
      words: "count texts that contain two letters", objects: "count name contains \"ab\""),
    Line(
      words: "read two properties of each object in a loop, each",
      objects: "iterate and read two properties, each"),
    Line(
      words: "sort by two properties and read all",
      objects: "sort by two keys, all read: random names"),
    Line(
      words: "the first object in an order that nothing prepared",
      objects: "first by two keys: random names"),
    Line(
      words: "count what links to an object, a million links",
      objects: "linkingObjects.count, all members link"),
    Line(
      words: "change a property of each object, each",
      objects: "change a property of every object in a loop, each"),
    Line(
      words: "change one property and commit it durably",
      objects: "one property changed and committed, file"),
    Line(
      words: "delete half by a query, each object", objects: "delete half by a query, each object"),
    Line(words: "**The engine beside the engines of others**"),
    Line(
      words: "load a million rows in order, synced", workload: "W1",
      variant: "insert in key order, sync inside"),
    Line(
      words: "load them in random order, synced", workload: "W1",
      variant: "insert shuffled, sync inside"),
    Line(words: "commit one new row durably", workload: "W2", variant: "append one row, durable"),
    Line(
      words: "commit one changed row durably", workload: "W2", variant: "update one row, durable"),
    Line(
      words: "commit one changed row without waiting for the medium", workload: "W2",
      variant: "update one row, no sync"),
    Line(
      words: "durable commits of 64 threads", workload: "W14",
      variant: "transactions of 64 threads"),
    Line(
      words: "read a text by a random key", workload: "W3", variant: "name by key, random keys"),
    Line(
      words: "the same by 100 keys per snapshot, beside a writer", workload: "W10",
      variant: "point reads beside 1000 commits a second"),
    Line(words: "add up a column", workload: "W4", variant: "sum of scores"),
    Line(
      words: "count texts that equal one, no index", workload: "W5",
      variant: "count name == X, no index"),
    Line(
      words: "build an index of texts, synced", workload: "W6",
      variant: "build an index of names, sync inside"),
    Line(
      words: "count the rows of a text by an index", workload: "W6",
      variant: "indexed equality, count"),
    Line(words: "sort all rows by two columns", workload: "W7", variant: "sort by age and name"),
    Line(
      words: "change an integer of each row", workload: "W8",
      variant: "update one Int of every row"),
    Line(
      words: "delete every second row, synced", workload: "W9",
      variant: "delete every second row, sync inside"),
    Line(words: "begin and end a read", workload: "W13", variant: "begin and end a read"),
    Line(
      words: "open a database and read a text", workload: "W11",
      variant: "open and read a name, warm"),
    Line(
      words: "the same after the process was killed", workload: "W11",
      variant: "the same after kill -9 of a writer"),
    Line(
      words: "what the files take after loading", workload: "W12",
      variant: "files after inserting in key order"),
  ]

  /// Where the table lies in the page.
  private static let start = "<!-- The table is written by make pictures. -->\n"
  private static let end = "<!-- The end of the table. -->\n"

  private let works: [Recorded.Work]
  private let figures: [Recorded.Figure]

  init(_ works: [Recorded.Work], _ figures: [Recorded.Figure]) {
    self.works = works
    let rowCount = figures.map(\.rows).max()
    self.figures = figures.filter { $0.rows == rowCount }
  }

  /// The page with the table as the results give it; nil where it has no place for one.
  func inserted(into page: String) -> String? {
    guard let start = page.range(of: Self.start),
      let end = page.range(of: Self.end, range: start.upperBound..<page.endIndex)
    else { return nil }
    return page.replacingCharacters(in: start.upperBound..<end.lowerBound, with: markdown)
  }

  private var markdown: String {
    var text =
      "| what a program does | Cambium | SQLite | LMDB | RocksDB | beside the best of them |\n"
    text += "| --- | ---: | ---: | ---: | ---: | ---: |\n"
    for line in Self.lines { text += row(line) }
    return text
  }

  private func row(_ line: Line) -> String {
    if let objects = line.objects {
      guard let work = works.first(where: { $0.work == objects }), let ours = work.cambium,
        let theirs = work.grdb, let ours = Recorded.seconds(ours, work.unit),
        let theirs = Recorded.seconds(theirs, work.unit)
      else { return "" }
      return cells(
        line.words, [Words.duration(ours), Words.duration(theirs), "", ""], theirs / ours)
    }
    if line.workload.isEmpty { return cells(line.words, ["", "", "", ""], nil) }
    let found = figures.filter { $0.workload == line.workload && $0.variant == line.variant }
    func figure(_ engine: String) -> Recorded.Figure? { found.first { $0.engine == engine } }
    guard let own = figure("cambium") else { return "" }
    let peers = ["sqlite", "lmdb", "rocksdb"].map(figure)
    let factors = peers.compactMap { peer in
      peer.map { own.isRate == true ? own.median / $0.median : $0.median / own.median }
    }
    return cells(
      line.words, ([own] + peers).map { $0.map(Self.words) ?? "" }, factors.min())
  }

  private func cells(_ words: String, _ values: [String], _ factor: Double?) -> String {
    let factor = factor.map { $0 < 0.995 ? Words.times($0) : "**\(Words.times($0))**" } ?? ""
    return "| " + ([words] + values + [factor]).joined(separator: " | ") + " |\n"
  }

  private static func words(_ figure: Recorded.Figure) -> String {
    switch figure.unit {
    case "k/s": "\(Words.count(Int((figure.median * 100).rounded()) * 10)) /s"
    case "MB": Words.megabytes(Int(figure.median * 1e6))
    default: Words.duration(Recorded.seconds(figure.median, figure.unit) ?? 0)
    }
  }
}
