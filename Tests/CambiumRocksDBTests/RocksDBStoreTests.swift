#if RocksDB
  import CambiumCore
  import CambiumFile
  import CambiumRocksDB
  import Foundation
  import TestSupport
  import Testing

  /// What the contract does not ask: folders, errors, space and sizes of RocksDB stores.
  struct RocksDBStoreTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("store") }

    init() throws { folder = try TemporaryFolder() }

    private func children(_ path: String) -> [String] {
      ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }

    // MARK: What is at a path

    @Test func `a folder that was moved while it is open is not opened a second time`() throws {
      let folder = try TemporaryFolder()
      let store = try RocksDBStore(path: folder.file("a"))
      try FileManager.default.moveItem(atPath: folder.file("a"), toPath: folder.file("b"))
      #expect(throws: StoreError.inUse(path: folder.file("b"), holder: "this process")) {
        _ = try RocksDBStore(path: folder.file("b"))
      }
      // Under its own name nothing is there.
      #expect(throws: StoreError.self) {
        var options = RocksDBOptions()
        options.isReadOnly = true
        _ = try RocksDBStore(path: folder.file("a"), options: options)
      }
      try store.close()
    }

    @Test func `a store is not made where its parent folder is missing`() throws {
      let path = folder.file("missing/store")
      #expect(throws: StoreError.parentNotFound(path: path)) { try RocksDBStore(path: path) }
      #expect(children(folder.path) == [])
    }

    @Test func `a store of another kind is named and left alone`() throws {
      try FileStore(path: path).close()
      let before = try Data(contentsOf: URL(fileURLWithPath: path))
      #expect(
        throws: StoreError.wrongStoreKind(path: path, found: "file", expected: "rocksdb")
      ) { try RocksDBStore(path: path) }
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test func `files and folders of others are refused and left alone`() throws {
      try Data("text".utf8).write(to: URL(fileURLWithPath: path))
      #expect(throws: StoreError.self) { try RocksDBStore(path: path) }
      let other = folder.file("other")
      try FileManager.default.createDirectory(
        atPath: other, withIntermediateDirectories: false)
      for name in ["notes.txt", "CURRENT"] {
        try Data("MANIFEST-000004\n".utf8).write(to: URL(fileURLWithPath: other + "/" + name))
        for isReadOnly in [false, true] {
          let error = #expect(throws: StoreError.self) {
            try RocksDBStore(path: other, options: RocksDBOptions(isReadOnly: isReadOnly))
          }
          guard case .notAStore(other, _) = error else {
            Issue.record("\(String(describing: error))")
            continue
          }
        }
      }
      #expect(children(other) == ["CURRENT", "notes.txt"])
    }

    @Test func `an empty folder becomes a store`() throws {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      try RocksDBStore(path: path).close()
      #expect(try RocksDBStore(path: path).newestHead().version == 0)
    }

    @Test func `a folder whose making was cut short becomes a store`() throws {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      try Data("A Cambium page store".utf8).write(to: URL(fileURLWithPath: path + "/CAMBIUM"))
      #expect(throws: StoreError.notFound(path: path)) {
        try RocksDBStore(path: path, options: RocksDBOptions(isReadOnly: true))
      }
      #expect(try RocksDBStore(path: path).newestHead().version == 0)
    }

    @Test func `a folder that has lost its newest manifest is damaged, and stays so`() throws {
      let store = try RocksDBStore(path: path)
      try StoreModel(store, seed: 1).commit()
      try store.close()
      try FileManager.default.removeItem(atPath: path + "/CURRENT")
      let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
      for _ in 0..<2 {
        let error = #expect(throws: StoreError.self) { try RocksDBStore(path: path) }
        guard case .damaged = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).sorted() == names)
      }
    }

    @Test func `readers share a closed store, and nobody writes beside them`() throws {
      let store = try RocksDBStore(path: path)
      let model = try StoreModel(store, seed: 1)
      try model.commit()
      try store.close()
      let first = try RocksDBStore(path: path, options: RocksDBOptions(isReadOnly: true))
      let second = try RocksDBStore(path: path, options: RocksDBOptions(isReadOnly: true))
      #expect(try FakeTree.read(first).content == model.content)
      #expect(try FakeTree.read(second).content == model.content)
      #expect(throws: StoreError.inUse(path: path, holder: "this process")) {
        try RocksDBStore(path: path)
      }
      try first.close()
      #expect(throws: StoreError.inUse(path: path, holder: "this process")) {
        try RocksDBStore(path: path)
      }
      try second.close()
      try StoreModel(RocksDBStore(path: path), seed: 2).commit()
    }

    @Test func `a damaged list of files is an error that says what RocksDB says`() throws {
      let store = try RocksDBStore(path: path)
      try StoreModel(store, seed: 3).commit()
      try store.close()
      try Data("nonsense".utf8).write(to: URL(fileURLWithPath: path + "/CURRENT"))
      let error = #expect(throws: StoreError.self) { try RocksDBStore(path: path) }
      guard case .damaged(let damage) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(damage.detail.contains("RocksDB says"))
    }

    // MARK: Space

    @Test func `compaction gives the room of dropped versions back`() throws {
      var options = RocksDBOptions(compression: .none)
      options.writeBufferByteCount = 1 << 20
      let store = try RocksDBStore(path: path, options: options)
      let database = try Database(store: store)
      var generator = SeededGenerator(seed: 1)
      for _ in 0..<12 {
        let transaction = try database.beginWrite()
        try transaction.setValue("large", generator.bytes(count: 1 << 20))
        _ = try transaction.commit(durability: .relaxed)
      }
      let pinned = try database.snapshot()
      let value = try pinned.value("large")
      let transaction = try database.beginWrite()
      try transaction.setValue("large", generator.bytes(count: 1 << 20))
      _ = try transaction.commit()
      #expect(try store.statistics().pendingByteCount >= 1 << 20)
      try store.compact()
      let total = try store.statistics().totalByteCount
      #expect(total < 5 << 20, "\(total) bytes for two versions of a MiB")
      #expect(try pinned.value("large") == value)
      #expect(try database.verify().findings == [])
    }

    @Test func `a large write is put ahead, and nothing of it stays when it is aborted`() throws {
      var options = RocksDBOptions()
      options.batchByteCount = 64 << 10
      let store = try RocksDBStore(path: path, options: options)
      let model = try StoreModel(store, seed: 4)
      try model.commit()
      var generator = SeededGenerator(seed: 5)
      for isAborted in [true, false] {
        let writer = try store.beginWrite()
        let (root, content) = try FakeTree.change(
          writer, store, changeCount: 400, generator: &generator)
        #expect(try FakeTree.read(root, store.pin(), store).content == content)
        if isAborted {
          writer.abort()
          try model.check("after the abort")
          #expect(model.findings == [])
          continue
        }
        let pin = try writer.publish(root: root, durability: .full, metadata: [])
        let reading = try FakeTree.read(pin, store)
        #expect(reading.content == content)
        #expect(try store.check(reachable: reading.extents) == [])
      }
    }

    @Test func `closing removes what an aborted write has put ahead`() throws {
      var options = RocksDBOptions()
      options.batchByteCount = 64 << 10
      var generator = SeededGenerator(seed: 7)
      var store = try RocksDBStore(path: path, options: options)
      var writer = try store.beginWrite()
      _ = try FakeTree.change(writer, store, changeCount: 400, generator: &generator)
      writer.abort()
      try store.close()
      // Nothing is to be repaired after an orderly end, and nothing is.
      store = try RocksDBStore(path: path, options: options)
      writer = try store.beginWrite()
      let (root, content) = try FakeTree.change(
        writer, store, changeCount: 4, generator: &generator)
      let pin = try writer.publish(root: root, durability: .full, metadata: [])
      let reading = try FakeTree.read(pin, store)
      #expect(reading.content == content)
      #expect(try store.check(reachable: reading.extents) == [])
    }

    @Test func `a write that is larger than the store may be ends before all of it is written`()
      throws
    {
      var options = RocksDBOptions()
      options.batchByteCount = 64 << 10
      options.maximumByteCount = 4 << 20
      let store = try RocksDBStore(path: path, options: options)
      let writer = try store.beginWrite()
      var unitCount: UInt64 = 0
      #expect(throws: StoreError.sizeLimitReached(path: path, limit: 4 << 20)) {
        while unitCount < 1 << 20 {
          unitCount += try writer.allocate(byteCount: 8 << 10).unitCount
        }
      }
      #expect(unitCount * 64 <= 4 << 20)
      writer.abort()
    }

    @Test(arguments: [RocksDBOptions.Compression.none, .snappy, .lz4, .zstd])
    func `every compression that RocksDB was built with reads what it wrote`(
      compression: RocksDBOptions.Compression
    ) throws {
      let store = try RocksDBStore(path: path, options: RocksDBOptions(compression: compression))
      let model = try StoreModel(store, seed: 6)
      for _ in 0..<5 { try model.commit() }
      try store.compact()
      try model.check("compacted")
      #expect(model.findings == [])
      #expect(try store.rocksDBStatistics().fileByteCount > 0)
    }

    @Test func `statistics follow what is written, deleted, read and compacted`() throws {
      var options = RocksDBOptions(compression: .none)
      options.countsCacheReads = true
      options.blockCacheByteCount = 3 << 20
      let store = try RocksDBStore(path: path, options: options)
      let empty = try store.rocksDBStatistics()
      #expect(empty.blockCacheCapacity == 3 << 20)
      #expect(empty.fileCountByLevel.count == 7 && empty.backgroundErrorCount == 0)
      let database = try Database(store: store)
      func insert(_ keys: Range<Int64>) throws {
        let transaction = try database.beginWrite()
        let table =
          try transaction.editTable("rows")
          ?? transaction.createTable(
            "rows", columns: [ColumnDescriptor(type: .bytes, isNullable: false, name: "a")])
        var generator = SeededGenerator(seed: UInt64(keys.lowerBound))
        for key in keys {
          let value = (0..<40).map { _ in UInt8.random(in: 0...255, using: &generator) }
          _ = try value.withUnsafeBytes { try table.insert(key: key, values: [(1, .bytes($0))]) }
        }
        _ = try transaction.commit()
      }
      try insert(0..<20_000)
      let written = try store.rocksDBStatistics()
      #expect(written.memoryTableByteCount > 800_000 && written.keyCount > 50)
      try insert(20_000..<20_100)
      // What the second commit replaced is deleted, and waits for a compaction.
      #expect(try store.rocksDBStatistics().deletionCount > 0)
      try database.close()

      let again = try RocksDBStore(path: path, options: options)
      #expect(try again.rocksDBStatistics().fileCountByLevel.reduce(0, +) > 0)
      try again.compact()
      let compacted = try again.rocksDBStatistics()
      #expect(compacted.deletionCount == 0 && compacted.pendingCompactionByteCount == 0)
      #expect(compacted.liveFileByteCount > 800_000)
      #expect(compacted.fileByteCount >= compacted.liveFileByteCount)
      #expect(compacted.liveDataByteCount > 800_000)
      #expect(compacted.fileCountByLevel.dropLast().allSatisfy { $0 == 0 })
      let missed = compacted.blockCacheMissCount ?? -1
      let reading = try Database(store: again)
      #expect(try reading.verify().findings == [])
      let read = try again.rocksDBStatistics()
      #expect(read.blockCacheMissCount ?? -1 > missed && missed >= 0)
      #expect(read.blockCacheHitCount ?? -1 >= 0)
      #expect(read.blockCacheByteCount > 500_000 && read.blockCacheByteCount < 8 << 20)
      try reading.close()
      #expect(throws: StoreError.closed(path: path)) { try again.rocksDBStatistics() }

      let plain = try RocksDBStore(path: path)
      #expect(try plain.rocksDBStatistics().blockCacheHitCount == nil)
      #expect(
        try plain.rocksDBStatistics().blockCacheCapacity == RocksDBOptions().blockCacheByteCount)
      try plain.close()
    }

    @Test func `relaxed commits become durable on their own`() throws {
      let store = try RocksDBStore(path: path)
      let model = try StoreModel(store, seed: 7, durabilities: [.relaxed])
      for _ in 0..<5 { try model.commit() }
      while try store.statistics().durableVersion < 5 {
        _ = store.waitForCommit(after: 5, timeoutNanoseconds: 10_000_000)
      }
    }

    @Test func `a codec that keeps something gets it back`() throws {
      let keeping = KeepingCodec()
      let store = try RocksDBStore(path: path, options: RocksDBOptions(codec: keeping))
      let database = try Database(store: store)
      let transaction = try database.beginWrite()
      try transaction.setValue("a", [1, 2, 3])
      _ = try transaction.commit(metadata: Array("secret metadata".utf8))
      try database.close()
      let again = try RocksDBStore(path: path, options: RocksDBOptions(codec: keeping))
      let bound = try #require(again.boundCodec as? KeepingCodec)
      #expect(bound.mask != 0)
      #expect(try Database(store: again).snapshot().value("a") == [1, 2, 3])
      try again.close()
      for name in children(path) {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path + "/" + name))
        #expect(bytes.range(of: Data("secret metadata".utf8)) == nil, "\(name)")
      }
    }
  }

  /// Masks pages and records with a byte that its store keeps.
  private struct KeepingCodec: PageCodec {
    let name = "keeping"
    var mask: UInt8 = 0

    func encode(_ page: Span<UInt8>, kind: PageKind) throws(StoreError) -> [UInt8] {
      [UInt8](copying: page).map { $0 ^ mask }
    }

    func seal(_ body: inout [UInt8], context: PageContext) throws(StoreError) {}

    func open(
      _ body: Span<UInt8>, context: PageContext
    ) throws(StoreError) -> PageBuffer {
      let buffer = PageBuffer(byteCount: body.count)
      buffer.withMutableBytes { bytes in
        for index in bytes.indices { bytes[index] = body[index] ^ mask }
      }
      return buffer
    }

    func makeParameters(for store: StoreNumber) throws(StoreError) -> [UInt8] { [0x5a] }

    func bound(
      to store: StoreNumber, parameters: [UInt8]
    ) throws(StoreError) -> any PageCodec { KeepingCodec(mask: parameters[0]) }

    var recordOverhead: Int { 1 }

    func sealRecord(_ record: [UInt8], context: RecordContext) -> [UInt8] {
      record.map { $0 ^ mask } + [mask]
    }

    func openRecord(
      _ sealed: [UInt8], context: RecordContext
    ) throws(StoreError) -> [UInt8] { sealed.dropLast().map { $0 ^ mask } }
  }
#endif
