import CambiumCore
import CambiumFile
import Foundation
import Synchronization
import TestSupport
import Testing

/// Deleting a file that others may have open.
@Suite struct DeletingTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("store.cambium") }
  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
  }

  init() throws { folder = try TemporaryFolder() }

  private func fill(_ path: String) throws {
    let store = try FileStore(path: path)
    _ = try store.beginWrite().publish(root: .empty(.key), durability: .full, metadata: [])
    try store.close()
  }

  @Test func `a file is deleted with its lock file, and deleting it again finds none`() throws {
    try fill(path)
    #expect(try FileStore.delete(path: path))
    #expect(try names == [])
    #expect(try !FileStore.delete(path: path))
    try fill(path)
    #expect(try FileStore(path: path).newestHead().version == 1)
  }

  @Test(arguments: [false, true])
  func `a file that another process has open is not deleted, and the error says who has it`(
    isReadOnly: Bool
  ) async throws {
    try fill(path)
    let store = try FileStore(path: path, options: FileStoreOptions(isReadOnly: isReadOnly))
    let holder = "process \(getpid())"
    await #expect(processExitsWith: .success) {
      [path = path as String, holder = holder as String] in
      #expect(throws: StoreError.inUse(path: path, holder: holder)) {
        try FileStore.delete(path: path)
      }
    }
    #expect(throws: StoreError.inUse(path: path, holder: "this process")) {
      try FileStore.delete(path: path)
    }
    #expect(try names == ["store.cambium", "store.cambium.lock"])
    try store.close()
    #expect(try FileStore.delete(path: path))
  }

  @Test func `a process that died with the file open does not keep it`() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let store = try FileStore(path: path)
      _ = try store.beginWrite().publish(root: .empty(.key), durability: .relaxed, metadata: [])
      kill(getpid(), SIGKILL)
    }
    #expect(try names == ["store.cambium", "store.cambium.lock"])
    #expect(try FileStore.delete(path: path))
    #expect(try names == [])
  }

  @Test func `a file is not deleted while it is compacted`() throws {
    try fill(path)
    _ = try FileStore.compact(
      path: path,
      recoding: { _ throws(StoreError) in
        #expect(throws: StoreError.inUse(path: path, holder: "somebody who compacts it")) {
          try FileStore.delete(path: path)
        }
        return nil
      })
    #expect(try FileStore(path: path).newestHead().version == 1)
  }

  @Test func `of a symbolic link the file that it leads to is deleted, and the link`() throws {
    let place = folder.file("place")
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
    try fill(place + "/data")
    try FileManager.default.createSymbolicLink(
      atPath: path, withDestinationPath: "place/data")
    let store = try FileStore(path: place + "/data")
    #expect(throws: StoreError.inUse(path: path, holder: "this process")) {
      try FileStore.delete(path: path)
    }
    try store.close()
    #expect(try FileStore.delete(path: path))
    #expect(try names == ["place"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: place) == [])
  }

  @Test func `a link that leads nowhere stays`() throws {
    try FileManager.default.createSymbolicLink(
      atPath: path, withDestinationPath: "not mounted/data")
    #expect(try !FileStore.delete(path: path))
    #expect(try names == ["store.cambium"])
  }

  @Test func `what a killed compaction left goes with the file`() throws {
    try fill(path)
    for name in [".compacting", ".compacting.lock", ".creating"] {
      #expect(FileManager.default.createFile(atPath: path + name, contents: Data("a".utf8)))
    }
    #expect(try FileStore.delete(path: path))
    #expect(try names == [])
  }

  @Test func `damaged files are deleted, and what is no file is left alone`() throws {
    try Data("damaged".utf8).write(to: folder.url("store.cambium"))
    #expect(try FileStore.delete(path: path))
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    #expect(throws: StoreError.notAFile(path: path, found: "a directory")) {
      try FileStore.delete(path: path)
    }
    #expect(try names == ["store.cambium"])
  }

  @Test func `a lock file without its file goes when nobody uses it any more`() throws {
    let store = try FileStore(path: path)
    try FileManager.default.moveItem(atPath: path, toPath: folder.file("moved"))
    #expect(try !FileStore.delete(path: path))
    #expect(try names == ["moved", "store.cambium.lock"])
    try store.close()
    #expect(try !FileStore.delete(path: path))
    #expect(try names == ["moved"])
  }

  /// Two delete at a time, so that what one of them has opened may be another file by the time when it
  /// is locked.
  @Test func `who opens a file that is deleted just then makes a new one`() throws {
    let hasEnded = Atomic(false)
    let failures = Mutex<[String]>([])
    let ended = DispatchSemaphore(value: 0)
    for _ in 0..<2 {
      Thread { [path] in
        defer { ended.signal() }
        while !hasEnded.load(ordering: .relaxed) {
          do throws(StoreError) {
            _ = try FileStore.delete(path: path)
          } catch {
            if case .inUse = error { continue }
            failures.withLock { $0.append("\(error)") }
          }
        }
      }.start()
    }
    for _ in 0..<300 {
      do {
        let (first, second) = (try FileStore(path: path), try FileStore(path: path))
        let pin = try first.beginWrite().publish(
          root: .empty(.key), durability: .relaxed, metadata: [])
        #expect(try second.newestHead().version == pin.head.version)
        try second.close()
        try first.close()
      } catch {
        Issue.record(error)
        break
      }
    }
    hasEnded.store(true, ordering: .relaxed)
    for _ in 0..<2 { ended.wait() }
    #expect(failures.withLock { $0 } == [])
  }
}
