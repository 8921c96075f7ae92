import CambiumCore

extension CambiumEngine: Indexing {
  private static let index = "Person.name"

  /// The core has trees of keys, not indexes: keys are names, a zero, and the row's key.
  func buildIndex() throws {
    let transaction = try opened().beginWrite()
    let index = try transaction.editKeyTree(Self.index)
    try read { tree in
      let sorter = KeySorter(capacity: tree.count, byteCount: tree.count * 24)
      var cursor = tree.leafCursor(reading: [Column.name])
      var isValid = try cursor.first()
      while isValid {
        let leaf = cursor.leaf
        leaf.column(Column.name)?.bytesColumn?.forEachValue { row, name in
          guard let name else { return }
          let (key, count) = (leaf.key(at: row), name.count)
          let bytes = sorter.add(byteCount: count + 9, key)
          if let start = name.baseAddress { bytes.copyMemory(from: start, byteCount: count) }
          bytes.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
          bytes.storeBytes(of: key.bigEndian, toByteOffset: count + 1, as: Int64.self)
        }
        isValid = try cursor.next()
      }
      sorter.sort()
      try index.build { builder throws(StoreError) in
        try sorter.forEach { key, _ throws(StoreError) in try builder.append(key) }
      }
    }
    _ = try transaction.commit()
  }

  func indexedCounts(of names: [[UInt8]]) throws -> Int {
    let snapshot = try opened().snapshot()
    guard let index = try snapshot.keyTree(Self.index) else { throw NotOpen() }
    var count = 0
    for name in names {
      try name.withUnsafeBytes { name in
        // All keys of a name lie between it with a zero and it with a one behind it.
        try IndexKey.with(name, end: 0) { lower in
          try IndexKey.with(name, end: 1) { upper in
            count += try index.count(from: lower, below: upper)
          }
        }
      }
    }
    return count
  }

  func indexedAges(of names: [[UInt8]]) throws -> Int64 {
    let snapshot = try opened().snapshot()
    guard let index = try snapshot.keyTree(Self.index), let table = try snapshot.table(Self.table)
    else { throw NotOpen() }
    var sum: Int64 = 0
    let rows = table.groups[0]
    var cursor = index.cursor()
    for name in names {
      try name.withUnsafeBytes { name in
        try IndexKey.with(name, end: 0) { prefix in
          let prefix = Span<UInt8>(_unsafeBytes: prefix)
          var isAtKey = try cursor.seek(to: prefix)
          while isAtKey, cursor.hasPrefix(prefix) {
            if let row = try rows.seek(Int64(bitPattern: cursor.keyTail)) {
              sum += row.column(Column.age)?.int(row.row) ?? 0
            }
            isAtKey = try cursor.next()
          }
        }
      }
    }
    return sum
  }

  func dropIndex() throws {
    let transaction = try opened().beginWrite()
    try transaction.drop(Self.index)
    _ = try transaction.commit()
  }
}
