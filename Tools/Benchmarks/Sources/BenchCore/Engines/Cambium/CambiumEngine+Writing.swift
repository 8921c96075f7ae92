import CambiumCore

extension CambiumEngine: BulkLoading {
  func load(_ people: People, _ order: LoadOrder) throws {
    try write { editor in
      try Self.withRows(Self.batchCount) { keys, rows in
        for start in stride(from: 0, to: order.count, by: Self.batchCount) {
          let count = min(Self.batchCount, order.count - start)
          for place in 0..<count {
            let person = order.person(at: start + place, of: people)
            keys[place] = person.id
            Self.fill(rows + place * Self.columnCount, person)
          }
          try editor.insert(
            keys: UnsafeBufferPointer(start: keys, count: count),
            values: UnsafeBufferPointer(start: rows, count: count * Self.columnCount))
        }
      }
    }
  }

  /// How many people go into a call.
  private static var batchCount: Int { 64 }
  private static var columnCount: Int { 5 }

  /// Writes the fields of `person` to `row`, in the order of the columns.
  @inline(__always)
  private static func fill(_ row: UnsafeMutablePointer<ColumnValue>, _ person: Person) {
    row[0] = .bytes(person.name)
    row[1] = .int(person.age)
    row[2] = .bytes(person.email)
    row[3] = .double(person.score)
    row[4] = .bool(person.active)
  }

  private static func withRows<Result>(
    _ count: Int,
    _ body: (UnsafeMutablePointer<Int64>, UnsafeMutablePointer<ColumnValue>) throws -> Result
  ) rethrows -> Result {
    let keys = UnsafeMutablePointer<Int64>.allocate(capacity: count)
    let rows = UnsafeMutablePointer<ColumnValue>.allocate(capacity: count * columnCount)
    rows.initialize(repeating: .null, count: count * columnCount)
    defer {
      keys.deallocate()
      rows.deallocate()
    }
    return try body(keys, rows)
  }
}

extension CambiumEngine: SmallCommitting {
  func commitAppend(_ person: Person, isDurable: Bool) throws {
    try write(isDurable: isDurable) { editor in
      try Self.withRows(1) { _, row in
        Self.fill(row, person)
        try editor.insert(
          key: person.id, values: UnsafeBufferPointer(start: row, count: Self.columnCount))
      }
    }
  }

  func commit(_ changes: [AgeChange], isDurable: Bool) throws {
    try write(isDurable: isDurable) { editor in
      for change in changes {
        try editor.update(key: change.key, column: Column.age, value: .int(change.age))
      }
    }
  }
}

extension CambiumEngine: BlockCommitting {
  func commitShared(_ change: AgeChange) throws {
    let transaction = try opened().beginWrite()
    guard let editor = try transaction.editTable(Self.table) else { throw NotOpen() }
    try editor.update(key: change.key, column: Column.age, value: .int(change.age))
    try transaction.commitTogether()
  }

  func commitBlock(_ change: AgeChange) throws {
    try opened().writeTogether { transaction in
      guard let editor = try transaction.editTable(Self.table) else { throw NotOpen() }
      try editor.update(key: change.key, column: Column.age, value: .int(change.age))
    }
  }
}
