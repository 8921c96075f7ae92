#if RocksDB
  import CambiumCore
  import CambiumRocksDB
  import Foundation
  import Synchronization
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

    @Test
    func `a store that was opened by a relative path stays where it is when the process moves`()
      async throws
    {
      let elsewhere = folder.file("elsewhere")
      for path in [path, elsewhere + "/store"] {
        try FileManager.default.createDirectory(
          atPath: elsewhere, withIntermediateDirectories: true)
        let store = try RocksDBStore(path: path)
        try StoreModel(store, seed: 5).commit()
        try store.close()
      }
      let before = try FileManager.default.contentsOfDirectory(atPath: elsewhere + "/store")
        .sorted()
      await #expect(processExitsWith: .success) {
        [home = folder.path as String, elsewhere = elsewhere as String] in
        #expect(chdir(home) == 0)
        let store = try RocksDBStore(path: "store", options: Self.options())
        #expect(chdir(elsewhere) == 0)
        let model = try StoreModel(store, seed: 21)
        // More than one file of pages.
        for _ in 0..<40 { try model.commit() }
        try store.compact()
        // Where there is nothing of that name.
        #expect(chdir("/") == 0)
        #expect(try store.statistics().totalByteCount > 0)
        try store.close()
      }
      let after = try FileManager.default.contentsOfDirectory(atPath: elsewhere + "/store").sorted()
      #expect(before == after)
      let moved = try RocksDBStore(path: path)
      #expect(try moved.newestHead().version == 41)
      #expect(try moved.check(reachable: FakeTree.read(moved).extents) == [])
      #expect(try RocksDBStore(path: elsewhere + "/store").newestHead().version == 1)
    }

    @Test(arguments: [[Durability.full], [.relaxed], [.relaxed, .full]])
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
          try Self.commitAndDie(path, [.relaxed, .full])
        }
      }
      var epochs: [UInt64] = []
      for isReadOnly in [true, false, false] {
        var options = Self.options()
        options.isReadOnly = isReadOnly
        let store = try RocksDBStore(path: path, options: options)
        let head = try store.newestHead()
        let reading = try FakeTree.read(store)
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

    @Test func `who has closed it does not keep it through a program that is being started`() throws
    {
      try RocksDBStore(path: path).close()
      let isOver = Flag()
      let starter = Thread {
        while !isOver.value.load(ordering: .relaxed) {
          let process = Process()
          process.executableURL = URL(fileURLWithPath: "/bin/true")
          try? process.run()
          process.waitUntilExit()
        }
      }
      starter.start()
      defer { isOver.value.store(true, ordering: .relaxed) }
      for _ in 0..<150 {
        try RocksDBStore(path: path, options: RocksDBOptions(isReadOnly: true)).close()
        try RocksDBStore(path: path).close()
      }
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

    @Test func `a child of a fork is refused at once, whatever the threads of its parent did`()
      async throws
    {
      await #expect(processExitsWith: .success) { [path = path as String] in
        let store = try RocksDBStore(path: path)
        // One thread uses it.
        nonisolated(unsafe) let writer = try store.beginWrite()
        let pin = try store.pin()
        let extent = try writer.allocate(byteCount: 64)
        let reference = PageReference(
          checksum: 1, extent: extent, kind: .keyLeaf, born: writer.version)
        // Within every call it holds a lock for a moment.
        let ended = Atomic(false)
        let last = DispatchSemaphore(value: 0)
        let bytes = [UInt8](repeating: 1, count: 64)
        let first = DispatchSemaphore(value: 0)
        Thread {
          defer { last.signal() }
          while !ended.load(ordering: .relaxed) {
            try? writer.write(bytes.span, to: extent)
            _ = store.waitForCommit(after: 0, timeoutNanoseconds: 0)
            first.signal()
          }
        }.start()
        // Both have found the types that they need: a child that waits for the other's search waits for ever.
        _ = try store.statistics()
        first.wait()
        for _ in 0..<100 {
          let status = ForkedChild.status {
            do throws(StoreError) {
              _ = try store.read(reference, at: pin)
              return 1
            } catch {
              guard error == .forked(path: path) else { return 2 }
            }
            if store.waitForCommit(after: 7, timeoutNanoseconds: .max) != 7 { return 3 }
            return (try? store.statistics()) == nil ? 0 : 4
          }
          #expect(status == 0)
        }
        ended.store(true, ordering: .relaxed)
        last.wait()
        writer.abort()
        try store.close()
      }
    }

    @Test func `a child of a fork opens no other store, since RocksDB's threads are not there`()
      async throws
    {
      await #expect(processExitsWith: .success) { [path = path as String] in
        try RocksDBStore(path: path).close()
        func isRefused(_ body: () throws -> Void) -> Bool {
          do {
            try body()
            return false
          } catch {
            guard case .storeUnavailable? = error as? StoreError else { return false }
            return "\(error)".contains("exec")
          }
        }
        let status = ForkedChild.status {
          guard isRefused({ _ = try RocksDBStore(path: path) }) else { return 1 }
          guard isRefused({ _ = try RocksDBStore(path: path + ".other") }) else { return 2 }
          return isRefused({ try RocksDBStore.delete(path: path) }) ? 0 : 3
        }
        #expect(status == 0)
        try RocksDBStore(path: path).close()
      }
    }

    @Test func `no epoch comes twice, whether or not something was committed between crashes`()
      async throws
    {
      func epoch() throws -> UInt64 {
        let store = try RocksDBStore(path: path)
        defer { try? store.close() }
        return try store.newestHead().epoch
      }
      var epochs = [try epoch()]
      for _ in 0..<2 {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
          let store = try RocksDBStore(path: path, options: Self.options())
          _ = try store.beginWrite().publish(root: .empty(.key), durability: .full, metadata: [])
          kill(getpid(), SIGKILL)
        }
        epochs.append(try epoch())
        // Who opens it and writes nothing begins none.
        #expect(try epoch() == epochs.last)
      }
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        let store = try RocksDBStore(path: path, options: Self.options())
        _ = try store.beginWrite().publish(root: .empty(.key), durability: .full, metadata: [])
        kill(getpid(), SIGKILL)
      }
      for _ in 0..<2 {
        // Who opens it after the crash dies as well, before anything is committed.
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
          let store = try RocksDBStore(path: path, options: Self.options())
          withExtendedLifetime(store) { _ = kill(getpid(), SIGKILL) }
        }
      }
      epochs.append(try epoch())
      // Each first write begins one, and so does whoever finds that there was a crash.
      #expect(epochs == [1, 3, 5, 9])
    }

    @Test func `a compaction that fails says why, and the content stays`() async throws {
      await #expect(processExitsWith: .success) { [path = path as String] in
        var options = Self.options()
        options.compression = .none
        let store = try RocksDBStore(path: path, options: options)
        let database = try Database(store: store)
        var generator = SeededGenerator(seed: 1)
        for index in 0..<4 {
          let transaction = try database.beginWrite()
          try transaction.setValue("\(index)", generator.bytes(count: 500_000))
          _ = try transaction.commit()
        }
        try store.compact()
        // No file may grow beyond this, which one with all pages would; nothing else is to be written.
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: 1_000_000, rlim_max: 1_000_000)
        try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
        #expect(throws: StoreError.mediumFull(path: path)) { try store.compact() }
        #expect(try database.snapshot().value("3")?.count == 500_000)
      }
      let database = try Database(store: RocksDBStore(path: path))
      #expect(try database.verify().findings == [])
      try database.close()
      let store = try RocksDBStore(path: path)
      try store.compact()
    }
  }

  /// A truth value that threads share.
  private final class Flag: Sendable {
    let value = Atomic(false)
  }
#endif
