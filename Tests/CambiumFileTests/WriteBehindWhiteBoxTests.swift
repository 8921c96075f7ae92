import CambiumCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CambiumFile

/// Chunks of a large commit that a second thread writes.
struct WriteBehindWhiteBoxTests {
  /// A file that is an array, and the threads that wrote it.
  private final class File: Sendable {
    struct Content {
      var bytes = [UInt8](repeating: 0xee, count: 1 << 16)
      var offsets: [Int] = []
      var threads: Set<Thread> = []
    }
    let content = Mutex(Content())
    /// Let through before each write.
    let gate = DispatchSemaphore(value: 0)

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
      gate.wait()
      content.withLock { content in
        content.bytes.replaceSubrange(offset..<offset + bytes.count, with: bytes)
        content.offsets.append(offset)
        content.threads.insert(Thread.current)
      }
    }
  }

  private static let full = StoreError.mediumFull(path: "simulated")

  private func reference(at offset: Int, byteCount: Int) -> PageReference {
    PageReference(
      checksum: 0,
      extent: Extent(address: UInt64(offset / 64), unitCount: UInt64(byteCount / 64)),
      kind: .columnLeaf, born: 1)
  }

  @Test func `a page is found until it is in the file, and chunks are written in order`() throws {
    let (behind, file) = (WriteBehind(BackgroundLane()), File())
    for chunk in 0..<20 {
      try behind.finish()
      var bytes = behind.takeSpare()
      #expect(bytes.isEmpty)
      // Only what lies before the last 128 bytes is to be written.
      bytes += [UInt8](repeating: UInt8(chunk), count: 640) + [UInt8](repeating: 0xff, count: 128)
      behind.hand(bytes, count: 640, at: chunk * 640) { bytes, offset in
        file.write(bytes, at: offset)
      }
      let page = try #require(behind.page(reference(at: chunk * 640 + 64, byteCount: 128)))
      let isWhole = UnsafeRawBufferPointer(start: page.bytes, count: 128).allSatisfy {
        $0 == UInt8(chunk)
      }
      #expect(isWhole)
      #expect(behind.page(reference(at: chunk * 640 + 576, byteCount: 128)) == nil)
      file.gate.signal()
    }
    try behind.finish()
    #expect(behind.page(reference(at: 19 * 640, byteCount: 64)) == nil)
    let content = file.content.withLock { $0 }
    #expect(content.offsets == (0..<20).map { $0 * 640 })
    #expect((0..<20).allSatisfy { content.bytes[$0 * 640 + 639] == UInt8($0) })
    #expect(content.bytes[20 * 640] == 0xee)
  }

  @Test func `the memory of a chunk serves the next one`() throws {
    let behind = WriteBehind(BackgroundLane())
    func address(_ bytes: borrowing [UInt8]) -> UInt {
      bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(1 << 20)
    var addresses: Set<UInt> = [address(bytes)]
    for _ in 0..<50 {
      bytes += [UInt8](repeating: 1, count: 1 << 20)
      behind.hand(consume bytes, count: 1 << 20, at: 0) { _, _ in }
      try behind.finish()
      bytes = behind.takeSpare()
      // Where this thread was kept from going on for long, the memory has been let go.
      if bytes.capacity > 0 { addresses.insert(address(bytes)) }
      bytes.reserveCapacity(1 << 20)
    }
    #expect(addresses.count < 25, "\(addresses.count) chunks have brought their own memory")
  }

  @Test func `a failure is told until the write is given up`() throws {
    let behind = WriteBehind(BackgroundLane())
    behind.hand([1, 2, 3], count: 3, at: 0) { _, _ throws(StoreError) in throw Self.full }
    #expect(throws: Self.full) { try behind.finish() }
    #expect(throws: Self.full) { try behind.finish() }
    behind.drop()
    try behind.finish()
  }

  @Test func `what was dropped is not written later`() throws {
    for _ in 0..<200 {
      let (behind, count) = (WriteBehind(BackgroundLane()), Count())
      behind.hand([1, 2, 3], count: 3, at: 0) { _, _ in count.add() }
      behind.drop()
      let before = count.value
      #expect(before <= 1)
      try behind.finish()
      #expect(count.value == before)
    }
  }

  private final class Count: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .sequentiallyConsistent) }
    func add() { count.wrappingAdd(1, ordering: .sequentiallyConsistent) }
  }

  @Test(arguments: [Durability.full, .relaxed])
  func `pages of a large write are read before and after they are in the file`(
    durability: Durability
  ) throws {
    let folder = try TemporaryFolder()
    var options = FileStoreOptions()
    options.gatheredByteCount = 64 << 10
    let store = try FileStore(path: folder.file("a.cambium"), options: options)
    let database = try Database(store: store)
    let transaction = try database.beginWrite(expecting: durability)
    let tree = try transaction.editKeyTree("values")
    var generator = SeededGenerator(seed: 7)
    var model: [[UInt8]: [UInt8]] = [:]
    for round in 0..<30 {
      for _ in 0..<400 {
        let key = (0..<12).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let value = (0..<40).map { _ in UInt8.random(in: 0...255, using: &generator) }
        model[key] = value
        try tree.set(key, value)
      }
      _ = try tree.flush()
      if round % 3 == 0 {
        for (key, value) in model.prefix(200) { #expect(try tree.tree.value(for: key) == value) }
      }
    }
    let snapshot = try transaction.commit(durability: durability)
    let stored = try #require(try snapshot.keyTree("values"))
    #expect(stored.count == model.count)
    for (key, value) in model { #expect(try stored.value(for: key) == value) }
    #expect(try database.verify().findings == [])
    try database.close()
  }

  @Test
  func `a child that was forked in the middle of a large write gives it up, not its parent's`()
    async throws
  {
    await #expect(processExitsWith: .success) {
      let (begun, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let main = ThreadIdentity()
      let device = SimulatedDevice()
      var options = CrashSettings.options(device)
      options.gatheredByteCount = 128 << 10
      options.lane = nil
      let database = try Database(store: FileStore(path: "simulated", options: options))
      let transaction = try database.beginWrite()
      let tree = try transaction.editKeyTree("values")
      device.watch {
        if main.isCurrent { return }
        begun.signal()
        _ = gate.wait(timeout: .now() + 60)
      }
      // One chunk is handed over, and what follows it does not fill another.
      var generator = SeededGenerator(seed: 7)
      var model: [[UInt8]: [UInt8]] = [:]
      for _ in 0..<3_000 {
        let key = (0..<12).map { _ in UInt8.random(in: 0...255, using: &generator) }
        model[key] = (0..<40).map { _ in UInt8.random(in: 0...255, using: &generator) }
        try tree.set(key, model[key] ?? [])
      }
      _ = try tree.flush()
      #expect(begun.wait(timeout: .now() + 60) == .success)
      let status = ForkedChild.status {
        do throws(StoreError) {
          try tree.set([1], [2])
          _ = try tree.flush()
          return 1
        } catch {
          transaction.rollback()
          return error == .forked(path: "simulated") ? 0 : 2
        }
      }
      #expect(status == 0)
      for _ in 0..<1_000 { gate.signal() }
      let stored = try #require(try transaction.commit().keyTree("values"))
      for (key, value) in model { #expect(try stored.value(for: key) == value) }
      try database.close()
    }
  }
}
