import GRDB

extension SQLiteEngine: PointReading {
  func readNames(of keys: [Int64]) throws -> NameDigest {
    try read { database in
      let statement = try SteppedStatement("SELECT name FROM person WHERE id = ?", database)
      var digest = NameDigest()
      for key in keys {
        statement.bind(1, key)
        if try statement.step() { digest.add(statement.text(0)) }
        statement.reset()
      }
      return digest
    }
  }

  func readStrings(of keys: [Int64]) throws -> NameDigest {
    try read { database in
      let statement = try SteppedStatement("SELECT name FROM person WHERE id = ?", database)
      var digest = NameDigest()
      for key in keys {
        statement.bind(1, key)
        if try statement.step() {
          digest.add(String(decoding: statement.text(0), as: UTF8.self))
        }
        statement.reset()
      }
      return digest
    }
  }

  func readAges(of keys: [Int64]) throws -> [Int64] {
    try read { database in
      let statement = try SteppedStatement("SELECT age FROM person WHERE id = ?", database)
      return try keys.map { key in
        statement.bind(1, key)
        defer { statement.reset() }
        return try statement.step() ? statement.int(0) : -1
      }
    }
  }
}

extension SQLiteEngine: ColumnScanning {
  func count(ofAgesIn range: Range<Int64>) throws -> Int {
    try read { database in
      let statement = try SteppedStatement(
        "SELECT count(*) FROM person WHERE age >= ? AND age < ?", database)
      statement.bind(1, range.lowerBound)
      statement.bind(2, range.upperBound)
      defer { statement.reset() }
      return try statement.step() ? Int(statement.int(0)) : -1
    }
  }

  func sumOfScores() throws -> Double {
    try read { database in
      let statement = try SteppedStatement("SELECT sum(score) FROM person", database)
      defer { statement.reset() }
      return try statement.step() ? statement.double(0) : .nan
    }
  }
}
