import CambiumCore
import CambiumFile
import Foundation
import Synchronization
import TestSupport
import Testing

/// Opens, commits and closes while the file is compacted and replaced again and again.
struct CompactionRaceTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("a.cambium") }

  private struct Progress {
    var committed: Set<String> = []
    var failures: [String] = []
    var running = 2
  }

  init() throws { folder = try TemporaryFolder() }

  @Test func `an opener that races the rename of a compaction loses no commit`() throws {
    try FileStore(path: path).close()
    let ended = DispatchSemaphore(value: 0)
    let state = Mutex(Progress())
    let path = path
    for worker in 0..<2 {
      Thread {
        for index in 0..<25 {
          do throws(StoreError) {
            let database = try Database(store: FileStore(path: path))
            let transaction = try database.beginWrite()
            let name = "\(worker)/\(index)"
            try transaction.setValue(name, [UInt8](repeating: 7, count: 600))
            _ = try transaction.commit()
            state.withLock { _ = $0.committed.insert(name) }
            try database.close()
          } catch {
            state.withLock { $0.failures.append("\(error)") }
          }
        }
        state.withLock { $0.running -= 1 }
        ended.signal()
      }.start()
    }
    // Not for as long as they run: whoever compacts without pause lets nobody else in.
    for _ in 0..<40 where state.withLock({ $0.running }) > 0 {
      do throws(StoreError) {
        _ = try FileStore.compact(path: path)
      } catch {
        guard case .inUse = error else { throw error }
      }
    }
    for _ in 0..<2 { ended.wait() }
    _ = try FileStore.compact(path: path)
    let committed = state.withLock { $0.committed }
    #expect(state.withLock { $0.failures } == [])
    let database = try Database(store: FileStore(path: path))
    #expect(Set(try database.snapshot().names(withPrefix: "")) == committed)
    #expect(committed.count == 50)
    #expect(try database.verify().findings == [])
    try database.close()
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(names == ["a.cambium", "a.cambium.lock"])
  }
}
