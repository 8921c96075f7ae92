import CambiumCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CambiumFile

/// Several stores of one file, each with a lock file descriptor of its own as several processes have:
/// what one commits the others see, and what one pins the others leave alone.
struct SharingTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("a.cambium") }

  init() throws { folder = try TemporaryFolder() }

  private func open(
    _ change: (inout FileStoreOptions) -> Void = { _ in }
  ) throws -> FileStore {
    var options = FileStoreOptions()
    change(&options)
    return try FileStore(path: path, options: options)
  }

  @discardableResult
  private func commit(
    _ store: FileStore, seed: UInt64, _ durability: Durability = .full
  ) throws -> FakeTree.Content {
    try store.commitChanges(40, seed: seed, durability).content
  }

  private func content(_ store: FileStore) throws -> FakeTree.Content {
    try FakeTree.read(store).content
  }

  // MARK: Seeing each other

  @Test(arguments: Durability.allCases)
  func `a commit of one store is seen by the other at once`(durability: Durability) throws {
    let first = try open()
    let second = try open()
    for seed in 0..<20 as Range<UInt64> {
      let writer = seed % 2 == 0 ? first : second
      let written = try commit(writer, seed: seed, durability)
      #expect(try first.newestHead() == second.newestHead())
      #expect(try content(first) == written)
      #expect(try content(second) == written)
    }
    let reachable = try FakeTree.read(second).extents
    #expect(try second.check(reachable: reachable) == [])
    #expect(try first.check(reachable: reachable) == [])
  }

  @Test func `a waiting store is woken by a commit of another one`() throws {
    let first = try open()
    let second = try open()
    let woken = DispatchSemaphore(value: 0)
    let base = try second.newestHead().version
    let seen = Mutex<Version>(0)
    Thread {
      let version = second.waitForCommit(after: base, timeoutNanoseconds: 60_000_000_000)
      seen.withLock { $0 = version }
      woken.signal()
    }.start()
    try commit(first, seed: 1)
    woken.wait()
    #expect(seen.withLock { $0 } == base + 1)
  }

  @Test func `a reader sees what a writer of another store commits`() throws {
    let writer = try open()
    try commit(writer, seed: 1)
    let reader = try open { $0.isReadOnly = true }
    let written = try commit(writer, seed: 2)
    #expect(try content(reader) == written)
    #expect(throws: StoreError.readOnly(path: path)) { try reader.beginWrite() }
  }

  // MARK: Pins

  @Test func `a pin of one store keeps its pages from the other one's writes`() throws {
    let writer = try open()
    let reader = try open { $0.isReadOnly = true }
    let written = try commit(writer, seed: 1)
    let pin = try reader.pin()
    for seed in 2..<200 as Range<UInt64> { try commit(writer, seed: seed, .relaxed) }
    #expect(try FakeTree.read(pin, reader).content == written)
    #expect(try writer.statistics().pinnedVersions.first == 1)
    #expect(try writer.statistics().pendingByteCount > 0)
    withExtendedLifetime(pin) {}
  }

  @Test func `what a pin of another store held is used again when it ends`() throws {
    let writer = try open()
    let reader = try open { $0.isReadOnly = true }
    try commit(writer, seed: 1)
    var pin: Pin? = try reader.pin()
    for seed in 2..<40 as Range<UInt64> { try commit(writer, seed: seed) }
    #expect(try writer.statistics().pendingByteCount > 0)
    #expect(pin?.head.version == 1)
    pin = nil
    #expect(try writer.statistics().pendingByteCount == 0)
  }

  @Test func `a store that begins to write spares old versions that others pin`() throws {
    let first = try open { $0.checkpointAfterRecordCount = 4 }
    let written = try commit(first, seed: 1)
    let pin = try first.pin()
    // So many that the records since the pinned version are gone.
    for seed in 2..<60 as Range<UInt64> { try commit(first, seed: seed) }
    let second = try open { $0.checkpointAfterRecordCount = 4 }
    for seed in 60..<200 as Range<UInt64> { try commit(second, seed: seed) }
    #expect(try FakeTree.read(pin, first).content == written)
    withExtendedLifetime(pin) {}
  }

  @Test func `where pins stand for ranges nothing is used again until they end`() throws {
    let first = try open { $0.checkpointAfterRecordCount = 4 }
    try commit(first, seed: 1)
    var pin: Pin? = try first.pin()
    let table = PinTable(memory: first.memory)
    table.widen(first.slot, to: 3)
    for seed in 2..<60 as Range<UInt64> { try commit(first, seed: seed) }
    let second = try open { $0.checkpointAfterRecordCount = 4 }
    try commit(second, seed: 60)
    #expect(second.books.withLock { $0.deferredFreeEnd } != nil)
    #expect(try second.statistics().exclusiveByteCounts == [:])
    #expect(pin?.head.version == 1)
    pin = nil
    try commit(second, seed: 61)
    #expect(second.books.withLock { $0.deferredFreeEnd } == nil)
    for seed in 62..<80 as Range<UInt64> { try commit(second, seed: seed) }
    let reachable = try FakeTree.read(second).extents
    #expect(try second.check(reachable: reachable) == [])
  }

  @Test func `inspecting names who pins which version`() throws {
    let writer = try open { $0.label = "importer" }
    try commit(writer, seed: 1)
    let reader = try open {
      $0.isReadOnly = true
      $0.label = "report"
    }
    let old = try reader.pin()
    try commit(writer, seed: 2)
    let new = try writer.pin()
    let pins = try FileStore.inspect(path: path).pins
    #expect(pins.map(\.versions) == [1...1, 2...2])
    #expect(pins.map(\.label) == ["report", "importer"])
    #expect(pins.allSatisfy { $0.processNumber == UInt32(getpid()) && $0.since > 0 })
    withExtendedLifetime((old, new)) {}
    try reader.close()
  }

  // MARK: Turns

  @Test func `one store writes at a time and the other waits`() throws {
    let first = try open()
    let second = try open()
    let running = try first.beginWrite()
    let entered = DispatchSemaphore(value: 0)
    Thread {
      if let writer = try? second.beginWrite(), writer.base.version == 1 { entered.signal() }
    }.start()
    let waits = entered.wait(timeout: .now() + .milliseconds(20)) == .timedOut
    #expect(waits)
    var generator = SeededGenerator(seed: 3)
    let (root, _) = try FakeTree.change(running, first, changeCount: 3, generator: &generator)
    _ = try running.publish(root: root, durability: .full, metadata: [])
    if waits { entered.wait() }
  }

  @Test func `no store starves while others write without pause`() throws {
    let count = 3
    let ended = DispatchSemaphore(value: 0)
    let failures = DispatchSemaphore(value: 0)
    for index in 0..<count {
      let store = try open()
      Thread { [self] in
        for seed in 0..<60 as Range<UInt64> {
          let done = try? commit(store, seed: seed * 10 + UInt64(index), .relaxed)
          if done == nil { failures.signal() }
        }
        ended.signal()
      }.start()
    }
    for _ in 0..<count { ended.wait() }
    #expect(failures.wait(timeout: .now()) == .timedOut)
    let store = try open()
    #expect(try store.newestHead().version == Version(60 * count))
  }

  @Test func `a reader that cannot share memory keeps writers out and says so`() throws {
    let writer = try open()
    try commit(writer, seed: 1)
    let reader = try open {
      $0.isReadOnly = true
      $0.readersShare = false
    }
    #expect(try content(reader) == content(writer))
    #expect(
      throws: StoreError.inUse(
        path: path, holder: "a reader that may not write the lock file")
    ) { try writer.beginWrite() }
    try reader.close()
    try commit(writer, seed: 2)
  }

  @Test func `closing says what a reader that cannot share memory keeps from the medium`() throws {
    let database = try Database(store: try open { $0.stopTimers() })
    let filling = try database.beginWrite()
    let table = try filling.createTable(
      "T", columns: [ColumnDescriptor(type: .int, isNullable: false, name: "a")])
    _ = try table.insert(key: 1, values: [(1, .int(1))])
    _ = try filling.commit()
    let transaction = try database.beginWrite(expecting: .relaxed)
    _ = try transaction.editTable("T")?.update(key: 1, column: 1, value: .int(2))
    #expect(try transaction.commit(durability: .relaxed).head.residence != nil)
    let reader = try waitToRead()
    #expect(
      throws: StoreError.inUse(
        path: path, holder: "a reader that may not write the lock file")
    ) { try database.close() }
    try reader.close()
    let reopened = try Database(store: try open())
    let snapshot = try reopened.snapshot()
    let row = try #require(try snapshot.table("T")?.seek(1))
    #expect(row.column(1)?.int(row.row) == 2)
    withExtendedLifetime(snapshot) {}
    try reopened.close()
  }

  /// Opens the file for somebody who may not write the lock file, in a gap between writes.
  private func waitToRead() throws -> FileStore {
    while true {
      do {
        return try open {
          $0.isReadOnly = true
          $0.readersShare = false
        }
      } catch StoreError.inUse {}
    }
  }

  @Test func `readers who may and may not write the lock file read the same file`() throws {
    let writer = try open()
    try commit(writer, seed: 1)
    let expected = try content(writer)
    try writer.close()
    try FileManager.default.removeItem(atPath: path + ".lock")
    let alone = try waitToRead()
    let sharing = try open { $0.isReadOnly = true }
    #expect(try content(alone) == expected)
    #expect(try content(sharing) == expected)
    // Nobody can write beside them, and an error says why.
    let begun = ContinuousClock.now
    #expect(
      throws: StoreError.inUse(
        path: path, holder: "a reader that may not write the lock file")
    ) { _ = try open().beginWrite() }
    #expect(begun < .now)
    try alone.close()
    try sharing.close()
    try commit(try open(), seed: 2)
  }

  // MARK: Opening and closing

  @Test func `who is left last closes the file cleanly`() throws {
    let first = try open()
    let second = try open()
    let written = try commit(first, seed: 1, .relaxed)
    try first.close()
    #expect(try content(second) == written)
    try second.close()
    let inspection = try FileStore.inspect(path: path)
    #expect(inspection.slots.allSatisfy { $0?.isSettled == true && $0?.head.version == 1 })
  }

  @Test func `a deleted lock file lets nobody else in`() throws {
    let first = try open()
    try commit(first, seed: 1)
    try FileManager.default.removeItem(atPath: path + ".lock")
    #expect(
      throws: StoreError.inUse(
        path: path,
        holder: "a process that opened it by another name, or whose lock file was deleted")
    ) { try open() }
    // Who is in goes on.
    let written = try commit(first, seed: 2)
    try first.close()
    #expect(try content(open()) == written)
  }

  @Test func `who opens a file by a symbolic link shares it with who does not`() throws {
    let first = try open()
    try commit(first, seed: 1)
    let link = folder.file("link.cambium")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    let second = try FileStore(path: link)
    let written = try commit(second, seed: 2)
    #expect(try content(first) == written)
    try second.close()
    try commit(first, seed: 3)
  }

  @Test func `a file in the place of one that was renamed while it was open is another one`() throws
  {
    let first = try open()
    for seed in 0..<5 as Range<UInt64> { try commit(first, seed: seed) }
    let renamed = folder.file("b.cambium")
    // A write that has begun goes on; others are refused.
    let early = try first.beginWrite()
    try FileManager.default.moveItem(atPath: path, toPath: renamed)
    let second = try open()
    var written: [FakeTree.Content] = []
    for (index, store) in [first, second].enumerated() {
      var generator = SeededGenerator(seed: UInt64(index))
      let writer = index == 0 ? early : try store.beginWrite()
      let (root, content) = try FakeTree.change(
        writer, store, changeCount: 20, generator: &generator)
      // The other one does what it may meanwhile.
      if index == 0 {
        try commit(second, seed: 7)
        try commit(second, seed: 8, .relaxed)
        try second.sync()
      } else {
        #expect(!first.isInPlace)
        // Who has just looked does not look again for a millisecond.
        usleep(2_000)
        #expect(throws: StoreError.moved(path: path)) { try first.beginWrite() }
        try first.sync()
      }
      _ = try writer.publish(root: root, durability: .full, metadata: [])
      written.append(content)
    }
    written[0] = try content(first)
    for (store, expected) in zip([first, second], written) {
      #expect(try content(store) == expected)
      try store.close()
    }
    for (file, expected) in zip([renamed, path], written) {
      let store = try FileStore(path: file)
      let reading = try FakeTree.read(store)
      #expect(reading.content == expected)
      #expect(try store.check(reachable: reading.extents) == [])
    }
  }

  @Test func `another layout of the lock file is refused in one line`() throws {
    let first = try open()
    try commit(first, seed: 1)
    first.memory.word(SharedLayout.layout).pointee.store(99, ordering: .relaxed)
    #expect(
      throws: StoreError.unsupportedFormat(
        path: path + ".lock", version: 99, supported: Int(SharedLayout.version))
    ) { try open() }
  }

  @Test func `a poisoned store is poisoned for all until all have closed it`() throws {
    let first = try open()
    let second = try open()
    try commit(first, seed: 1)
    first.poison()
    #expect(throws: StoreError.poisoned(path: path)) { try second.beginWrite() }
    let third = try open()
    #expect(throws: StoreError.poisoned(path: path)) { try third.beginWrite() }
    #expect(try third.newestHead().version == 1)
    for store in [first, second, third] { try store.close() }
    let fourth = try open()
    let written = try commit(fourth, seed: 2)
    #expect(try content(fourth) == written)
    #expect(fourth.memory.condition == .clean)
  }

  @Test func `what a store recovered is settled by whoever writes first`() throws {
    // A copy of a file in use is what a crash leaves.
    let original = try open { $0.stopTimers() }
    let written = try commit(original, seed: 1)
    try commit(original, seed: 2)
    let copy = folder.file("b.cambium")
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    let reader = try FileStore(path: copy, options: FileStoreOptions(isReadOnly: true))
    let version = try reader.newestHead().version
    #expect(version == 2)
    let writer = try FileStore(path: copy, options: .withoutTimers)
    #expect(writer.memory.condition == .recovered)
    let epoch = try reader.newestHead().epoch
    try reader.close()
    try commit(writer, seed: 3)
    #expect(try writer.newestHead().epoch == epoch + 1)
    #expect(writer.memory.condition == .clean)
    #expect(written != (try content(writer)))
    let reachable = try FakeTree.read(writer).extents
    #expect(try writer.check(reachable: reachable) == [])
  }
}
