import CambiumCore
import CambiumMemory
import TestSupport
import Testing

/// Reading through a transaction that has ended.
struct EndedTransactionTests {
  @Test(arguments: [false, true])
  func `a tree of a transaction that has ended is not read any more`(hasCodec: Bool) async {
    await #expect(processExitsWith: .failure) { [hasCodec = hasCodec as Bool] in
      let codec = hasCodec ? MaskCodec() : nil
      let database = try Database(store: HeapStore(codec: codec?.name ?? ""), codec: codec)
      let filling = try database.beginWrite()
      let editor = try filling.editKeyTree("a")
      for key in 0..<2000 {
        try Array("\(key)".utf8).withUnsafeBytes { _ = try editor.set($0, $0) }
      }
      _ = try filling.commit()
      let transaction = try database.beginWrite()
      guard let tree = try transaction.keyTree("a") else { return }
      // Often enough for its pages to be held where they are decoded.
      for _ in 0..<4 { _ = try tree.value(for: Array("77".utf8)) }
      transaction.rollback()
      _ = try tree.value(for: Array("77".utf8))
    }
  }

  /// A table of a thousand numbers.
  private static func filled() throws -> Database {
    let database = try Database(store: MemoryStore())
    let filling = try database.beginWrite()
    let editor = try filling.createTable(
      "a",
      columns: [ColumnDescriptor(id: 1, type: .int, isNullable: false, name: "n", attributes: [])])
    for key in 0..<1000 { _ = try editor.insert(key: Int64(key), values: [(1, .int(Int64(key)))]) }
    _ = try filling.commit()
    return database
  }

  // Where these are checked.
  #if DEBUG
    @Test func `a row that outlives its snapshot stops a debug build`() async {
      await #expect(processExitsWith: .failure) {
        let database = try Self.filled()
        func row() throws -> RowPosition? {
          try database.snapshot().table("a")?.groups[0].seek(77)
        }
        let row = try row()
        // Nothing keeps the version in between.
        _ = try database.statistics()
        _ = row?.leaf.key(at: 0)
      }
    }

    @Test func `a row that outlives its transaction stops a debug build`() async {
      await #expect(processExitsWith: .failure) {
        let transaction = try Self.filled().beginWrite()
        let editor = try transaction.editTable("a")?.editor(of: 1)
        _ = try editor?.update(key: 77, column: 1, value: .int(1))
        guard case .packed(let row) = try editor?.locate(77) else { return }
        transaction.rollback()
        _ = row.leaf.key(at: 0)
      }
    }
  #endif

  @Test func `a row is read for as long as its snapshot is held`() throws {
    let snapshot = try Self.filled().snapshot()
    let row = try #require(try snapshot.table("a")?.groups[0].seek(77))
    #expect(row.leaf.key(at: row.row) == 77)
    withExtendedLifetime(snapshot) {}
  }
}
