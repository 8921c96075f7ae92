import ArgumentParser
import Cambium
import CambiumCore
import CambiumToolKit
import Foundation

/// `cambium diff OLD NEW`: which objects differ.
struct DiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Shows which objects of two stores differ, and in which properties.",
    discussion: """
      Objects are the same if they have the same primary key, or row where the class has none:

        cambium diff yesterday.realm people.realm
        cambium diff people.realm rocksdb:/data/people --class Person
        cambium diff yesterday.realm people.realm --summary

      The stores may be of different kinds and in use; of each one version is looked at. Where both are copies of \
      one file, it takes as long as there are differences. The exit status is 0 when nothing differs, 2 when \
      something does. Either may be a '.realm' file that Realm wrote, as for 'cambium export'.
      """)

  /// The exit status where something differs.
  static let differing = ExitCode(2)

  @OptionGroup var options: CommonOptions

  @Argument(help: "The path of the store to compare with.", completion: .file())
  var other: String

  @Option(help: "The file with the key of that store, if it has another one.", completion: .file())
  var otherKeyFile: String?

  @Option(name: .customLong("class"), help: "Only objects of this class; may be repeated.")
  var classNames: [String] = []

  @Flag(help: "Only count objects.") var summary = false

  func run() throws {
    let differs = try options.reportingErrors {
      let key = try options.key()
      let otherKey =
        try otherKeyFile.map { path throws(StoreError) in try KeyFile.read(path) } ?? key
      return try options.withRealm { old in
        try CommonOptions.withRealm(
          StoreRegistry.location(other), key: otherKey, progress: options.progress
        ) { new in try compare(old.freeze(), new.freeze()) }
      }
    }
    if differs { throw Self.differing }
  }

  /// Shows what differs; whether anything does.
  private func compare(_ old: Realm, _ new: Realm) throws -> Bool {
    let difference = ObjectDifference(old: old, new: new)
    for name in classNames where old.schema[name] == nil && new.schema[name] == nil {
      throw TransferError("There is no class '\(name)'.")
    }
    let schemas =
      classNames.isEmpty ? difference.schemas : difference.schemas.limited(to: classNames)
    var report = DifferenceReport(schemas, isSummary: summary, isJSON: options.json)
    for name in difference.classNames where classNames.isEmpty || classNames.contains(name) {
      try report.begin(name)
      try difference.forEachChange(of: name) { try report.add($0, $1) }
      report.end()
    }
    report.finish()
    return report.differs
  }
}

/// Differences as they are found: lines for people, or one JSON text.
private struct DifferenceReport {
  private let isSummary, isJSON: Bool
  private(set) var differs: Bool
  private var className = ""
  private var counts = (added: 0, removed: 0, changed: 0)
  private var classes: [JSONValue.Member] = []
  private var changes: [JSONValue] = []
  private let schemas: ObjectDifference.Schemas

  /// No value of a line is longer.
  private static let longestValue = 60

  init(_ schemas: ObjectDifference.Schemas, isSummary: Bool, isJSON: Bool) {
    (self.schemas, self.isSummary, self.isJSON) = (schemas, isSummary, isJSON)
    differs = !schemas.isEmpty
    if isJSON { return }
    for name in schemas.removedClasses { Self.show("- class \(name)") }
    for name in schemas.addedClasses { Self.show("+ class \(name)") }
    for (path, old, new) in schemas.properties {
      switch (old, new) {
      case (let old?, nil): Self.show("- \(path): \(old)")
      case (nil, let new?): Self.show("+ \(path): \(new)")
      default: Self.show("~ \(path): \(old ?? "") → \(new ?? "")")
      }
    }
  }

  /// Shows a line in the colour of its first character.
  private static func show(_ line: String, indent: String = "") {
    let style: Style =
      switch line.first {
      case "+": .good
      case "-": .bad
      default: .changed
      }
    Output.line(indent + line, style)
  }

  mutating func begin(_ name: String) throws {
    className = name
    counts = (0, 0, 0)
    changes = []
  }

  mutating func add(_ key: JSONValue, _ change: ObjectDifference.Change) throws {
    differs = true
    switch change {
    case .added(let document):
      counts.added += 1
      note(key, "added", document, "+ \(Self.name(key)) \(Self.short(document))")
    case .removed(let document):
      counts.removed += 1
      note(key, "removed", document, "- \(Self.name(key)) \(Self.short(document))")
    case .changed(let properties):
      counts.changed += 1
      let json = properties.map {
        JSONValue.Member($0.name, .object([.init("old", $0.old), .init("new", $0.new)]))
      }
      let text = properties.map {
        "\($0.name) \(Self.short($0.old, beside: $0.new)) → \(Self.short($0.new, beside: $0.old))"
      }
      note(key, "changed", .object(json), "~ \(Self.name(key)) \(text.joined(separator: ", "))")
    }
  }

  private mutating func note(_ key: JSONValue, _ kind: String, _ value: JSONValue, _ line: String) {
    if isSummary { return }
    guard isJSON else {
      if counts.added + counts.removed + counts.changed == 1 { Output.line("\(className)") }
      return Self.show(line, indent: "  ")
    }
    changes.append(.object([JSONValue.Member("key", key), JSONValue.Member(kind, value)]))
  }

  mutating func end() {
    if isJSON {
      var members = [
        JSONValue.Member("added", .integer(Int64(counts.added))),
        JSONValue.Member("removed", .integer(Int64(counts.removed))),
        JSONValue.Member("changed", .integer(Int64(counts.changed))),
      ]
      if !isSummary { members.append(JSONValue.Member("objects", .array(changes))) }
      classes.append(JSONValue.Member(className, .object(members)))
      return
    }
    let parts = [(counts.added, "added"), (counts.removed, "removed"), (counts.changed, "changed")]
      .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    if !parts.isEmpty { Output.line("\(className): \(parts.joined(separator: ", "))") }
  }

  func finish() {
    guard isJSON else {
      if !differs { Output.line("Nothing differs.") }
      return
    }
    let properties = schemas.properties.map { path, old, new in
      JSONValue.Member(
        path,
        .object([
          .init("old", old.map { .string($0) } ?? .null),
          .init("new", new.map { .string($0) } ?? .null),
        ]))
    }
    Output.line(
      JSONValue.object([
        .init("differs", .bool(differs)),
        .init("removedClasses", .array(schemas.removedClasses.map { .string($0) })),
        .init("addedClasses", .array(schemas.addedClasses.map { .string($0) })),
        .init("properties", .object(properties)), .init("classes", .object(classes)),
      ]).pretty)
  }

  private static func name(_ key: JSONValue) -> String {
    key["$key"].map { "#\($0.line)" } ?? key.line
  }

  /// A value on a line that is not too long: of a longer one what is around its first difference from
  /// `other`.
  private static func short(_ value: JSONValue, beside other: JSONValue? = nil) -> String {
    let line = value.line
    guard line.count > longestValue else { return line }
    var start = 0
    if let other = other?.line {
      let common = zip(line, other).prefix { $0 == $1 }.count
      start = max(0, min(common - longestValue / 3, line.count - longestValue))
    }
    let part = line.dropFirst(start).prefix(longestValue)
    return (start > 0 ? "…" : "") + part + (start + longestValue < line.count ? "…" : "")
  }
}
