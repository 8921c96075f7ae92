import CLMDB
import Foundation

extension LMDBEngine: ColumnUpdating {
  func addYear() throws {
    try setSyncing(false)
    try withTransaction(flags: 0) { transaction in
      try withCursor(transaction) { cursor in
        var key = MDB_val()
        var value = MDB_val()
        var code = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
        while code == MDB_SUCCESS {
          try replace(&key, value, cursor) { ($0 + 1) % 100 }
          code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
        }
        if code != MDB_NOTFOUND { try check(code) }
      }
    }
  }
}

extension LMDBEngine: Deleting {
  func removeOddKeys() throws {
    try setSyncing(true)
    try withTransaction(flags: 0) { transaction in
      try withCursor(transaction) { cursor in
        var key = MDB_val()
        var value = MDB_val()
        var code = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
        while code == MDB_SUCCESS {
          if key.mv_data.load(as: Int64.self) & 1 == 1 { try check(mdb_cursor_del(cursor, 0)) }
          code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
        }
        if code != MDB_NOTFOUND { try check(code) }
      }
    }
  }

  func remove(_ keys: [Int64]) throws {
    try setSyncing(true)
    try withTransaction(flags: 0) { transaction in
      try withCursor(transaction) { cursor in
        for var id in keys {
          try withUnsafeMutableBytes(of: &id) { idBytes in
            var key = MDB_val(mv_size: idBytes.count, mv_data: idBytes.baseAddress)
            var value = MDB_val()
            try check(mdb_cursor_get(cursor, &key, &value, MDB_SET))
            try check(mdb_cursor_del(cursor, 0))
          }
        }
      }
    }
  }

  /// The pages on LMDB's list of free ones, and those past the last that was ever used.
  func reusableShare() throws -> Double? {
    try withTransaction(flags: MDB_RDONLY) { transaction in
      var cursor: OpaquePointer?
      try check(mdb_cursor_open(transaction, 0, &cursor))
      defer { mdb_cursor_close(cursor) }
      var key = MDB_val()
      var value = MDB_val()
      var free = 0
      var code = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
      while code == MDB_SUCCESS {
        // A list of page numbers begins with its length.
        free += value.mv_data.loadUnaligned(as: Int.self)
        code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
      }
      if code != MDB_NOTFOUND { try check(code) }
      var info = MDB_envinfo()
      try check(mdb_env_info(environment, &info))
      return Double(free) / Double(info.me_last_pgno + 1)
    }
  }

  func compactedByteCount() throws -> Int {
    let copy = folder + "/compacted"
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: copy) }
    try check(mdb_env_copy2(environment, copy, UInt32(MDB_CP_COMPACT)))
    let attributes = try FileManager.default.attributesOfItem(atPath: copy + "/data.mdb")
    return (attributes[.size] as? NSNumber)?.intValue ?? 0
  }
}

extension LMDBEngine: SnapshotTaking {
  /// Reads of one thread that follow each other use one transaction, reset and renewed.
  func beginReads(_ count: Int) throws {
    if reader == nil {
      try check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &reader))
      mdb_txn_reset(reader)
    }
    for _ in 0..<count {
      try check(mdb_txn_renew(reader))
      mdb_txn_reset(reader)
    }
  }
}
