import GRDB

extension SQLiteEngine: BulkLoading {
  private static let insert =
    "INSERT INTO person (id, name, age, email, score, active) VALUES (?, ?, ?, ?, ?, ?)"

  func load(_ people: People, _ order: LoadOrder) throws {
    try write(isDurable: true) { database in
      let statement = try SteppedStatement(Self.insert, database)
      for place in 0..<order.count {
        try Self.insert(order.person(at: place, of: people), statement)
      }
    }
  }

  @inline(__always)
  private static func insert(_ person: Person, _ statement: SteppedStatement) throws {
    statement.bind(1, person.id)
    statement.bind(2, person.name)
    statement.bind(3, person.age)
    statement.bind(4, person.email)
    statement.bind(5, person.score)
    statement.bind(6, Int64(person.active ? 1 : 0))
    try statement.run()
  }
}

extension SQLiteEngine: SmallCommitting {
  func commitAppend(_ person: Person, isDurable: Bool) throws {
    try write(isDurable: isDurable) { database in
      try Self.insert(person, try SteppedStatement(Self.insert, database))
    }
  }

  func commit(_ changes: [AgeChange], isDurable: Bool) throws {
    try write(isDurable: isDurable) { database in
      let statement = try SteppedStatement("UPDATE person SET age = ? WHERE id = ?", database)
      for change in changes {
        statement.bind(1, change.age)
        statement.bind(2, change.key)
        try statement.run()
      }
    }
  }
}
