import CambiumCore

extension CambiumEngine: Sorting {
  private static let order = [
    SortTerm(ColumnSpec(id: Column.age, type: .int, isNullable: false)),
    SortTerm(ColumnSpec(id: Column.name, type: .bytes, isNullable: false)),
  ]

  func sortedKeys() throws -> [Int64] {
    try read { tree in try tree.keys(sortedBy: Self.order) }
  }

  func firstKeys(_ count: Int) throws -> [Int64] {
    try read { tree in try tree.keys(sortedBy: Self.order, limit: count) }
  }

  func readAgesAndNames() throws -> (ages: Int64, names: NameDigest) {
    try read { tree in
      var (sum, digest): (Int64, NameDigest) = (0, NameDigest())
      try Self.forEach(in: tree) { _, age, name in
        sum += age
        digest.add(name)
      }
      return (sum, digest)
    }
  }

  @inline(__always)
  private static func forEach(
    in tree: ColumnTree, _ body: (Int64, Int64, UnsafeRawBufferPointer) -> Void
  ) throws {
    // A leaf has 4,096 rows at most.
    let values = UnsafeMutablePointer<Int64>.allocate(capacity: 4096)
    defer { values.deallocate() }
    var cursor = tree.leafCursor(reading: [Column.age, Column.name])
    var isValid = try cursor.first()
    while isValid {
      let leaf = cursor.leaf
      if let ages = leaf.column(Column.age), let names = leaf.column(Column.name)?.bytesColumn {
        ages.copyInts(into: values)
        names.forEachValue { row, name in
          if let name { body(leaf.key(at: row), values[row], name) }
        }
      }
      isValid = try cursor.next()
    }
  }
}
