#if RocksDB
  import CambiumCore
  import TestSupport
  import Testing

  @testable import CambiumRocksDB

  struct RocksDBStoreWhiteBoxTests {
    @Test func `a head that counts more pages than were ever written is damaged`() throws {
      func read(_ pageCount: Int, _ pageByteCount: Int) throws -> HeadRecord {
        var record = HeadRecord()
        record.nextAddress = 5
        (record.pageCount, record.pageByteCount) = (pageCount, pageByteCount)
        return try record.bytes(nil).withUnsafeBytes { try HeadRecord($0, nil) }
      }
      #expect(try read(4, 256).pageCount == 4)
      for (count, byteCount) in [(6, 256), (4, 385), (.max, 0), (0, .max)] {
        #expect(throws: StoreError.self) { try read(count, byteCount) }
      }
    }

    /// Two threads end their commits at the same time, and the one of the older version comes last.
    @Test func `a relaxed commit is synced though an older one asks for it later`() throws {
      let folder = try TemporaryFolder()
      var options = RocksDBOptions()
      options.relaxedDelayNanoseconds = 200_000_000
      let store = try RocksDBStore(path: folder.file("store"), options: options)
      try StoreModel(store, seed: 1, durabilities: [.full]).commit()
      _ = try store.beginWrite().publish(root: .empty(.key), durability: .relaxed, metadata: [])
      store.syncSoon(2)
      store.syncSoon(1)
      for _ in 0..<10_000 where try store.statistics().durableVersion < 2 {
        _ = store.waitForCommit(after: 2, timeoutNanoseconds: 20_000_000)
      }
      #expect(try store.statistics().durableVersion == 2)
    }

    @Test func `a store that was closed while it synced in the background opens again at once`()
      throws
    {
      let folder = try TemporaryFolder()
      var options = RocksDBOptions()
      options.relaxedDelayNanoseconds = 0
      for round in 0..<100 as Range<UInt64> {
        let store = try RocksDBStore(path: folder.file("store"), options: options)
        try StoreModel(store, seed: round, durabilities: [.relaxed]).commit()
        // The sync begins at any time before and after.
        for _ in 0..<round * 20 { _ = store.identity }
        try store.close()
      }
    }
  }
#endif
