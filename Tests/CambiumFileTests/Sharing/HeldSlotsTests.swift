import CambiumCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CambiumFile

/// Somebody who has been stopped while holding the lock file's slots: those who need not wait do not.
struct HeldSlotsTests {
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

  @Test func `no timer waits for who is at the slots`() throws {
    let time = Mutex<Int64>(0)
    let lane = BackgroundLane(byHand: MonotonicClock { time.withLock { $0 } })
    let first = try open { $0.lane = lane }
    let second = try open()
    _ = try first.commitChanges(40, seed: 1, .full)
    time.withLock { $0 = 10_000_000_000 }
    let fired = DispatchSemaphore(value: 0)
    try second.withSlots { () throws(StoreError) in
      Thread {
        lane.runDue()
        fired.signal()
      }.start()
      #expect(fired.wait(timeout: .now() + .seconds(60)) == .success)
    }
    let isSettled = { (path: String) throws in
      try FileStore.inspect(path: path).slots.contains {
        $0?.head.version == 1 && $0?.isSettled == true
      }
    }
    #expect(try !isSettled(path))
    // It comes back to it.
    time.withLock { $0 = 20_000_000_000 }
    lane.runDue()
    #expect(try isSettled(path))
  }

  @Test func `nobody waits to check who is alive`() throws {
    let first = try open()
    let second = try open()
    let joining = try SharedMemory(path: path)
    #expect(joining.file?.lock(byte: SharedLayout.LockByte.processes, .exclusive) == 0)
    let committed = DispatchSemaphore(value: 0)
    Thread {
      _ = try? first.commitChanges(40, seed: 1, .full)
      committed.signal()
    }.start()
    #expect(committed.wait(timeout: .now() + .seconds(60)) == .success)
    _ = joining.file?.lock(byte: SharedLayout.LockByte.processes, .unlocked)
    #expect(try second.newestHead().version == 1)
  }

  @Test func `nobody waits to leave, and the next liveness check clears what was left`() throws {
    let first = try open()
    _ = try first.commitChanges(40, seed: 1, .full)
    let second = try open { $0.isReadOnly = true }
    let joining = try SharedMemory(path: path)
    #expect(joining.file?.lock(byte: SharedLayout.LockByte.processes, .exclusive) == 0)
    let left = DispatchSemaphore(value: 0)
    Thread {
      try? second.close()
      left.signal()
    }.start()
    #expect(left.wait(timeout: .now() + .seconds(60)) == .success)
    _ = joining.file?.lock(byte: SharedLayout.LockByte.processes, .unlocked)
    let table = ProcessTable(memory: first.memory)
    #expect(table.isUsed(second.slot))
    #expect(table.clearDead(besides: first.slot))
    #expect(!table.isUsed(second.slot))
  }
}
