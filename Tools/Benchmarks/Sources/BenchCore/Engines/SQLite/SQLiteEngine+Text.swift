import GRDB

extension SQLiteEngine: TextScanning {
  func count(named name: [UInt8]) throws -> Int {
    // The plus keeps SQLite from using an index, should there be one.
    try count("SELECT count(*) FROM person WHERE +name = ?", name)
  }

  func count(nameContaining part: [UInt8]) throws -> Int {
    try count("SELECT count(*) FROM person WHERE instr(name, ?)", part)
  }

  private func count(_ sql: String, _ text: [UInt8]) throws -> Int {
    try read { database in
      try text.withUnsafeBytes { text in
        let statement = try SteppedStatement(sql, database)
        statement.bind(1, text)
        defer { statement.reset() }
        return try statement.step() ? Int(statement.int(0)) : -1
      }
    }
  }
}

extension SQLiteEngine: Indexing {
  func buildIndex() throws {
    try write(isDurable: true) { database in
      try database.execute(sql: "CREATE INDEX person_name ON person (name)")
    }
  }

  func indexedCounts(of names: [[UInt8]]) throws -> Int {
    Int(try sum("SELECT count(*) FROM person WHERE name = ?", names))
  }

  func indexedAges(of names: [[UInt8]]) throws -> Int64 {
    try sum("SELECT sum(age) FROM person WHERE name = ?", names)
  }

  private func sum(_ sql: String, _ names: [[UInt8]]) throws -> Int64 {
    try read { database in
      let statement = try SteppedStatement(sql, database)
      var sum: Int64 = 0
      for name in names {
        try name.withUnsafeBytes { name in
          statement.bind(1, name)
          if try statement.step() { sum += statement.int(0) }
          statement.reset()
        }
      }
      return sum
    }
  }

  func dropIndex() throws {
    try write(isDurable: true) { database in try database.execute(sql: "DROP INDEX person_name") }
  }
}

extension SQLiteEngine: Sorting {
  func sortedKeys() throws -> [Int64] {
    try keys("SELECT id FROM person ORDER BY age, name, id")
  }

  func firstKeys(_ count: Int) throws -> [Int64] {
    try keys("SELECT id FROM person ORDER BY age, name, id LIMIT \(count)")
  }

  private func keys(_ sql: String) throws -> [Int64] {
    try read { database in
      let statement = try SteppedStatement(sql, database)
      var keys: [Int64] = []
      while try statement.step() { keys.append(statement.int(0)) }
      statement.reset()
      return keys
    }
  }

  func readAgesAndNames() throws -> (ages: Int64, names: NameDigest) {
    try read { database in
      let statement = try SteppedStatement("SELECT age, name FROM person", database)
      var (sum, digest): (Int64, NameDigest) = (0, NameDigest())
      while try statement.step() {
        sum += statement.int(0)
        digest.add(statement.text(1))
      }
      statement.reset()
      return (sum, digest)
    }
  }
}
