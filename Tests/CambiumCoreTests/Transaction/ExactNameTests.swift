import CambiumCore
import TestSupport
import Testing

/// Names are told apart by their bytes, also where `String` takes them for equal.
struct ExactNameTests {
  /// é as one character, and as a letter with an accent.
  private static let names = ["\u{e9}", "e\u{301}"]

  private static func keys(_ table: Table) throws -> [Int64] {
    var keys: [Int64] = []
    var cursor = table.groups[0].leafCursor()
    var isValid = try cursor.first()
    while isValid {
      for row in 0..<cursor.leaf.rowCount { keys.append(cursor.leaf.key(at: row)) }
      isValid = try cursor.next()
    }
    return keys
  }

  @Test func `tables and trees of equivalent names are different ones`() throws {
    #expect(Self.names[0] == Self.names[1])
    let database = try Database(store: HeapStore())
    let first = try database.beginWrite()
    for (index, name) in Self.names.enumerated() {
      let table = try first.createTable(
        name, columns: [ColumnDescriptor(type: .int, isNullable: false, name: "a")])
      _ = try table.insert(key: Int64(index), values: [(1, .int(7))])
      _ = try first.editKeyTree("tree " + name).set([UInt8(index)], [7])
    }
    _ = try first.commit()
    let second = try database.beginWrite()
    for (index, name) in Self.names.enumerated() {
      let table = try #require(try second.editTable(name))
      _ = try table.insert(key: Int64(index) + 10, values: [(1, .int(7))])
      _ = try second.editKeyTree("tree " + name).set([UInt8(index) + 10], [7])
    }
    let snapshot = try second.commit()
    for (index, name) in Self.names.enumerated() {
      let key = Int64(index)
      #expect(try Self.keys(#require(try snapshot.table(name))) == [key, key + 10])
      let tree = try #require(try snapshot.keyTree("tree " + name))
      #expect(try tree.value(for: [UInt8(index)]) != nil)
      #expect(try tree.value(for: [UInt8(index) + 10]) != nil)
      #expect(try tree.value(for: [UInt8(1 - index)]) == nil)
    }
    let third = try database.beginWrite()
    #expect(try third.drop(Self.names[0]))
    #expect(try third.editTable(Self.names[0]) == nil)
    let last = try third.commit()
    #expect(try Self.keys(#require(try last.table(Self.names[1]))) == [1, 11])
    #expect(try database.verify().findings == [])
  }
}
