import CLMDB

extension LMDBEngine: BulkLoading {
  func load(_ people: People, _ order: LoadOrder) throws {
    try setSyncing(true)
    try withTransaction(flags: 0) { transaction in
      try withCursor(transaction) { cursor in
        for place in 0..<order.count {
          try put(
            order.person(at: place, of: people), cursor,
            flags: order.isAscending ? MDB_APPEND : 0)
        }
      }
    }
  }

  /// Stores one record, packed straight into the place that LMDB reserves for it.
  private func put(_ person: Person, _ cursor: OpaquePointer?, flags: Int32) throws {
    var id = person.id
    try withUnsafeMutableBytes(of: &id) { idBytes in
      var key = MDB_val(mv_size: idBytes.count, mv_data: idBytes.baseAddress)
      var value = MDB_val(mv_size: PackedPerson.byteCount(of: person), mv_data: nil)
      try check(mdb_cursor_put(cursor, &key, &value, UInt32(flags | MDB_RESERVE)))
      PackedPerson.write(person, to: value.mv_data)
    }
  }
}

extension LMDBEngine: SmallCommitting {
  func commitAppend(_ person: Person, isDurable: Bool) throws {
    try setSyncing(isDurable)
    try withTransaction(flags: 0) { transaction in
      try withCursor(transaction) { cursor in try put(person, cursor, flags: MDB_APPEND) }
    }
  }

  func commit(_ changes: [AgeChange], isDurable: Bool) throws {
    try setSyncing(isDurable)
    try withTransaction(flags: 0) { transaction in
      try withCursor(transaction) { cursor in
        for change in changes {
          var id = change.key
          try withUnsafeMutableBytes(of: &id) { idBytes in
            var key = MDB_val(mv_size: idBytes.count, mv_data: idBytes.baseAddress)
            var old = MDB_val()
            try check(mdb_cursor_get(cursor, &key, &old, MDB_SET_KEY))
            try replace(&key, old, cursor) { _ in change.age }
          }
        }
      }
    }
  }

  /// Writes the record under the cursor anew, with another age.
  @inline(__always)
  func replace(
    _ key: inout MDB_val, _ old: MDB_val, _ cursor: OpaquePointer?, _ age: (Int64) -> Int64
  ) throws {
    try withUnsafeTemporaryAllocation(byteCount: old.mv_size, alignment: 8) { record in
      record.copyMemory(from: UnsafeRawBufferPointer(start: old.mv_data, count: old.mv_size))
      guard let start = record.baseAddress else { return }
      PackedPerson.setAge(age(PackedPerson.age(in: start)), in: start)
      var new = MDB_val(mv_size: old.mv_size, mv_data: start)
      try check(mdb_cursor_put(cursor, &key, &new, UInt32(MDB_CURRENT)))
    }
  }
}

extension LMDBEngine: SharedCommitting {}
