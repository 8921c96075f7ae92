import CPeerRocksDB

extension RocksDBEngine: BulkLoading {
  /// Records go in by batches, of which the last one is synced and with it all before: durable, and
  /// faster than one large batch, but not atomic.
  func load(_ people: People, _ order: LoadOrder) throws {
    let batch = rocksdb_writebatch_create()
    defer { rocksdb_writebatch_destroy(batch) }
    for place in 0..<order.count {
      put(order.person(at: place, of: people), batch)
      if place & 1023 == 1023 {
        try write(batch, isDurable: false)
        rocksdb_writebatch_clear(batch)
      }
    }
    try write(batch, isDurable: true)
  }

  private func put(_ person: Person, _ batch: OpaquePointer?) {
    let byteCount = PackedPerson.byteCount(of: person)
    withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) { record in
      guard let start = record.baseAddress else { return }
      PackedPerson.write(person, to: start)
      put(UnsafeRawBufferPointer(record), under: person.id, batch)
    }
  }

  @inline(__always)
  func put(_ record: UnsafeRawBufferPointer, under key: Int64, _ batch: OpaquePointer?) {
    withRocksDBKey(key) { key in
      rocksdb_writebatch_put(
        batch, key, 8, record.baseAddress?.assumingMemoryBound(to: CChar.self), record.count)
    }
  }
}

extension RocksDBEngine: SmallCommitting {
  func commitAppend(_ person: Person, isDurable: Bool) throws {
    try write(isDurable: isDurable) { batch in put(person, batch) }
  }

  func commit(_ changes: [AgeChange], isDurable: Bool) throws {
    try write(isDurable: isDurable) { batch in
      for change in changes {
        var length = 0
        let found = try withRocksDBKey(change.key) { key in
          try check { rocksdb_get(database, readOptions, key, 8, &length, &$0) }
        }
        guard let record = found else { continue }
        defer { rocksdb_free(record) }
        PackedPerson.setAge(change.age, in: record)
        put(UnsafeRawBufferPointer(start: record, count: length), under: change.key, batch)
      }
    }
  }
}

extension RocksDBEngine: SharedCommitting {}
