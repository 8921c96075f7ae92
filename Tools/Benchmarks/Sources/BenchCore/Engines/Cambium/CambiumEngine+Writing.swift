import CambiumCore

extension CambiumEngine: BulkLoading {
  func load(_ people: People, _ order: LoadOrder) throws {
    try write { editor in
      try Self.withRow { row in
        for place in 0..<order.count {
          let person = order.person(at: place, of: people)
          Self.fill(row, person)
          try editor.insert(
            key: person.id, values: UnsafeBufferPointer(start: row, count: Self.columnCount))
        }
      }
    }
  }

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

  private static func withRow<Result>(
    _ body: (UnsafeMutablePointer<ColumnValue>) throws -> Result
  ) rethrows -> Result {
    let row = UnsafeMutablePointer<ColumnValue>.allocate(capacity: columnCount)
    row.initialize(repeating: .null, count: columnCount)
    defer { row.deallocate() }
    return try body(row)
  }
}

extension CambiumEngine: SmallCommitting {
  func commitAppend(_ person: Person, isDurable: Bool) throws {
    try write(isDurable: isDurable) { editor in
      try Self.withRow { row in
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

extension CambiumEngine: SharedCommitting {
  func commitShared(_ change: AgeChange) throws {
    let transaction = try opened().beginWrite()
    guard let editor = try transaction.editTable(Self.table) else { throw NotOpen() }
    try editor.update(key: change.key, column: Column.age, value: .int(change.age))
    try transaction.commitTogether()
  }
}
