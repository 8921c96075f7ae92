import CambiumRealmFile
import Foundation
import Testing

/// What is found by key agrees with what the walk over all objects tells.
@Suite struct LookupTests {
  @Test(arguments: Samples.all.filter { $0 != "max-size" })
  func `each object is found by its key, and no other`(name: String) throws {
    let file = try Samples.open(name)
    for index in file.classes.indices {
      var keys: Set<Int64> = []
      try file.forEachLeaf(of: index) { keys.formUnion($0.keys) }
      // The keys around those that exist, and both ends.
      var absent: Set<Int64> = [-1, -2, .min, .max, 0, 1 << 62]
      for key in keys {
        absent.insert(key - 1)
        absent.insert(key &+ 1)
      }
      for key in keys.sorted() {
        let found = try file.contains(key, in: index)
        if !found { Issue.record("\(file.classes[index].name) lacks \(key)") }
      }
      for key in absent.subtracting(keys).sorted() {
        let found = try file.contains(key, in: index)
        if found { Issue.record("\(file.classes[index].name) has \(key)") }
      }
      if file.classes[index].properties.isEmpty { continue }
      #expect(try file.value(of: 0, of: -1, in: index) == nil)
    }
  }

  @Test(arguments: Samples.all.filter { !["max-size", "list-depth3"].contains($0) })
  func `a property of one object is what the walk tells`(name: String) throws {
    let file = try Samples.open(name)
    for (index, described) in file.classes.enumerated() {
      // In an order that neither ascends nor stays in one leaf.
      var rows: [(key: Int64, values: [String])] = []
      try file.forEachLeaf(of: index) { leaf in
        let columns = try described.properties.indices.map { try leaf.values(of: $0) }
        for row in stride(from: 0, to: leaf.keys.count, by: max(1, described.objectCount / 300)) {
          let values = columns.map { ExpectedContent.describe($0[row], file.classes) }
          rows.append((leaf.keys[row], values))
        }
      }
      for step in 0..<min(rows.count, 400) {
        let row = rows[step * 37 % rows.count]
        for property in described.properties.indices {
          let value = try #require(try file.value(of: property, of: row.key, in: index))
          let text = ExpectedContent.describe(value, file.classes)
          if text != row.values[property] {
            Issue.record("\(described.name).\(property) of \(row.key) is \(text.prefix(200))")
          }
        }
      }
    }
  }

  @Test func `a column may be read several times within one leaf`() throws {
    let file = try Samples.open("strings")
    try file.forEachLeaf(of: 0) { leaf in
      let first = try leaf.values(of: 0)
      for _ in 0..<200 {
        let again = try leaf.values(of: 0)
        #expect(again == first)
        for property in file.classes[0].properties.indices { _ = try leaf.values(of: property) }
      }
    }
  }

  @Test(arguments: Samples.all.filter { !["max-size", "list-depth3"].contains($0) })
  func `a column read in parts is the same column`(name: String) throws {
    let file = try Samples.open(name)
    for (index, described) in file.classes.enumerated() {
      try file.forEachLeaf(of: index) { leaf in
        for property in described.properties.indices {
          let whole = try leaf.values(of: property).map {
            ExpectedContent.describe($0, file.classes)
          }
          for limit in [0, 40, 1000] {
            var parts: [String] = []
            while parts.count < leaf.keys.count {
              let part = try leaf.values(of: property, from: parts.count, byteLimit: limit)
              try #require(!part.isEmpty)
              parts += part.map { ExpectedContent.describe($0, file.classes) }
            }
            if parts != whole { Issue.record("\(described.name).\(property), \(limit) bytes") }
          }
        }
      }
    }
  }

  @Test func `objects can be looked up while a class is walked`() throws {
    let file = try Samples.open("links")
    let person = try #require(file.classes.firstIndex { $0.name == "Person" })
    let spouse = try #require(
      file.classes[person].properties.firstIndex { $0.name == "spouse" })
    try file.forEachLeaf(of: person) { leaf in
      for case .link(let target, let key) in try leaf.values(of: spouse) {
        let found = try file.contains(key, in: target)
        let name = try file.value(of: 0, of: key, in: target)
        #expect(found && name != nil)
      }
    }
  }
}
