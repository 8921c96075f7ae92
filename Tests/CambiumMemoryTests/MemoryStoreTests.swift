import CambiumCore
import CambiumMemory
import CambiumStoreKit
import Foundation
import Synchronization
import TestSupport
import Testing

struct MemoryStoreTests {
  @Test(arguments: UInt64(1)...12)
  func `every held version reads as committed through random work`(seed: UInt64) throws {
    let store = MemoryStore()
    let model = try StoreModel(store, seed: seed)
    try model.run(60)
    #expect(model.findings == [])
    model.releaseAll()
    try model.check("at the end")
    #expect(model.findings == [])
    #expect(try store.statistics().pendingByteCount == 0)
    #expect(try store.statistics().pinnedVersions == [])
  }

  @Test(
    .disabled(
      if: ProcessInfo.processInfo.environment["CAMBIUM_SANITIZER"] == "thread",
      "The thread sanitizer ends a child that starts threads."))
  func `a forked child that lets a write go runs nothing that its parent has asked for`() async {
    await #expect(processExitsWith: .success) {
      let store = MemoryStore()
      // Used by the child's only thread and by the parent's, one after the other.
      nonisolated(unsafe) let writer = try store.beginWrite()
      let begun = Atomic(0)
      let isDone = DispatchSemaphore(value: 0)
      store.beginWrite { _ in
        begun.add(1, ordering: .sequentiallyConsistent)
        isDone.signal()
      }
      let status = Mutex<Int32>(-1)
      let hasEnded = DispatchSemaphore(value: 0)
      Thread {
        let result = ForkedChild.status {
          writer.abort()
          return begun.load(ordering: .sequentiallyConsistent) == 0 ? 0 : 1
        }
        status.withLock { $0 = result }
        hasEnded.signal()
      }.start()
      hasEnded.wait()
      #expect(status.withLock { $0 } == 0)
      writer.abort()
      isDone.wait()
    }
  }

  @Test func `room of dropped pages is used again`() throws {
    let store = MemoryStore()
    let model = try StoreModel(store, seed: 3)
    for _ in 0..<300 { try model.commit() }
    let extents = try FakeTree.read(store).extents
    let reachable = extents.reduce(0) { $0 + $1.byteCount }
    #expect(try store.statistics().totalByteCount < reachable * 2 + (512 << 10))
  }

  @Test func `a pin holds only what it can reach`() throws {
    let store = MemoryStore()
    let model = try StoreModel(store, seed: 4)
    for _ in 0..<20 { try model.commit() }
    let pin = try store.pin()
    let reachable = try FakeTree.read(pin, store).extents.reduce(0) { $0 + $1.byteCount }
    for _ in 0..<300 { try model.commit() }
    #expect(try store.statistics().pendingByteCount <= reachable)
    withExtendedLifetime(pin) {}
  }

  @Test func `stores of one name share their pages while one of them lives`() throws {
    var first: MemoryStore? = MemoryStore(name: "shared")
    let model = try StoreModel(try #require(first), seed: 5)
    try model.commit()
    let second = MemoryStore(name: "shared")
    #expect(try second.newestHead() == first?.newestHead())
    #expect(try second.newestHead().version == 1)
    #expect(try MemoryStore(name: "other").newestHead().version == 0)
    first = nil
    #expect(try MemoryStore(name: "shared").newestHead().version == 1)
  }

  @Test func `nothing survives the last reference`() throws {
    do {
      let store = MemoryStore(name: "short-lived")
      try StoreModel(store, seed: 6).commit()
      #expect(try store.newestHead().version == 1)
    }
    #expect(try MemoryStore(name: "short-lived").newestHead().version == 0)
  }

  @Test func `a closed store refuses and its pins stay readable`() throws {
    let store = MemoryStore(name: "closing")
    let model = try StoreModel(store, seed: 7)
    for _ in 0..<5 { try model.commit() }
    let pin = try store.pin()
    let children = try FakeTree.read(pin, store).children
    try store.close()
    try store.close()
    #expect(throws: StoreError.closed(path: "closing")) { try store.pin() }
    #expect(throws: StoreError.closed(path: "closing")) { try store.beginWrite() }
    let base = try #require(pin.base)
    for child in children {
      #expect(Checksum.hash(base + child.byteOffset, child.byteCount) == child.checksum)
    }
  }

  @Test func `a released writer aborts and lets the next one in`() throws {
    let store = MemoryStore()
    do {
      let writer = try store.beginWrite()
      _ = try writer.allocate(byteCount: 5000)
    }
    #expect(try store.statistics().totalByteCount == BlockMap.blockByteCount)
    try store.beginWrite().abort()
    #expect(try store.newestHead().version == 0)
  }

  @Test func `a page that was freed twice fails the commit and nothing else`() throws {
    let store = MemoryStore()
    let model = try StoreModel(store, seed: 9)
    repeat { try model.commit() } while model.content.isEmpty
    let before = try store.newestHead()
    let writer = try store.beginWrite()
    writer.free(before.root.reference)
    writer.free(before.root.reference)
    #expect(throws: StoreError.self) {
      try writer.publish(root: .empty(.key), durability: .full, metadata: [])
    }
    #expect(try store.newestHead() == before)
    try model.check("after the refused commit")
    #expect(model.findings == [])
  }

  @Test func `too large pages and metadata are refused`() throws {
    let store = MemoryStore()
    let writer = try store.beginWrite()
    #expect(throws: StoreError.self) { try writer.allocate(byteCount: 65_536 * 64) }
    #expect(throws: StoreError.self) {
      try writer.publish(
        root: .empty(.key), durability: .full, metadata: [UInt8](repeating: 0, count: 70_000))
    }
    #expect(try store.newestHead().version == 0)
  }

  @Test func `memory that the system does not give is a full medium`() async {
    await #expect(processExitsWith: .success) {
      // Room for the least range of addresses that a store takes, and little more.
      let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
      let pageCount = try #require(text.split(separator: " ").first.flatMap { Int($0) })
      let byteCount = rlim_t(pageCount * sysconf(Int32(_SC_PAGESIZE)) + 300 << 20)
      var limit = rlimit(rlim_cur: byteCount, rlim_max: byteCount)
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
      let store = MemoryStore()
      let writer = try store.beginWrite()
      let error = #expect(throws: StoreError.self) {
        for _ in 0..<1000 { _ = try writer.allocate(byteCount: 1 << 20) }
      }
      #expect(error.map { if case .mediumFull = $0 { true } else { false } } == true)
      writer.abort()
      let small = try store.beginWrite()
      _ = try small.allocate(byteCount: 4096)
      small.abort()
    }
  }
}
