import CambiumCore
import TestSupport

extension Database {
  /// Fills a table, "table", with so many rows of a number each, which hardly compress.
  func fillNumbers(_ rowCount: Int64 = 100_000, using generator: inout SeededGenerator) throws {
    let filling = try beginWrite()
    let table = try filling.createTable(
      "table", columns: [ColumnDescriptor(type: .int, isNullable: false, name: "number")])
    for key in 0..<rowCount {
      _ = try table.insert(
        key: key, values: [(1, .int(.random(in: .min ... .max, using: &generator)))])
    }
    _ = try filling.commit(durability: .full)
  }
}
