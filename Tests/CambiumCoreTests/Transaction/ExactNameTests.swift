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

  /// What the catalog says of one tree is not taken for what it says of the other.
  @Test(arguments: [[0, 1], [1, 0]])
  func `a tree that is emptied beside an empty one of an equivalent name is empty`(
    order: [Int]
  ) throws {
    let database = try Database(store: HeapStore())
    let (full, empty) = (Self.names[order[0]], Self.names[order[1]])
    let filling = try database.beginWrite()
    let tree = try filling.editKeyTree(full)
    for key in 0..<200 as Range<UInt8> { _ = try tree.set([key], [7]) }
    _ = try filling.commit()
    let emptying = try database.beginWrite()
    let emptied = try emptying.editKeyTree(full)
    for key in 0..<200 as Range<UInt8> { _ = try emptied.remove([key]) }
    _ = try emptying.editKeyTree(empty)
    let snapshot = try emptying.commit()
    for name in Self.names { #expect(try snapshot.keyTree(name)?.value(for: [7]) == nil) }
    #expect(try database.verify().findings == [])
  }
}
