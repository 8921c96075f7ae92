import CambiumRealmFile
import Foundation
import Testing

/// Each sample is read as the writer's own library reads it.
@Suite struct SampleContentTests {
  @Test(arguments: Samples.all)
  func `a sample holds what its description says`(name: String) throws {
    let expected = try ExpectedContent(name)
    let file = try Samples.open(name)
    #expect(file.format == expected.format)
    #expect(file.schemaVersion == expected.schemaVersion)
    #expect(file.isEncrypted == Samples.encrypted.contains(name))
    #expect(file.classes.map(\.name) == expected.classes.map { $0["name"] as? String })
    for (index, expected) in expected.classes.enumerated() where index < file.classes.count {
      try compare(file, index, expected)
    }
    #expect(file.replacedTextCount == 0)
    try file.checkUnchanged()
  }

  private func compare(_ file: RealmFile, _ index: Int, _ expected: [String: Any]) throws {
    let described = file.classes[index]
    let properties = expected["properties"] as? [[String: Any]] ?? []
    #expect(described.kind.rawValue == expected["kind"] as? String)
    #expect(
      described.primaryKey.map { described.properties[$0].name }
        == expected["primaryKey"] as? String)
    try #require(described.properties.count == properties.count)
    for (property, expected) in zip(described.properties, properties) {
      let collection = property.collection == .none ? nil : property.collection.rawValue
      #expect(property.name == expected["name"] as? String)
      #expect(property.type.rawValue == expected["type"] as? String)
      #expect(property.isOptional == expected["optional"] as? Bool, "\(property.name)")
      #expect(collection == expected["collection"] as? String)
      #expect(property.target.map { file.classes[$0].name } == expected["target"] as? String)
      #expect(property.isIndexed == expected["indexed"] as? Bool, "\(property.name)")
      #expect(property.isFullTextIndexed == expected["fullText"] as? Bool)
    }
    try compareValues(file, index, expected, properties)
  }

  private func compareValues(
    _ file: RealmFile, _ index: Int, _ expected: [String: Any], _ properties: [[String: Any]]
  ) throws {
    let keys = (expected["keys"] as? [NSNumber] ?? []).map(\.int64Value)
    let columns = expected["columns"] as? [String: [Any]] ?? [:]
    #expect(file.classes[index].objectCount == keys.count)
    var row = 0
    try file.forEachLeaf(of: index) { leaf in
      try #require(row + leaf.keys.count <= keys.count)
      #expect(leaf.keys[...] == keys[row..<row + leaf.keys.count])
      for (propertyIndex, property) in file.classes[index].properties.enumerated() {
        let ordered = file.format >= 24 || property.collection == .list
        let column = try #require(columns[property.name])
        let values = try leaf.values(of: propertyIndex)
        try #require(values.count == leaf.keys.count)
        for (offset, value) in values.enumerated() {
          let actual = ExpectedContent.describe(value, file.classes, ordered: ordered)
          let expected = ExpectedContent.describe(
            column[row + offset], properties[propertyIndex], ordered: ordered)
          if actual != expected {
            Issue.record(
              """
              \(file.classes[index].name).\(property.name) of \(leaf.keys[offset]) is
              \(actual.prefix(300)) instead of \(expected.prefix(300))
              """)
            return
          }
        }
      }
      row += leaf.keys.count
    }
    #expect(row == keys.count)
  }

  @Test func `a file in streaming form is told from one with its root in the header`() throws {
    #expect(try Samples.open("tiny").form == .streamed)
    #expect(try Samples.open("copy").form == .streamed)
    #expect(try Samples.open("copy-opened").form == .normal)
    #expect(try Samples.open("compacted").form == .normal)
    #expect(try Samples.open("commits").version > Samples.open("commits-earlier").version)
  }

  @Test func `a file without bytes is an empty database`() throws {
    try Samples.withFile([]) { path in
      let file = try RealmFile(path: path)
      #expect(file.format == 0 && file.classes.isEmpty && file.schemaVersion == nil)
    }
  }
}
