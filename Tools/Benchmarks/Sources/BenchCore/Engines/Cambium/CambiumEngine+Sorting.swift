import CambiumCore

extension CambiumEngine: Sorting {
  func sortedKeys() throws -> [Int64] {
    try read { tree in
      var sorter = NameSorter(capacity: tree.count, hasAges: true)
      try Self.forEach(in: tree) { key, age, name in
        name.withBytes { sorter.add(key, age: age, $0) }
      }
      sorter.sort()
      var keys: [Int64] = []
      keys.reserveCapacity(tree.count)
      sorter.forEach { key, _ in keys.append(key) }
      return keys
    }
  }

  func firstKeys(_ count: Int) throws -> [Int64] {
    try read { tree in
      var first = FirstPeople(count)
      var cursor = tree.leafCursor(reading: [Column.age])
      let bitmap = UnsafeMutablePointer<UInt64>.allocate(capacity: 64)
      defer { bitmap.deallocate() }
      var isValid = try cursor.first()
      while isValid {
        let leaf = cursor.leaf
        if let ages = leaf.column(Column.age), let names = leaf.column(Column.name)?.bytesColumn {
          ages.selectInts(in: 0...first.greatestAge, into: bitmap)
          for word in 0..<ages.bitmapWordCount {
            var bits = bitmap[word]
            while bits != 0 {
              let row = word * 64 + bits.trailingZeroBitCount
              bits &= bits - 1
              names.cell(row).withBytes { name in
                if first.admits(ages.int(row), name) {
                  first.insert(leaf.key(at: row), ages.int(row), name)
                }
              }
            }
          }
        }
        isValid = try cursor.next()
      }
      return first.keys
    }
  }

  func readAgesAndNames() throws -> (ages: Int64, names: NameDigest) {
    try read { tree in
      var (sum, digest): (Int64, NameDigest) = (0, NameDigest())
      try Self.forEach(in: tree) { _, age, name in
        sum += age
        name.withBytes { digest.add($0) }
      }
      return (sum, digest)
    }
  }

  @inline(__always)
  private static func forEach(
    in tree: ColumnTree, _ body: (Int64, Int64, BytesCell) -> Void
  ) throws {
    var cursor = tree.leafCursor(reading: [Column.age, Column.name])
    var isValid = try cursor.first()
    while isValid {
      let leaf = cursor.leaf
      if let ages = leaf.column(Column.age), let names = leaf.column(Column.name)?.bytesColumn {
        for row in 0..<leaf.rowCount { body(leaf.key(at: row), ages.int(row), names.cell(row)) }
      }
      isValid = try cursor.next()
    }
  }
}
