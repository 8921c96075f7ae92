import CambiumCore

extension CambiumEngine: Indexing {
  private static let index = "Person.name"

  /// The core has trees of keys, not indexes: keys are names, a zero, and the row's key.
  func buildIndex() throws {
    let transaction = try opened().beginWrite()
    let index = try transaction.editKeyTree(Self.index)
    var sorter = NameSorter(capacity: 0, hasAges: false)
    try read { tree in
      sorter = NameSorter(capacity: tree.count, hasAges: false)
      var cursor = tree.leafCursor(reading: [Column.name])
      var isValid = try cursor.first()
      while isValid {
        let leaf = cursor.leaf
        if let names = leaf.column(Column.name)?.bytesColumn {
          for row in 0..<leaf.rowCount {
            names.cell(row).withBytes { sorter.add(leaf.key(at: row), age: 0, $0) }
          }
        }
        isValid = try cursor.next()
      }
    }
    sorter.sort()
    try sorter.forEach { key, name in
      try IndexKey.with(name, key) {
        _ = try index.set($0, UnsafeRawBufferPointer(start: nil, count: 0))
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
        try IndexKey.with(name, end: 0) { count -= try index.rank(of: $0) }
        try IndexKey.with(name, end: 1) { count += try index.rank(of: $0) }
      }
    }
    return count
  }

  func indexedAges(of names: [[UInt8]]) throws -> Int64 {
    let snapshot = try opened().snapshot()
    guard let index = try snapshot.keyTree(Self.index), let table = try snapshot.table(Self.table)
    else { throw NotOpen() }
    var sum: Int64 = 0
    var ages = table.groups[0].reader(of: Column.age)
    var cursor = index.cursor()
    for name in names {
      try name.withUnsafeBytes { name in
        try IndexKey.with(name, end: 0) { prefix in
          var isAtKey = try cursor.seek(to: prefix)
          while isAtKey, cursor.hasPrefix(prefix) {
            if let row = try ages.seek(Int64(bitPattern: cursor.keyTail)) {
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
