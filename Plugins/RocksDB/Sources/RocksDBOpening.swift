#if RocksDB
  import CambiumCore

  /// From a path to an open database with a store in it.
  ///
  /// Pointers: values that are read lie in memory of RocksDB that a `RocksValue` pins for as long as it
  /// lives; keys are lent for each call.
  struct RocksDBOpening {
    let path: String
    let options: RocksDBOptions

    /// The database, what it says it is, and the codec bound to it.
    func open() throws(StoreError) -> (RocksDatabase, IdentityRecord, (any PageCodec)?) {
      if RocksDatabase.isForked { throw RocksDatabase.forkedBefore(path) }
      let folder = StoreFolder(path: path)
      let claim = try folder.claim(isReadOnly: options.isReadOnly)
      let database: RocksDatabase
      do throws(RocksFailure) {
        database = try RocksDatabase(options: options, claim: claim)
      } catch {
        claim.end()
        if error.isOwnLock { throw .inUse(path: path, holder: "this process") }
        if error.isLock { throw .inUse(path: path, holder: folder.holder()) }
        throw StoreError(error, path: path, operation: "open")
      }
      let record = try identity(database)
      let name = options.codec?.name ?? ""
      guard record.codec == name else {
        throw .codecMismatch(
          path: path, found: record.codec.isEmpty ? "none" : record.codec,
          expected: name.isEmpty ? "none" : name)
      }
      let codec = try options.codec?.bound(to: record.number, parameters: record.parameters)
      return (database, record, codec)
    }

    private func identity(_ database: RocksDatabase) throws(StoreError) -> IdentityRecord {
      if let stored = try Self.read(StoredKey.identity, in: database, path: path) {
        defer { withExtendedLifetime(stored) {} }
        return try unsafe IdentityRecord(stored.buffer, path: path)
      }
      // A database without identity is one that was just made; one with anything in it is not.
      var isEmpty = true
      do throws(RocksFailure) {
        try unsafe database.forEachKey(from: []) { _ in
          isEmpty = false
          return false
        }
      } catch {
        throw StoreError(error, path: path, operation: "open")
      }
      guard isEmpty else { throw .damaged(Damage(.head, "the identity of '\(path)' is missing")) }
      if options.isReadOnly { throw .notAStore(path: path, reason: "it is empty") }
      let record = try IdentityRecord(for: options.codec)
      let codec = try options.codec?.bound(to: record.number, parameters: record.parameters)
      let batch = RocksBatch()
      unsafe record.bytes.withUnsafeBytes { unsafe batch.put(StoredKey.identity, $0) }
      unsafe HeadRecord().bytes(codec).withUnsafeBytes { unsafe batch.put(StoredKey.head, $0) }
      try Self.write(batch, to: database, path: path)
      return record
    }

    /// The newest version, and whether the store was not closed by who used it last.
    ///
    /// Pages that a write left behind that did not end are removed.
    static func newest(
      in database: RocksDatabase, codec: (any PageCodec)?, path: String, isReadOnly: Bool
    ) throws(StoreError) -> (HeadRecord, isMarked: Bool) {
      guard let stored = try read(StoredKey.head, in: database, path: path) else {
        throw .damaged(Damage(.head, "the head of '\(path)' is missing"))
      }
      defer { withExtendedLifetime(stored) {} }
      var record = try unsafe HeadRecord(stored.buffer, codec)
      let isMarked = try read(StoredKey.open, in: database, path: path) != nil
      if isReadOnly || !isMarked { return (record, isMarked) }
      // Versions that were lost may be made again; with the epoch they differ. It is stored before
      // anything is committed in it, or the next crash would give it again.
      record.head.epoch += 1
      let batch = RocksBatch()
      unsafe record.bytes(codec).withUnsafeBytes { unsafe batch.put(StoredKey.head, $0) }
      let first = StoredKey.page(Extent(address: record.nextAddress, unitCount: 0))
      do throws(RocksFailure) {
        try unsafe database.forEachKey(from: first) { key in
          if unsafe StoredKey.extent(key) != nil { batch.remove(from: first, to: StoredKey.end) }
          return false
        }
      } catch {
        throw StoreError(error, path: path, operation: "open")
      }
      try write(batch, to: database, path: path)
      return (record, true)
    }

    private static func read(
      _ key: [UInt8], in database: RocksDatabase, path: String
    ) throws(StoreError) -> RocksValue? {
      do throws(RocksFailure) { return try database.value(key) } catch {
        throw StoreError(error, path: path, operation: "open")
      }
    }

    private static func write(
      _ batch: RocksBatch, to database: RocksDatabase, path: String
    ) throws(StoreError) {
      do throws(RocksFailure) { try database.write(batch, isSynced: true) } catch {
        throw StoreError(error, path: path, operation: "open")
      }
    }
  }
#endif
