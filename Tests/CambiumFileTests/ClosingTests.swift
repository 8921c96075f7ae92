import CambiumCore
import CambiumFile
import Dispatch
import Synchronization
import TestSupport
import Testing

/// What closing a store means for those who still use it.
struct ClosingTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("a.cambium") }

  init() throws { folder = try TemporaryFolder() }

  private func commit(_ store: FileStore, seed: UInt64) throws -> Pin {
    var generator = SeededGenerator(seed: seed)
    let writer = try store.beginWrite()
    let (root, _) = try FakeTree.change(writer, store, changeCount: 8, generator: &generator)
    return try writer.publish(root: root, durability: .full, metadata: [])
  }

  @Test func `nobody writes over a version that is still pinned after its store was closed`() throws
  {
    let store = try FileStore(path: path)
    var pin: Pin? = try commit(store, seed: 1)
    let version = try #require(pin).head.version
    let content = try FakeTree.read(#require(pin), store).content
    try store.close()
    #expect(throws: StoreError.inUse(path: path, holder: "this process")) {
      try FileStore(path: path)
    }
    #expect(try FakeTree.read(#require(pin), store).content == content)
    pin = nil
    let again = try FileStore(path: path)
    #expect(try again.newestHead().version == version)
  }

  @Test func `a file stays locked until the write that was running has ended`() throws {
    let store = try FileStore(path: path)
    _ = try commit(store, seed: 1)
    let writer = try store.beginWrite()
    try store.close()
    #expect(throws: StoreError.self) { try FileStore(path: path) }
    writer.abort()
    #expect(try FileStore(path: path).newestHead().version == 1)
  }

  @Test
  func
    `however many wait for a write that was asked for, closing tells each of them once, in order`()
    throws
  {
    let store = try FileStore(path: path)
    let writer = try store.beginWrite()
    let told = Mutex<[Int]>([])
    let all = DispatchSemaphore(value: 0)
    let count = 20_000
    for number in 0..<count {
      store.beginWrite { result in
        #expect(throws: StoreError.self) { _ = try result.get() }
        let isLast = told.withLock { told in
          told.append(number)
          return told.count == count
        }
        if isLast { all.signal() }
      }
    }
    try store.close()
    writer.abort()
    all.wait()
    #expect(told.withLock { $0 } == Array(0..<count))
    try FileStore(path: path).close()
  }

  @Test func `closing wakes those who wait for a commit`() async throws {
    let store = try FileStore(path: path)
    async let newest = Task.detached {
      store.waitForCommit(after: 0, timeoutNanoseconds: .max)
    }.value
    try store.close()
    #expect(await newest == 0)
  }
}
