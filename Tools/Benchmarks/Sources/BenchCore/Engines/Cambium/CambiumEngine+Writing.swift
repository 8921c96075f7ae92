import CambiumCore

extension CambiumEngine: BulkLoading {
  func load(_ people: People, _ order: LoadOrder) throws {
    try write { editor in
      try Self.withRow { row in
        for place in 0..<order.count {
          let person = order.person(at: place, of: people)
          Self.fill(row, person)
          try editor.insert(key: person.id, values: UnsafeBufferPointer(row))
        }
      }
    }
  }

  /// Writes the fields of `person` to `row`, in the order of the columns.
  @inline(__always)
  private static func fill(_ row: UnsafeMutableBufferPointer<ColumnValue>, _ person: Person) {
    row[0] = .bytes(person.name)
    row[1] = .int(person.age)
    row[2] = .bytes(person.email)
    row[3] = .double(person.score)
    row[4] = .bool(person.active)
  }

  private static func withRow<Result>(
    _ body: (UnsafeMutableBufferPointer<ColumnValue>) throws -> Result
  ) rethrows -> Result {
    try withUnsafeTemporaryAllocation(of: ColumnValue.self, capacity: 5) { row in
      row.initialize(repeating: .null)
      return try body(row)
    }
  }
}

extension CambiumEngine: SmallCommitting {
  func commitAppend(_ person: Person, isDurable: Bool) throws {
    try write(isDurable: isDurable) { editor in
      try Self.withRow { row in
        Self.fill(row, person)
        try editor.insert(key: person.id, values: UnsafeBufferPointer(row))
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
