import CLMDB
import Foundation

/// The index is a second environment: duplicates of a name are sorted keys of people.
final class LMDBIndex {
  fileprivate var environment: OpaquePointer?
  fileprivate var database: MDB_dbi = 0

  fileprivate init(folder: String) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try LMDBFailure.check(mdb_env_create(&environment))
    try LMDBFailure.check(mdb_env_set_mapsize(environment, 16 << 30))
    try LMDBFailure.check(mdb_env_open(environment, folder, 0, 0o600))
  }

  deinit { mdb_env_close(environment) }

  fileprivate func withCursor<Result>(
    flags: Int32, _ body: (OpaquePointer?) throws -> Result
  ) throws -> Result {
    var transaction: OpaquePointer?
    try LMDBFailure.check(mdb_txn_begin(environment, nil, UInt32(flags), &transaction))
    let result: Result
    do {
      if flags != MDB_RDONLY {
        let kind = UInt32(MDB_DUPSORT | MDB_DUPFIXED | MDB_INTEGERDUP)
        try LMDBFailure.check(mdb_dbi_open(transaction, nil, kind, &database))
      }
      var cursor: OpaquePointer?
      try LMDBFailure.check(mdb_cursor_open(transaction, database, &cursor))
      defer { mdb_cursor_close(cursor) }
      result = try body(cursor)
    } catch {
      mdb_txn_abort(transaction)
      throw error
    }
    try LMDBFailure.check(mdb_txn_commit(transaction))
    return result
  }
}

extension LMDBEngine: Indexing {
  private var indexFolder: String { folder + "/index" }

  func buildIndex() throws {
    let index = try LMDBIndex(folder: indexFolder)
    self.index = index
    var sorter = NameSorter(capacity: recordCount, hasAges: false)
    try scanKeys { key, record in sorter.add(key, age: 0, PackedPerson.name(in: record)) }
    sorter.sort()
    try index.withCursor(flags: 0) { cursor in
      try sorter.forEach { key, name in
        var id = key
        try withUnsafeMutableBytes(of: &id) { idBytes in
          var key = MDB_val(name)
          var value = MDB_val(mv_size: idBytes.count, mv_data: idBytes.baseAddress)
          try check(mdb_cursor_put(cursor, &key, &value, UInt32(MDB_APPENDDUP)))
        }
      }
    }
  }

  func indexedCounts(of names: [[UInt8]]) throws -> Int {
    guard let index else { return -1 }
    return try index.withCursor(flags: MDB_RDONLY) { cursor in
      var sum = 0
      for name in names {
        try name.withUnsafeBytes { name in
          var key = MDB_val(name)
          var value = MDB_val()
          let code = mdb_cursor_get(cursor, &key, &value, MDB_SET)
          if code == MDB_NOTFOUND { return }
          try check(code)
          var count = 0
          try check(mdb_cursor_count(cursor, &count))
          sum += count
        }
      }
      return sum
    }
  }

  func indexedAges(of names: [[UInt8]]) throws -> Int64 {
    guard let index else { return -1 }
    return try withTransaction(flags: MDB_RDONLY) { transaction in
      try index.withCursor(flags: MDB_RDONLY) { cursor in
        var sum: Int64 = 0
        for name in names {
          try name.withUnsafeBytes { name in
            var key = MDB_val(name)
            var value = MDB_val()
            var code = mdb_cursor_get(cursor, &key, &value, MDB_SET_KEY)
            while code == MDB_SUCCESS {
              let id = value.mv_data.loadUnaligned(as: Int64.self)
              if let record = try record(id, transaction) { sum += PackedPerson.age(in: record) }
              code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT_DUP)
            }
            if code != MDB_NOTFOUND { try check(code) }
          }
        }
        return sum
      }
    }
  }

  func dropIndex() throws {
    index = nil
    try FileManager.default.removeItem(atPath: indexFolder)
  }
}

extension MDB_val {
  /// Lends bytes that LMDB only reads.
  @inline(__always)
  fileprivate init(_ bytes: UnsafeRawBufferPointer) {
    self.init(
      mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }
}
