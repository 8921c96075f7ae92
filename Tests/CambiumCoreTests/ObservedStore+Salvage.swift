@testable import CambiumCore

/// A sound store that is read as if it were damaged.
extension ObservedStore: SalvageStore {
  var heads: [Head] { (try? newestHead()).map { [$0] } ?? [] }
  var pageExtent: Extent { Extent(address: 0, unitCount: 0) }

  /// From now on pages at `addresses` are not what was written.
  func damage(_ addresses: Set<UInt64>) {
    falsify { reference, page in
      guard addresses.contains(reference.address) else { return }
      let byte = page.bytes.load(fromByteOffset: 20, as: UInt8.self)
      page.bytes.storeBytes(of: byte ^ 4, toByteOffset: 20, as: UInt8.self)
    }
  }

  /// Makes the table with rows 6, 7 and 8, some of which own trees.
  func fillWithNotes(_ make: (WriteContext) throws -> [Int64: TreeRoot]) throws {
    let database = try Database(store: self)
    let transaction = try database.beginWrite()
    let table = try transaction.createTable(
      "notes", columns: [ColumnDescriptor(type: .bytes, isNullable: true, name: "list")])
    let roots = try make(transaction.context)
    for key in 6...8 as ClosedRange<Int64> {
      try table.insert(key: key, values: [(1, roots[key].map { .tree($0) } ?? .null)])
    }
    _ = try transaction.commit()
  }
}
