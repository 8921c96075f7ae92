#if RocksDB
  import CambiumCore
  import CambiumRocksDB
  import Foundation
  import TestSupport
  import Testing

  /// Kills processes, fills disks and asks who has a store, with real folders.
  struct RocksDBProcessTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("store") }

    init() throws { folder = try TemporaryFolder() }

    private static func options() -> RocksDBOptions {
      var options = RocksDBOptions()
      options.relaxedDelayNanoseconds = 3_600_000_000_000
      options.batchByteCount = 32 << 10
      options.writeBufferByteCount = 256 << 10
      return options
    }

    /// Commits in a process that then dies in the middle of the next write.
    private static func commitAndDie(_ path: String, _ durabilities: [Durability]) throws {
      let store = try RocksDBStore(path: path, options: options())
      let model = try StoreModel(store, seed: 21, durabilities: durabilities)
      for _ in 0..<12 { try model.commit() }
      let writer = try store.beginWrite()
      var generator = SeededGenerator(seed: 22)
      _ = try FakeTree.change(writer, store, changeCount: 200, generator: &generator)
      kill(getpid(), SIGKILL)
    }

    @Test(arguments: [[Durability.full], [.relaxed], [.relaxed, .none]])
    func `a killed process loses no commit and leaves nothing else`(
      durabilities: [Durability]
    ) async throws {
      let twin = try RocksDBStore(path: folder.file("twin"))
      let model = try StoreModel(twin, seed: 21, durabilities: durabilities)
      for _ in 0..<12 { try model.commit() }
      switch durabilities {
      case [.full]:
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
          try Self.commitAndDie(path, [.full])
        }
      case [.relaxed]:
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
          try Self.commitAndDie(path, [.relaxed])
        }
      default:
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
          try Self.commitAndDie(path, [.relaxed, .none])
        }
      }
      var epochs: [UInt64] = []
      for isReadOnly in [true, false, false] {
        var options = Self.options()
        options.isReadOnly = isReadOnly
        let store = try RocksDBStore(path: path, options: options)
        let head = try store.newestHead()
        let reading = try FakeTree.read(head.root, store)
        #expect(head.version == 12)
        #expect(reading.content == model.content)
        #expect(try store.check(reachable: reading.extents) == [])
        epochs.append(head.epoch)
        if !isReadOnly { try StoreModel(store, seed: 23).run(0) }
      }
      // The first who may write after a crash begins a new epoch.
      #expect(epochs[1] > epochs[0])
    }

    @Test func `a place in use names the process that has it`() async throws {
      let store = try RocksDBStore(path: path)
      let holder = "process \(getpid())"
      await #expect(processExitsWith: .success) {
        [path = path as String, holder = holder as String] in
        for isReadOnly in [false, true] {
          #expect(throws: StoreError.inUse(path: path, holder: holder)) {
            try RocksDBStore(path: path, options: RocksDBOptions(isReadOnly: isReadOnly))
          }
        }
      }
      try StoreModel(store, seed: 1).commit()
      try store.close()
      await #expect(processExitsWith: .success) { [path = path as String] in
        let version = try RocksDBStore(path: path).newestHead().version
        #expect(version == 1)
      }
    }

    @Test func `who reads keeps writers of other processes out`() async throws {
      try RocksDBStore(path: path).close()
      let reader = try RocksDBStore(path: path, options: RocksDBOptions(isReadOnly: true))
      await #expect(processExitsWith: .success) { [path = path as String] in
        #expect(throws: StoreError.self) { try RocksDBStore(path: path) }
        let second = try RocksDBStore(path: path, options: RocksDBOptions(isReadOnly: true))
        #expect(try second.newestHead().version == 0)
      }
      try reader.close()
    }

    @Test func `a full medium is named, and what was committed stays`() async throws {
      await #expect(processExitsWith: .success) { [path = path as String] in
        let store = try RocksDBStore(path: path, options: Self.options())
        let database = try Database(store: store)
        let first = try database.beginWrite()
        try first.setValue("a", [1])
        _ = try first.commit()
        // No file may grow beyond this.
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: 300_000, rlim_max: 300_000)
        try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
        var generator = SeededGenerator(seed: 1)
        #expect(throws: StoreError.mediumFull(path: path)) {
          for _ in 0..<100 {
            let transaction = try database.beginWrite()
            try transaction.setValue("b", generator.bytes(count: 50_000))
            try transaction.setValue("c", generator.bytes(count: 500_000))
            _ = try transaction.commit()
          }
        }
        let snapshot = try database.snapshot()
        #expect(try snapshot.value("a") == [1])
        #expect(try snapshot.value("b") == nil)
        #expect(throws: StoreError.poisoned(path: path)) { try database.beginWrite() }
      }
      let database = try Database(store: RocksDBStore(path: path))
      #expect(try database.snapshot().value("a") == [1])
      #expect(try database.verify().findings == [])
      let last = try database.beginWrite()
      try last.setValue("b", [2])
      _ = try last.commit()
      try database.close()
    }

    @Test func `a store that was opened before a fork is refused in the child`() async throws {
      await #expect(processExitsWith: .success) { [path = path as String] in
        let store = try RocksDBStore(path: path)
        let writer = try store.beginWrite()
        #expect(ForkedChild.refuses(store, path: path))
        writer.abort()
        try store.close()
      }
    }
  }
#endif
