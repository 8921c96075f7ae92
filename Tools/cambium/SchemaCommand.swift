import ArgumentParser
import Cambium
import CambiumToolKit

/// `cambium schema PATH`: the classes of a store.
struct SchemaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema",
    abstract: "Shows the classes of a store as Swift, JSON Schema or a diagram.",
    discussion: """
      Swift classes that open the store, a JSON Schema of what 'cambium export' writes, or a Mermaid class diagram:

        cambium schema people.realm > Models.swift
        cambium schema people.realm --format json-schema
        cambium schema people.realm --format mermaid

      Nothing is changed; the store may be in use.
      """)

  enum Format: String, CaseIterable, ExpressibleByArgument {
    case swift
    case jsonSchema = "json-schema"
    case mermaid
  }

  @OptionGroup var options: CommonOptions

  @Option(help: "swift, json-schema or mermaid.") var format: Format?

  func run() throws {
    try options.reportingErrors {
      let (location, key) = try (options.location(), options.key())
      let schema =
        RealmFileSummary.isRealmFile(location.path, encryptionKey: key?.data)
        ? try RealmFileSummary(path: location.path, encryptionKey: key?.data).schema
        : try OpenedRealm.open(location, key: key).schema
      switch format {
      case nil where options.json:
        let classes = schema.objectSchema.map(ClassDocument.json)
        Output.line(JSONValue.object([JSONValue.Member("classes", .array(classes))]).pretty)
      case nil, .swift: Output.text(SwiftModels.text(of: schema))
      case .jsonSchema: Output.line(JSONSchema.document(of: schema).pretty)
      case .mermaid: Output.text(ClassDiagram.mermaid(of: schema))
      }
    }
  }
}
