import CambiumCore
import CambiumFile
import Foundation
import TestSupport
import Testing

/// A file that is deleted, moved away or replaced while it is open.
@Suite struct MovedFileTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("store.cambium")
  }

  private func commit(_ store: FileStore) throws {
    _ = try store.beginWrite().publish(root: .empty(.key), durability: .full, metadata: [])
  }

  /// Who has just looked does not look again for a millisecond.
  private func pass() { usleep(2_000) }

  @Test func `a write to a deleted file is refused, what is open can be read, and closing works`()
    throws
  {
    let store = try FileStore(path: path)
    try commit(store)
    let pin = try store.pin()
    #expect(store.isInPlace)
    try FileManager.default.removeItem(atPath: path)
    #expect(!store.isInPlace)
    pass()
    #expect(throws: StoreError.moved(path: path)) { try store.beginWrite() }
    #expect(throws: StoreError.moved(path: path)) { try store.beginWriteIfFree() }
    #expect(try store.newestHead().version == 1 && store.isNewest(pin))
    try store.close()
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `who waits in the background is told, too`() async throws {
    let store = try FileStore(path: path)
    try FileManager.default.removeItem(atPath: path)
    let error = await withCheckedContinuation { continuation in
      store.beginWrite { result in
        switch result {
        case .success(let writer):
          writer.abort()
          continuation.resume(returning: StoreError?.none)
        case .failure(let error): continuation.resume(returning: error)
        }
      }
    }
    #expect(error == .moved(path: path))
    try store.close()
  }

  @Test func `a file that comes back is written again`() throws {
    let store = try FileStore(path: path)
    try commit(store)
    try FileManager.default.moveItem(atPath: path, toPath: folder.file("aside"))
    pass()
    #expect(throws: StoreError.moved(path: path)) { try store.beginWrite() }
    try FileManager.default.moveItem(atPath: folder.file("aside"), toPath: path)
    try commit(store)
    try store.close()
    #expect(try FileStore(path: path).newestHead().version == 2)
  }

  @Test func `what was committed before the file was moved is stored in it at the end`() throws {
    let options = FileStoreOptions.withoutTimers
    let aside = folder.file("aside")
    let database = try Database(store: FileStore(path: path, options: options))
    for number in 0..<5 as Range<UInt8> {
      let transaction = try database.beginWrite()
      try transaction.setValue("number", [number])
      _ = try transaction.commit(durability: .relaxed)
    }
    #expect(try database.snapshot().value("number") == [4])
    try FileManager.default.moveItem(atPath: path, toPath: aside)
    pass()
    #expect(throws: StoreError.moved(path: path)) { try database.beginWrite() }
    try database.close()
    let moved = try Database(store: FileStore(path: aside))
    #expect(try moved.snapshot().value("number") == [4])
    #expect(try moved.verify().findings == [])
    try moved.close()
  }

  @Test func `nothing is written to the one that takes its place`() throws {
    let store = try FileStore(path: path)
    for _ in 0..<3 { try commit(store) }
    try FileManager.default.removeItem(atPath: path)
    let other = try FileStore(path: path)
    try commit(other)
    pass()
    #expect(throws: StoreError.moved(path: path)) { try store.beginWrite() }
    try store.close()
    try commit(other)
    try other.close()
    #expect(try FileStore(path: path).newestHead().version == 2)
  }
}
