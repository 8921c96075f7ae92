import Cambium
import Foundation
import TestSupport
import Testing

/// Each sample is imported, and a program's classes find in it what its description says.
@Suite struct ImportedSampleTests {
  @Test(arguments: Samples.all)
  func `an imported sample gives its content to a program's classes`(name: String) throws {
    try Imports.withImported(name) { url, report in
      let expected = try ExpectedContent(name)
      let types = try #require(ImportedModels.types[name])
      #expect(report.format == expected.format)
      #expect(report.schemaVersion == expected.schemaVersion)
      #expect(report.repairedTextCount == 0)
      // A program with these classes and that schema version has nothing to migrate.
      let realm = try Realm(
        configuration: Imports.configuration(
          url, name, schemaVersion: expected.schemaVersion ?? 0, types))
      try compare(realm, types, expected, report)
    }
  }

  private func compare(
    _ realm: Realm, _ types: [ObjectBase.Type], _ expected: ExpectedContent,
    _ report: Realm.ImportReport
  ) throws {
    let content = ModelContent(realm, types, expected)
    let wanted = ModelExpectation(expected)
    for description in expected.classes {
      let name = description["name"] as? String ?? ""
      let kind = description["kind"] as? String
      let count = report.classes.first { $0.className == name }?.objectCount
      if kind == "asymmetric" {
        #expect(report.classesLeftOut.contains(name))
        continue
      }
      let old = (description["keys"] as? [NSNumber] ?? []).map(\.int64Value)
      #expect(count == old.count, "\(name)")
      guard kind == "object" else { continue }
      // A class without properties cannot be declared.
      if (description["properties"] as? [Any])?.isEmpty ?? true { continue }
      let type = try #require(
        types.first { ($0._realmObjectName() ?? $0.className()) == name } as? Imported.Type)
      let objects = content.objects(of: type, in: realm)
      try #require(objects.map(\.key) == old, "\(name)")
      for (row, entry) in objects.enumerated() {
        let difference = difference(entry.object, row, description, content, wanted)
        if let difference {
          Issue.record("\(name) \(entry.key): \(difference)")
          return
        }
      }
    }
  }

  /// The first property in which an object is not what row `row` of its class is.
  private func difference(
    _ object: ObjectBase, _ row: Int, _ description: [String: Any], _ content: ModelContent,
    _ wanted: ModelExpectation
  ) -> String? {
    let columns = description["columns"] as? [String: [Any]] ?? [:]
    for property in description["properties"] as? [[String: Any]] ?? [] {
      guard let name = property["name"] as? String, let json = columns[name]?[row] else { continue }
      let wanted = wanted.describe(json, property)
      let found = content.describe(name, of: object, property)
      if wanted != found { return "\(name) is \(found.prefix(300)), not \(wanted.prefix(300))" }
    }
    return nil
  }
}
