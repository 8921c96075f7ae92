import CambiumCore

extension CambiumEngine: TextScanning {
  func count(named name: [UInt8]) throws -> Int {
    let names = ColumnSpec(id: Column.name, type: .bytes, isNullable: false)
    return try read { tree in
      try name.withUnsafeBytes { try tree.countBytes(of: names, equalTo: $0) }
    }
  }

  func count(nameContaining part: [UInt8]) throws -> Int {
    try countNames { names, bitmap, source throws(StoreError) in
      try names.select(containing: part, into: bitmap, source)
    }
  }

  /// Counts the rows that `select` marks, leaf by leaf.
  private func countNames(
    _ select: (LeafColumn, UnsafeMutablePointer<UInt64>, PageSource) throws(StoreError) -> Void
  ) throws -> Int {
    // A leaf has 4,096 rows at most.
    let bitmap = UnsafeMutablePointer<UInt64>.allocate(capacity: 64)
    defer { bitmap.deallocate() }
    return try read { tree in
      var count = 0
      var cursor = tree.leafCursor(reading: [Column.name])
      var isValid = try cursor.first()
      while isValid {
        if let names = cursor.leaf.column(Column.name) {
          try select(names, bitmap, tree.source)
          for word in 0..<names.bitmapWordCount { count += bitmap[word].nonzeroBitCount }
        }
        isValid = try cursor.next()
      }
      return count
    }
  }
}

extension LeafColumn {
  fileprivate func select(
    containing bytes: [UInt8], into bitmap: UnsafeMutablePointer<UInt64>, _ source: PageSource
  ) throws(StoreError) {
    try bytes.withUnsafeBufferPointer { bytes throws(StoreError) in
      try selectBytes(containing: UnsafeRawBufferPointer(bytes), into: bitmap, source: source)
    }
  }
}
