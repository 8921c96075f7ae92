import CambiumCore

extension CambiumEngine: Sorting {
  /// Sorts by keys made of age and name; the last key that it sorts by is the row's.
  func sortedKeys() throws -> [Int64] {
    try read { tree in
      let sorter = KeySorter(capacity: tree.count, byteCount: tree.count * 24)
      try Self.forEach(in: tree) { key, age, name in
        let bytes = sorter.add(byteCount: name.count + 8, key)
        // As unsigned integers, most significant byte first, integers sort as their bytes do.
        let order = (UInt64(bitPattern: age) ^ 1 << 63).bigEndian
        bytes.storeBytes(of: order, as: UInt64.self)
        if let start = name.baseAddress {
          (bytes + 8).copyMemory(from: start, byteCount: name.count)
        }
      }
      sorter.sort()
      return [Int64](unsafeUninitializedCapacity: sorter.count) { keys, count in
        if let start = keys.baseAddress { sorter.copyNumbers(to: start) }
        count = sorter.count
      }
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
