import CambiumCore
import Synchronization

/// Keeps the writers of several processes apart, and lets each have its turn.
///
/// The lock is one byte of the data file, held by an open file description: it ends with its process,
/// and no second lock file can split it. A lock alone would favour who has just had it, so a writer
/// that was the last one lets those who wait go first; one that does not take its turn is passed over.
///
/// Unchecked: used by the one thread that has the turn in this process.
final class WriterLock: @unchecked Sendable {
  private let memory: SharedMemory
  private let file: PosixDevice
  private let slot: Int
  private let path: String
  /// The waits that were let go first in vain, by slot.
  private var passedOver = [UInt32](repeating: 0, count: SharedLayout.Process.count)
  private typealias Layout = SharedLayout.Process

  /// How long a waiting process may take to wake up.
  private static let courtesyNanoseconds: Int64 = 5_000_000

  init(memory: SharedMemory, file: PosixDevice, slot: Int, path: String) {
    self.memory = memory
    self.file = file
    self.slot = slot
    self.path = path
  }

  /// Waits for the turn.
  ///
  /// Throws `StoreError.inUse(path:holder:)` when somebody reads the file who
  /// cannot share memory, for then nobody may write. Who waits for another writer already when such a
  /// reader comes waits for that one, too.
  func enter() throws(StoreError) {
    if memory.word(SharedLayout.lastWriter).pointee.load(ordering: .relaxed) == UInt32(slot + 1) {
      letOthersGoFirst()
    }
    var code = file.lock(byte: SharedLayout.DataByte.writer, .exclusive)
    if code == PosixFiles.wouldBlock {
      if file.lockOfOthers(byte: SharedLayout.DataByte.writer) == .shared {
        throw .inUse(path: path, holder: "a reader that may not write the lock file")
      }
      let waiting = memory.word(Layout.offset(slot) + Layout.waiting)
      let wait = memory.word(SharedLayout.waits).pointee.wrappingAdd(1, ordering: .relaxed).newValue
      waiting.pointee.store(max(1, wait), ordering: .sequentiallyConsistent)
      code = file.lock(byte: SharedLayout.DataByte.writer, .exclusive, waits: true)
      waiting.pointee.store(0, ordering: .sequentiallyConsistent)
    }
    guard code == 0 else {
      throw StoreError(DeviceError(operation: "lock", code: code), path: path)
    }
    let previous = memory.word(SharedLayout.lastWriter).pointee.exchange(
      UInt32(slot + 1), ordering: .sequentiallyConsistent)
    if previous != UInt32(slot + 1) { memory.raise(SharedLayout.turns) }
  }

  /// Ends the turn.
  func leave() { _ = file.lock(byte: SharedLayout.DataByte.writer, .unlocked) }

  private func letOthersGoFirst() {
    let turn = memory.word(SharedLayout.turns).pointee.load(ordering: .sequentiallyConsistent)
    guard let other = nextWaiting() else { return }
    memory.sleep(
      SharedLayout.turns, while: turn, timeoutNanoseconds: Self.courtesyNanoseconds)
    if memory.word(SharedLayout.turns).pointee.load(ordering: .relaxed) == turn {
      passedOver[other.slot] = other.wait
    }
  }

  /// Somebody who waits and was not passed over during this wait of its.
  private func nextWaiting() -> (slot: Int, wait: UInt32)? {
    for other in 0..<Layout.count where other != slot {
      let wait = memory.word(Layout.offset(other) + Layout.waiting).pointee.load(
        ordering: .sequentiallyConsistent)
      if wait != 0, wait != passedOver[other] { return (other, wait) }
    }
    return nil
  }
}
