import Testing

@testable import CambiumCore

@Suite struct CatalogEntryTests {
  private let root = TreeRoot(
    reference: PageReference(
      checksum: 7, extent: Extent(address: 640, unitCount: 3), kind: .columnLeaf, born: 9),
    height: 1, kind: .column, rowCount: 12)

  private var entries: [CatalogEntry] {
    [
      .keyTree(.empty(.key)), .deadRoot(root), .value([1, 2, 3]), .value([]),
      .table(.init(id: 3, nextKey: -4, nextColumn: 5, roots: [root, .empty(.column)])),
      .tableDescription(
        .init(
          groups: [
            [
              ColumnDescriptor(id: 0, type: .int, isNullable: true, name: "größe"),
              ColumnDescriptor(
                id: 4, type: .bytes, isNullable: false, name: "", attributes: [9, 8]),
            ],
            [ColumnDescriptor(id: 6, type: .wide, isNullable: false, name: "c")],
          ], attributes: [1])),
    ]
  }

  @Test func `an entry reads back as it was written`() throws {
    for entry in entries {
      let copy = try #require(CatalogEntry(entry.bytes))
      #expect(copy.bytes == entry.bytes)
    }
  }

  @Test func `an entry that is cut short or has bytes left over is refused`() {
    for entry in entries {
      if case .value = entry { continue }
      for count in 0..<entry.bytes.count {
        #expect(CatalogEntry(Array(entry.bytes.prefix(count))) == nil)
      }
      #expect(CatalogEntry(entry.bytes + [0]) == nil)
    }
  }

  @Test func `an unknown kind of entry is refused`() {
    #expect(CatalogEntry([99, 0, 0]) == nil)
    #expect(CatalogEntry([]) == nil)
  }
}
