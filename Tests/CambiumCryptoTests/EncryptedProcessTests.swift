#if Crypto
  import CambiumCore
  import CambiumCrypto
  import CambiumFile
  import CambiumZstd
  import Foundation
  import TestSupport
  import Testing

  /// Several processes on one encrypted file, some of which are killed and some have another key.
  struct EncryptedProcessTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("a.cambium") }

    init() throws { folder = try TemporaryFolder() }

    /// Opens the file with a key of that number, compressed as well when the file is.
    private static func open(
      _ path: String, key: UInt8 = 1, isSmall: Bool = false, isReadOnly: Bool = false
    ) throws(StoreError) -> Database {
      let cipher = try AESCodec(key: Keys.key(key))
      #if Zstd
        let codec: any PageCodec = isSmall ? CodecChain([try ZstdCodec(), cipher]) : cipher
      #else
        let codec = cipher
      #endif
      var options = FileStoreOptions(isReadOnly: isReadOnly, codec: codec)
      options.checkpointAfterRecordCount = 8
      return try Database(store: FileStore(path: path, options: options))
    }

    private func expectSound(isSmall: Bool = false) throws {
      let database = try Self.open(path, isSmall: isSmall)
      try Ring(database).check()
      #expect(try database.verify().findings == [])
      try database.close()
      for name in ["a.cambium", "a.cambium.lock"] {
        let bytes = try? Data(contentsOf: URL(fileURLWithPath: folder.file(name)))
        // The name of every key; four bytes may come by chance, but not twice.
        let first = bytes?.range(of: Data("key/".utf8))
        let second = first.flatMap { bytes?[$0.upperBound...].range(of: Data("key/".utf8)) }
        #expect(second == nil, "\(name)")
      }
    }

    @Test(arguments: [false, true])
    func `writers and readers of four processes keep the ring whole`(isSmall: Bool) async throws {
      try Ring(Self.open(path, isSmall: isSmall)).make()
      await withTaskGroup(of: Void.self) { [path = path as String] group in
        for index in 0..<4 as Range<UInt64> {
          group.addTask {
            await #expect(processExitsWith: .success) {
              [path = path as String, index = index as UInt64, isSmall = isSmall as Bool] in
              // Whoever waits for ever fails.
              Killing.after(microseconds: 900_000_000)
              let reads = index >= 2
              let database = try Self.open(
                path, isSmall: isSmall, isReadOnly: index == 3)
              if reads {
                try Ring(database).watch(seed: index, until: 61)
              } else {
                try Ring(database).work(seed: index, count: 30)
              }
            }
          }
        }
      }
      let database = try Self.open(path, isSmall: isSmall)
      #expect(try database.snapshot().version == 61)
      try database.close()
      try expectSound(isSmall: isSmall)
    }

    @Test func `processes that are killed at random moments lose, tear and show nothing`()
      async throws
    {
      try Ring(Self.open(path)).make()
      var generator = SeededGenerator(seed: 4712)
      for round in 0..<3 as Range<UInt64> {
        let delays = (0..<3).map { _ in UInt32.random(in: 1000...80_000, using: &generator) }
        await withTaskGroup(of: Void.self) { [path = path as String] group in
          for (index, delay) in delays.enumerated() {
            group.addTask {
              await #expect(processExitsWith: .signal(SIGKILL)) {
                [
                  path = path as String, seed = round * 10 + UInt64(index) as UInt64,
                  delay = delay as UInt32, reads = (index == 2) as Bool
                ] in
                Killing.after(microseconds: delay)
                if reads { try Ring(Self.open(path, isReadOnly: true)).watch(seed: seed) }
                try Ring(Self.open(path)).work(seed: seed, count: .max)
              }
            }
          }
        }
        try expectSound()
      }
    }

    @Test func `a process that is killed in the middle of a commit leaves what was there`()
      async throws
    {
      try Ring(Self.open(path)).make()
      let watcher = try Self.open(path, isReadOnly: true)
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        let database = try Self.open(path)
        try database.beginWrite().rollback()
        let transaction = try database.beginWrite()
        // Pages are written long before the commit.
        let tree = try transaction.editKeyTree("keys")
        for key in 0..<20_000 {
          try tree.set(Array("key \(key)".utf8), [UInt8](repeating: 5, count: 100))
        }
        _ = try tree.flush()
        for key in 0..<64 { try transaction.setValue("key/\(key)", [48]) }
        kill(getpid(), SIGKILL)
      }
      try Ring(watcher).check()
      #expect(try watcher.snapshot().version == 1)
      try watcher.close()
      var generator = SeededGenerator(seed: 1)
      let next = try Self.open(path)
      try Ring(next).turn(&generator)
      try next.close()
      try expectSound()
    }

    @Test func `a process with another key, or none, is refused and disturbs nobody`()
      async throws
    {
      try Ring(Self.open(path)).make()
      let database = try Self.open(path)
      var kept: Snapshot? = try database.snapshot()
      await withTaskGroup(of: Void.self) { [path = path as String] group in
        group.addTask {
          await #expect(processExitsWith: .success) { [path = path as String] in
            try Ring(Self.open(path)).work(seed: 7, count: 40)
          }
        }
        group.addTask {
          await #expect(processExitsWith: .success) { [path = path as String] in
            let wrongKey = StoreError.codecFailure(
              codec: "aes-256-gcm",
              reason: "the key is not the one with which the store was encrypted")
            for round in 0..<10 {
              let isReadOnly = round % 2 == 1
              #expect(throws: wrongKey) {
                try Self.open(path, key: 2, isReadOnly: isReadOnly).close()
              }
              #if Zstd
                #expect(throws: StoreError.self) {
                  try Self.open(path, isSmall: true, isReadOnly: isReadOnly).close()
                }
              #endif
              let error = #expect(throws: StoreError.self) {
                try FileStore(path: path, options: FileStoreOptions(isReadOnly: isReadOnly))
                  .close()
              }
              guard case .codecMismatch(_, "aes-256-gcm", "none") = error else {
                Issue.record("no codec: \(String(describing: error))")
                return
              }
            }
          }
        }
      }
      try Ring(database).check()
      #expect(try database.snapshot().version == 41)
      #expect(kept?.version == 1)
      kept = nil
      try database.close()
      try expectSound()
    }
  }
#endif
