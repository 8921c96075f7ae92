import CambiumCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CambiumFile

/// Sizes are asked for without the writer lock, while others write.
struct SizesBesideWritersTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open() throws -> FileStore {
    let options = FileStoreOptions.withoutTimers
    return try FileStore(path: folder.file("a.cambium"), options: options)
  }

  /// A version that has a mass of pages, and the one after that gives them up.
  private func replaceMany(_ store: FileStore) throws -> Pin {
    func commit(_ change: (any PageWriter) throws -> Void) throws -> Pin {
      let writer = try store.beginWrite()
      try change(writer)
      return try writer.publish(root: writer.base.root, durability: .relaxed, metadata: [])
    }
    var references: [PageReference] = []
    let full = try commit { writer in
      for number in 0..<20_000 as Range<UInt64> {
        let bytes = withUnsafeBytes(of: number) { [UInt8]($0) }
        references.append(try FakeTree.write(bytes, writer))
      }
    }
    _ = try commit { writer in for reference in references { writer.free(reference) } }
    return full
  }

  @Test func `who asks for sizes while others commit forgets no version that is held`() throws {
    let asking = try open()
    let writing = try open()
    for round in 0..<12 as Range<UInt64> {
      try writing.commitChanges(40, seed: 2 * round, .relaxed)
      var many: Pin? = try replaceMany(writing)
      _ = try asking.statistics()
      withExtendedLifetime(many) {}
      // The next look has much to let go, so that others get on meanwhile.
      many = nil
      let hasBegun = Atomic(false)
      let asked = DispatchSemaphore(value: 0)
      Thread {
        hasBegun.store(true, ordering: .releasing)
        _ = try? asking.statistics()
        asked.signal()
      }.start()
      while !hasBegun.load(ordering: .acquiring) {}
      // Others get on at various moments of the look.
      for _ in 0..<round * 50 { sched_yield() }
      let held = try writing.pin()
      let content = try FakeTree.read(held, writing).content
      try writing.commitChanges(40, seed: 2 * round + 1, .relaxed)
      _ = try asking.newestHead()
      asked.wait()
      let isKept = try asking.withKnownBooks { books throws(StoreError) in
        books.space.ledger.isHeld(held.head.version)
      }
      #expect(isKept, "round \(round)")
      #expect(try FakeTree.read(held, writing).content == content)
    }
  }
}
