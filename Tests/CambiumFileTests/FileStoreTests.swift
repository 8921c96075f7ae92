import CambiumCore
import CambiumFile
import TestSupport
import Testing

struct FileStoreTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("a.cambium") }

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: [FileStoreOptions.Access.mapped, .buffered], 1...6 as ClosedRange<UInt64>)
  func `every held version reads as committed through random work and reopening`(
    access: FileStoreOptions.Access, seed: UInt64
  ) throws {
    var options = FileStoreOptions(access: access)
    options.checkpointAfterRecordCount = 4
    var content: FakeTree.Content = []
    for round in 0..<4 {
      let store = try FileStore(path: path, options: options)
      #expect(store.recoveryNotes == [])
      let model = try StoreModel(store, seed: seed * 10 + UInt64(round))
      #expect(model.content == content)
      try model.run(30)
      content = model.content
      #expect(model.findings == [])
      model.releaseAll()
      try model.check("at the end")
      try store.close()
    }
  }

  @Test(arguments: Durability.allCases)
  func `a closed store opens at its newest version`(durability: Durability) throws {
    let store = try FileStore(path: path)
    let model = try StoreModel(store, seed: 1, durabilities: [durability])
    for _ in 0..<20 { try model.commit() }
    let head = try store.newestHead()
    try store.close()
    let again = try FileStore(path: path)
    #expect(try again.newestHead() == head)
    #expect(try FakeTree.read(again).content == model.content)
    let identity = again.identity
    #expect(identity.uuid == store.identity.uuid)
  }

  @Test func `a commit of many megabytes is read back and its room used again`() throws {
    var options = FileStoreOptions()
    options.checkpointAfterRecordCount = 2
    options.largestSingleSyncByteCount = 1 << 20
    let store = try FileStore(path: path, options: options)
    var generator = SeededGenerator(seed: 1)
    for round in 0..<6 {
      let writer = try store.beginWrite()
      let (root, content) = try FakeTree.change(
        writer, store, changeCount: 1500, generator: &generator)
      let pin = try writer.publish(root: root, durability: .full, metadata: [])
      let reading = try FakeTree.read(pin, store)
      #expect(reading.content == content, "round \(round)")
      #expect(try store.check(reachable: reading.extents) == [])
    }
    let reachable = try FakeTree.read(store).extents
      .reduce(0) { $0 + $1.byteCount }
    #expect(reachable > 1 << 20)
    #expect(try store.statistics().totalByteCount < reachable * 3 + (4 << 20))
  }

  @Test func `only who is alone may replace a store`() throws {
    let first = try FileStore(path: path)
    let refusal = StoreError.inUse(path: path, holder: "this process")
    #expect(throws: refusal) { try FileStore.compact(path: path) }
    #expect(try FileStore.inspect(path: path).holder == "this process")
    try first.close()
    #expect(try FileStore.inspect(path: path).holder == nil)
    _ = try FileStore.compact(path: path)
  }

  @Test func `relaxed commits become durable on their own`() throws {
    let store = try FileStore(path: path)
    let model = try StoreModel(store, seed: 3, durabilities: [.relaxed])
    for _ in 0..<5 { try model.commit() }
    while try store.statistics().durableVersion < 5 {
      _ = store.waitForCommit(after: 5, timeoutNanoseconds: 10_000_000)
    }
    #expect(try store.statistics().newestVersion == 5)
  }

  @Test func `a file that outgrows its mapping gets a larger one and old pins stay`() throws {
    var options = FileStoreOptions()
    options.smallestMappingByteCount = 64 << 10
    let store = try FileStore(path: path, options: options)
    let model = try StoreModel(store, seed: 8)
    try model.commit()
    let old = try store.pin()
    let children = try FakeTree.read(old, store).children
    for _ in 0..<400 { try model.commit() }
    let new = try store.pin()
    #expect(old.base != nil && new.base != nil && old.base != new.base)
    #expect(new.readableByteCount > 4 * old.readableByteCount)
    let base = try #require(old.base)
    for child in children {
      #expect(Checksum.hash(base + child.byteOffset, child.byteCount) == child.checksum)
    }
    try model.check("with the larger mapping")
    #expect(model.findings == [])
  }

  @Test func `sync makes everything durable at once`() throws {
    let store = try FileStore(path: path)
    let model = try StoreModel(store, seed: 4, durabilities: [.relaxed])
    for _ in 0..<5 { try model.commit() }
    try store.sync()
    #expect(try store.statistics().durableVersion == 5)
  }

  @Test func `waiters see the commit they wait for`() async throws {
    let store = try FileStore(path: path)
    let model = try StoreModel(store, seed: 5)
    let waiter = Task.detached {
      store.waitForCommit(after: 0, timeoutNanoseconds: 3_600_000_000_000)
    }
    try model.commit()
    #expect(await waiter.value >= 1)
  }

  @Test func `a store takes the place of another in one step`() throws {
    let old = try FileStore(path: path)
    try StoreModel(old, seed: 6).commit()
    let new = try FileStore(path: folder.file("new"))
    let model = try StoreModel(new, seed: 7)
    for _ in 0..<3 { try model.commit() }
    try new.close()
    #expect(throws: StoreError.inUse(path: path, holder: "this process")) {
      try FileStore.replace(path: path, with: folder.file("new"))
    }
    try old.close()
    try FileStore.replace(path: path, with: folder.file("new"))
    let store = try FileStore(path: path)
    #expect(try FakeTree.read(store).content == model.content)
    #expect(throws: StoreError.notFound(path: folder.file("new"))) {
      try FileStore(path: folder.file("new"), options: FileStoreOptions(isReadOnly: true))
    }
  }

  @Test func `concurrent writers take turns`() async throws {
    let store = try FileStore(path: path)
    try await withThrowingTaskGroup { group in
      for task in 0..<4 {
        group.addTask {
          var generator = SeededGenerator(seed: UInt64(task))
          for _ in 0..<10 {
            let writer = try store.beginWrite()
            let (root, _) = try FakeTree.change(
              writer, store, changeCount: 2, generator: &generator)
            _ = try writer.publish(root: root, durability: .relaxed, metadata: [])
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try store.newestHead().version == 40)
    let reading = try FakeTree.read(store)
    #expect(try store.check(reachable: reading.extents) == [])
  }
}
