import CambiumCore
import CambiumFile
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
    let head = try #require(pin).head
    let content = try FakeTree.read(head.root, store).content
    try store.close()
    #expect(throws: StoreError.inUse(path: path, holder: "this process")) {
      try FileStore(path: path)
    }
    #expect(try FakeTree.read(head.root, store).content == content)
    pin = nil
    let again = try FileStore(path: path)
    #expect(try again.newestHead().version == head.version)
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

  /// A device that runs something in the middle of a write.
  final class InterruptedDevice: Device {
    let base = SimulatedDevice()
    let interruption = Mutex<(@Sendable () -> Void)?>(nil)

    func byteCount() throws(DeviceError) -> Int { try base.byteCount() }
    func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DeviceError) -> Int {
      try base.read(buffer, at: offset)
    }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(DeviceError) {
      try base.write(bytes, at: offset)
      let body = interruption.withLock { body in
        defer { body = nil }
        return body
      }
      body?()
    }
    func sync() throws(DeviceError) { try base.sync() }
    func truncate(to byteCount: Int) throws(DeviceError) { try base.truncate(to: byteCount) }
    func map(byteCount: Int) throws(DeviceError) -> Mapping? { nil }
  }

  @Test(arguments: [Durability.relaxed, .none])
  func `a commit that closing overtakes fails instead of being lost later`(
    durability: Durability
  ) throws {
    let device = InterruptedDevice()
    var options = FileStoreOptions()
    options.device = { _ in device }
    let store = try FileStore(path: "interrupted", options: options)
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<2 {
      let writer = try store.beginWrite()
      let (root, _) = try FakeTree.change(writer, store, changeCount: 4, generator: &generator)
      _ = try writer.publish(root: root, durability: durability, metadata: [])
    }
    let writer = try store.beginWrite()
    let (root, _) = try FakeTree.change(writer, store, changeCount: 4, generator: &generator)
    device.interruption.withLock { $0 = { try? store.close() } }
    #expect(throws: StoreError.closed(path: "interrupted")) {
      try writer.publish(root: root, durability: durability, metadata: [])
    }
    let again = try FileStore(path: "interrupted", options: options)
    #expect(try again.newestHead().version == 2)
    let reading = try FakeTree.read(again.newestHead().root, again)
    #expect(try again.check(reachable: reading.extents) == [])
  }
}
