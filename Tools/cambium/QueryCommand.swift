import ArgumentParser
import Cambium
import CambiumToolKit
import Foundation

/// `cambium query PATH Class 'age > 30'`: the objects that a text asks for.
struct QueryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "query",
    abstract: "Shows the objects of a class that a query asks for.",
    discussion: """
      The query is a condition, behind it SORT(path ASC, …), DISTINCT(path, …) and LIMIT(count):

        cambium query people.realm Person "age > 30 AND team = 'red' SORT(name) LIMIT(20)"
        cambium query people.realm Person "dog.name BEGINSWITH 'R'" --columns name,dog.name
        cambium query people.realm Person --format csv > people.csv
        cambium query people.realm Person "age = 30" --explain

      Without a query all objects are shown. Nothing is changed; the store may be in use.
      """)

  /// How objects are shown.
  enum Format: String, CaseIterable, ExpressibleByArgument {
    case table, csv, json, lines
  }

  @OptionGroup var options: CommonOptions

  @Argument(help: "The class.") var className: String

  @Argument(help: "What to look for.") var query = ""

  @Option(help: "The properties to show, separated by commas; paths over links, keys of maps.")
  var columns: String?

  @Option(help: "table, csv, json or lines (JSON, an object on each line).")
  var format: Format?

  @Flag(help: "Only say how many there are.") var count = false

  @Flag(help: "Say how the objects would be found instead of showing them.") var explain = false

  func run() throws {
    try options.reportingErrors {
      let query = try TextQuery(query)
      try options.withRealm { try answer(query, $0) }
    }
  }

  private func answer(_ query: TextQuery, _ realm: Realm) throws {
    let results = try query.results(in: realm, ofType: className)
    if explain { return try show(results.explanation(), query) }
    if count {
      let found = min(results.count, query.limit ?? .max)
      return options.json
        ? Output.line(JSONValue.integer(Int64(found)).line) : Output.line("\(found)")
    }
    guard let type = realm.schema[className] else { return }
    let paths: [ColumnPath]
    if let columns {
      paths = try columns.split(separator: ",").map {
        try ColumnPath($0.trimmingCharacters(in: .whitespaces), of: type, in: realm.schema)
      }
    } else {
      paths = ColumnPath.all(of: type)
    }
    let answer = Answer(
      objects: results.prefix(query.limit ?? .max), columns: paths, encoder: ObjectEncoder(realm))
    switch format ?? (options.json ? .json : .table) {
    case .table: answer.showTable()
    case .csv: answer.showCSV()
    case .json: answer.showJSON()
    case .lines: answer.forEachLine { Output.line($0.line) }
    }
  }

  private func show(_ explanation: QueryExplanation?, _ query: TextQuery) throws {
    guard let explanation else { return }
    guard options.json else {
      Output.line(explanation.description)
      if let limit = query.limit { Output.line("the first \(limit)") }
      return
    }
    var members = [
      JSONValue.Member("class", .string(explanation.className)),
      JSONValue.Member("objects", .integer(Int64(explanation.objectCount))),
    ]
    switch explanation.access {
    case .all: members.append(JSONValue.Member("access", .string("all")))
    case .scan: members.append(JSONValue.Member("access", .string("scan")))
    case .index(let names, let count):
      members += [
        JSONValue.Member("access", .string("index")),
        JSONValue.Member("indexes", .array(names.map { .string($0) })),
        JSONValue.Member("atMost", .integer(Int64(count))),
      ]
    }
    members.append(JSONValue.Member("steps", .array(explanation.steps.map { .string($0) })))
    if let limit = query.limit { members.append(JSONValue.Member("limit", .integer(Int64(limit)))) }
    Output.line(JSONValue.object(members).pretty)
  }
}

/// The objects that a query found, and how they are shown.
private struct Answer {
  var objects: Slice<Results<DynamicObject>>
  var columns: [ColumnPath]
  var encoder: ObjectEncoder

  /// So many rows decide how wide a table's columns are; those behind them come as they are.
  private static let measuredCount = 1000

  func forEachLine(_ body: (JSONValue) -> Void) {
    for object in objects {
      body(.object(columns.map { JSONValue.Member($0.text, $0.value(of: object, encoder)) }))
    }
  }

  func showJSON() {
    var isFirst = true
    Output.text("[")
    forEachLine { line in
      Output.text(isFirst ? "\n  " : ",\n  ")
      Output.text(line.line)
      isFirst = false
    }
    Output.line(isFirst ? "]" : "\n]")
  }

  func showCSV() {
    Output.text(CSVWriter.record(columns.map(\.text)) + "\r\n")
    for object in objects {
      let fields = columns.map { $0.value(of: object, encoder).csvField }
      Output.text(CSVWriter.record(fields) + "\r\n")
    }
  }

  func showTable() {
    var table = TextTable(
      columns.map { .init(heading: CellText.cleaned($0.text), isNumber: $0.isNumber) },
      width: Terminal.width())
    var (rows, count) = ([[String]](), 0)
    for object in objects {
      rows.append(columns.map { CellText.cleaned($0.value(of: object, encoder).cell) })
      count += 1
      guard rows.count == Self.measuredCount else { continue }
      table.show(rows)
      rows = []
    }
    table.show(rows)
    Output.line(count == 1 ? "1 object" : "\(count) objects")
  }
}
