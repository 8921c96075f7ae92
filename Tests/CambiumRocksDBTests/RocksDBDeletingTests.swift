#if RocksDB
  import CambiumCore
  import CambiumRocksDB
  import Foundation
  import TestSupport
  import Testing

  /// Deleting a folder that others may have open.
  struct RocksDBDeletingTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("store") }
    private var names: [String] {
      get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    init() throws { folder = try TemporaryFolder() }

    private func fill(_ path: String) throws {
      let store = try RocksDBStore(path: path)
      try StoreModel(store, seed: 1).commit()
      try store.close()
    }

    @Test func `a folder is deleted, and deleting it again finds none`() throws {
      try fill(path)
      #expect(try RocksDBStore.delete(path: path))
      #expect(try names == [])
      #expect(try !RocksDBStore.delete(path: path))
      try fill(path)
    }

    @Test func `a write to a folder that was deleted or replaced is refused, and it can be read`()
      throws
    {
      let store = try RocksDBStore(path: path)
      let model = try StoreModel(store, seed: 1)
      try model.commit()
      #expect(store.isInPlace)
      let aside = folder.file("aside")
      try FileManager.default.moveItem(atPath: path, toPath: aside)
      for isReplaced in [false, true] {
        if isReplaced {
          // RocksDB lets a path in once in a process.
          try fill(folder.file("other"))
          try FileManager.default.moveItem(atPath: folder.file("other"), toPath: path)
        }
        #expect(!store.isInPlace)
        // Who has just looked does not look again for a millisecond.
        usleep(2_000)
        #expect(throws: StoreError.moved(path: path)) { try store.beginWrite() }
        #expect(try store.newestHead().version == 1)
      }
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.moveItem(atPath: aside, toPath: path)
      try model.commit()
      try store.close()
      #expect(try RocksDBStore(path: path).newestHead().version == 2)
    }

    @Test(arguments: [false, true])
    func `a folder that another process has open is not deleted, and the error says who has it`(
      isReadOnly: Bool
    ) async throws {
      try fill(path)
      let store = try RocksDBStore(path: path, options: RocksDBOptions(isReadOnly: isReadOnly))
      // The system does not name those who share a lock.
      let holder = isReadOnly ? "another process" : "process \(getpid())"
      await #expect(processExitsWith: .success) {
        [path = path as String, holder = holder as String] in
        #expect(throws: StoreError.inUse(path: path, holder: holder)) {
          try RocksDBStore.delete(path: path)
        }
      }
      #expect(throws: StoreError.inUse(path: path, holder: "this process")) {
        try RocksDBStore.delete(path: path)
      }
      try store.close()
      #expect(try RocksDBStore(path: path).newestHead().version == 1)
      #expect(try RocksDBStore.delete(path: path))
    }

    @Test func `a process that died with the store open does not keep it`() async throws {
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        let store = try RocksDBStore(path: path)
        try StoreModel(store, seed: 1).commit()
        kill(getpid(), SIGKILL)
      }
      #expect(try RocksDBStore.delete(path: path))
      #expect(try names == [])
    }

    @Test func `of a symbolic link the folder that it leads to is deleted, and the link`() throws {
      try fill(folder.file("data"))
      try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "data")
      #expect(try RocksDBStore.delete(path: path))
      #expect(try names == [])
    }

    @Test func `damaged stores are deleted, and folders of others are left alone`() throws {
      try fill(path)
      try FileManager.default.removeItem(atPath: path + "/CURRENT")
      #expect(throws: StoreError.self) { try RocksDBStore(path: path) }
      #expect(try RocksDBStore.delete(path: path))
      for name in ["notes.txt", "CURRENT"] {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(try !RocksDBStore.delete(path: path))
        try Data("a".utf8).write(to: URL(fileURLWithPath: path + "/" + name))
        let error = #expect(throws: StoreError.self) { try RocksDBStore.delete(path: path) }
        guard case .notAStore = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == [name])
        try FileManager.default.removeItem(atPath: path)
      }
      try Data("a".utf8).write(to: URL(fileURLWithPath: path))
      #expect(throws: StoreError.self) { try RocksDBStore.delete(path: path) }
      #expect(try names == ["store"])
    }
  }
#endif
