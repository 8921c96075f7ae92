#if RocksDB
  import CambiumCore
  import CambiumRocksDB
  import CambiumStoreContract
  import Foundation
  import Synchronization
  import TestSupport
  import Testing

  /// What power loss leaves of RocksDB's log: everything up to the last sync, and any part of the rest.
  struct RocksDBMediumTests {
    private static let subject: StoreSubject = {
      var subject = StoreSubject("rocksdb folder") { place throws(StoreError) in
        try RocksDBStore(path: place.path)
      }
      subject.medium = { try FolderMedium(TemporaryFolder()) }
      return subject
    }()

    @Test(arguments: StoreContract.media)
    func `the store keeps its promise`(promise: ContractCase<StoreSubject>) {
      #expect(promise.check(Self.subject).findings == [])
    }
  }

  /// A folder in which files only grow; those that may not be synced are cut for a power loss.
  ///
  /// It remembers no operations, so that the power is cut between the steps of the work.
  private final class FolderMedium: StoreMedium {
    private struct State {
      weak var store: RocksDBStore?
      /// How long the logs were when everything in them was synced.
      var synced: [String: Int] = [:]
    }

    private let folder: TemporaryFolder
    private let state = Mutex(State())
    private var path: String { folder.file("store") }

    init(_ folder: TemporaryFolder) { self.folder = folder }

    func open(codec: (any PageCodec)?) throws(StoreError) -> any PageStore {
      var options = RocksDBOptions(codec: codec)
      options.relaxedDelayNanoseconds = 3_600_000_000_000
      options.batchByteCount = 32 << 10
      let store = try RocksDBStore(path: path, options: options)
      state.withLock { $0.store = store }
      return store
    }

    /// What is synced when it is asked for survives.
    var operationCount: Int {
      _ = try? noteSynced()
      return 0
    }

    /// Notes how much of the logs is synced, if all of it is; how long they are.
    private func noteSynced() throws -> [String: Int] {
      let sizes = try logSizes()
      try state.withLock { state in
        let statistics = try state.store?.statistics()
        if let statistics, statistics.durableVersion == statistics.newestVersion {
          state.synced = sizes
        }
      }
      return sizes
    }

    func afterPowerLoss(atOperation: Int, seed: UInt64) throws -> any StoreMedium {
      var generator = SeededGenerator(seed: seed)
      let copy = try TemporaryFolder()
      let target = copy.file("store")
      // RocksDB removes files in the background: a copy during which one went is none of one moment.
      var names: [String] = []
      repeat {
        names = try fileNames()
        try? FileManager.default.removeItem(atPath: target)
        try? FileManager.default.copyItem(atPath: path, toPath: target)
      } while try fileNames() != names
      try? FileManager.default.removeItem(atPath: target + "/LOCK")
      let sizes = try noteSynced()
      let synced = state.withLock { $0.synced }
      for (name, byteCount) in sizes {
        let least = min(synced[name] ?? 0, byteCount)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: target + "/" + name))
        try file.truncate(
          atOffset: UInt64(Int.random(in: least...byteCount, using: &generator)))
        try file.close()
      }
      return FolderMedium(copy)
    }

    private func fileNames() throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    private func logSizes() throws -> [String: Int] {
      var sizes: [String: Int] = [:]
      for name in try fileNames() where name.hasSuffix(".log") {
        let attributes = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
        sizes[name] = attributes[.size] as? Int ?? 0
      }
      return sizes
    }
  }
#endif
