import CambiumCore

extension CambiumEngine: PointReading {
  func readNames(of keys: [Int64]) throws -> NameDigest {
    try read { tree in
      var digest = NameDigest()
      for key in keys {
        guard let name = try tree.name(of: key) else { continue }
        name.withBytes { digest.add($0) }
      }
      return digest
    }
  }

  func readStrings(of keys: [Int64]) throws -> NameDigest {
    try read { tree in
      var digest = NameDigest()
      for key in keys {
        guard let name = try tree.name(of: key) else { continue }
        digest.add(name.string)
      }
      return digest
    }
  }

  func readAges(of keys: [Int64]) throws -> [Int64] {
    try read { tree in
      try keys.map { key in
        guard let row = try tree.seek(key) else { return -1 }
        return row.column(Column.age)?.int(row.row) ?? 0
      }
    }
  }
}

extension CambiumEngine: ColumnScanning {
  func count(ofAgesIn range: Range<Int64>) throws -> Int {
    let ages = ColumnSpec(id: Column.age, type: .int, isNullable: false)
    return try read { tree in
      try tree.countInts(of: ages, in: range.lowerBound...range.upperBound - 1)
    }
  }

  func sumOfScores() throws -> Double {
    let scores = ColumnSpec(id: Column.score, type: .double, isNullable: false)
    return try read { tree in try tree.sumDoubles(of: scores) }
  }
}

extension ColumnTree {
  /// The cell that a getter of a property reads.
  fileprivate func name(of key: Int64) throws(StoreError) -> BytesCell? {
    guard let row = try seek(key) else { return nil }
    return LeafRow(row.leaf, row.row).cell(
      CambiumEngine.Column.name, hint: CambiumEngine.Column.name - 1)?.bytes
  }
}
