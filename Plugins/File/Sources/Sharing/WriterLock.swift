import CambiumCore
import CambiumStoreKit
import Synchronization

/// The writer lock between processes.
///
/// The lock is one byte of the data file, held by an open file description: it ends with its process,
/// and no second lock file can split it. A lock alone would favour the process that has just released it, so
/// a writer that was the last one lets those who wait go first; one that does not acquire the lock in time is
/// passed over.
///
/// Where nobody else uses the file, the lock is kept from one write to the next, which saves both its system
/// calls. It is given back a few milliseconds later in the background, and with the next release once somebody
/// has come. After that some writes do without keeping it, so that who can be seen by nobody, because it may
/// not write the lock file, finds a gap.
///
/// Unchecked: used by the one thread that holds the writer lock of this process, but for ``giveBack()`` and what the
/// background asks, which acquire that lock first.
final class WriterLock: @unchecked Sendable {
  private let memory: SharedMemory
  private let file: PosixDevice
  private let slot: Int
  private let path: String
  /// The writer lock of this process.
  private let queue: WriterQueue
  /// Whether this process holds the lock, for a write or between two of them.
  private var isHeld = false
  /// Whether the lock is kept between writes.
  private let keeping = Atomic(Keeping.none)
  /// Gives the lock back when it was kept long enough.
  private let returning = BackgroundJob(.shared)
  /// How many writes are to come that do not keep the lock.
  private var unkeptLeft = 0
  private var users = Users()
  /// The waits that were let go first in vain, by slot.
  private var passedOver = [UInt32](repeating: 0, count: SharedLayout.Process.count)
  /// What ``SharedLayout/waits`` said when nobody waited who is to go first.
  private var waitsWithoutOthers: UInt32?
  /// Whether somebody else has held the lock since ``noteFollowed()``.
  private(set) var hasChangedHands = true
  /// For whom ``tryAcquire(now:waits:)`` has given up last, and since when.
  private var refused: (slot: Int, wait: UInt32, time: Int64)?
  /// Whether others see this process wait.
  private var isWaiting = false
  private typealias Layout = SharedLayout.Process

  /// How long a waiting process may take to wake up.
  private static let courtesyNanoseconds: Int64 = 5_000_000
  /// How long who waits without a thread rests between two tries.
  static let pauseNanoseconds: Int64 = 500_000
  /// For how long the lock is kept.
  private static let keptNanoseconds: Int64 = 5_000_000
  /// How many writes do not keep the lock after it was given back.
  private static let unkeptCount = 64

  /// Who uses the file.
  private struct Users {
    /// What ``SharedLayout/userChanges`` said when it was looked; nil before.
    var changes: UInt32?
    var isAlone = false
    /// How often that was asked since.
    var askedCount = 0
  }

  /// So often somebody else is believed to be there before it is looked whether they live.
  private static let askedLimit = 1024

  /// Whether the lock is kept between writes.
  private enum Keeping: UInt8, AtomicRepresentable {
    /// It is not.
    case none
    /// It may be, until the background asks for it.
    case some
    /// It is to be given back.
    case ending
  }

  /// `queue` is the writer lock of this process, held by who uses this.
  init(memory: SharedMemory, file: PosixDevice, slot: Int, path: String, queue: WriterQueue) {
    self.memory = memory
    self.file = file
    self.slot = slot
    self.path = path
    self.queue = queue
  }

  /// Waits for the writer lock.
  ///
  /// Throws `StoreError.inUse(path:holder:)` when somebody reads the file who
  /// cannot share memory, for then nobody may write. Who waits for another writer already when such a
  /// reader comes waits for that one, too.
  func acquire() throws(StoreError) {
    if isHeld { return }
    if wasLast { letOthersGoFirst() }
    var code = file.lock(byte: SharedLayout.DataByte.writer, .exclusive)
    if code == PosixFiles.wouldBlock {
      try checkForReader()
      noteWaiting(true)
      code = file.lock(byte: SharedLayout.DataByte.writer, .exclusive, waits: true)
      noteWaiting(false)
    }
    try finish(code)
  }

  /// Acquires the writer lock if nobody has it and nobody waits for it; whether it did.
  ///
  /// `now` is the time by which somebody who waits for long and does nothing is passed over. Who `waits` without a
  /// thread tries again after ``pauseNanoseconds``: others see that it waits until it holds the lock or calls
  /// ``giveUp()``, and where it cannot wait this throws as ``acquire()`` does.
  func tryAcquire(now: Int64, waits: Bool = false) throws(StoreError) -> Bool {
    if isHeld { return true }
    if wasLast, nextWaiting() != nil {
      // Who waited may have died.
      _ = ProcessTable(memory: memory).clearDead(besides: slot)
      if let other = nextWaiting(), goesFirst(other, now) { return false }
    }
    let code = file.lock(byte: SharedLayout.DataByte.writer, .exclusive)
    if code == PosixFiles.wouldBlock {
      if waits, !isWaiting {
        try checkForReader()
        noteWaiting(true)
      }
      return false
    }
    giveUp()
    try finish(code)
    return true
  }

  /// Whether who waits is let go first when nobody waits for it; one that was so long enough is passed over.
  private func goesFirst(_ other: (slot: Int, wait: UInt32), _ now: Int64) -> Bool {
    if let refused, refused.slot == other.slot, refused.wait == other.wait {
      if now - refused.time < Self.courtesyNanoseconds { return true }
      passedOver[other.slot] = other.wait
      return nextWaiting().map { goesFirst($0, now) } ?? false
    }
    refused = (other.slot, other.wait, now)
    return true
  }

  /// Does not wait any more, after a try that was to be followed by others.
  func giveUp() { if isWaiting { noteWaiting(false) } }

  // MARK: Parts

  /// Whether nobody else has held the writer lock since this process.
  private var wasLast: Bool {
    unsafe memory.word(SharedLayout.lastWriter).pointee.load(ordering: .relaxed) == UInt32(slot + 1)
  }

  /// How often the writer lock has gone to another process.
  private var acquisitions: UInt32 {
    unsafe memory.word(SharedLayout.acquisitions).pointee.load(ordering: .sequentiallyConsistent)
  }

  /// What errors call a user that keeps others from writing.
  static let reader = "a reader that may not write the lock file"

  /// Throws when such a user is there.
  func checkForReader() throws(StoreError) {
    if file.lockOfOthers(byte: SharedLayout.DataByte.writer) == .shared {
      throw .inUse(path: path, holder: Self.reader)
    }
  }

  /// Lets others see whether this process waits.
  private func noteWaiting(_ isWaiting: Bool) {
    self.isWaiting = isWaiting
    let word = unsafe memory.word(Layout.offset(slot) + Layout.waiting)
    guard isWaiting else { return unsafe word.pointee.store(0, ordering: .sequentiallyConsistent) }
    let wait = unsafe memory.word(SharedLayout.waits).pointee.wrappingAdd(1, ordering: .relaxed)
      .newValue
    unsafe word.pointee.store(max(1, wait), ordering: .sequentiallyConsistent)
    // Who has looked in between looks again.
    unsafe memory.word(SharedLayout.waits).pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
  }

  /// Notes that the writer lock is held, unless `code` says what has gone wrong.
  private func finish(_ code: Int32) throws(StoreError) {
    guard code == 0 else {
      throw StoreError(DeviceError(operation: "lock", code: code), path: path)
    }
    isHeld = true
    let previous = unsafe memory.word(SharedLayout.lastWriter).pointee.exchange(
      UInt32(slot + 1), ordering: .sequentiallyConsistent)
    if previous != UInt32(slot + 1) {
      memory.raise(SharedLayout.acquisitions)
      hasChangedHands = true
    }
  }

  /// Notes that everything is known that others have done while they held the lock.
  func noteFollowed() { hasChangedHands = false }

  /// Ends a write: releases the lock, unless it `mayKeep` it for the next one and does.
  func release(mayKeep: Bool) {
    guard isHeld else { return }
    if !mayKeep || endsKeeping() || !keeps { unlock() }
  }

  /// A reader that cannot share memory holds the same byte until it leaves: only what was acquired here is released.
  private func unlock() {
    guard isHeld else { return }
    isHeld = false
    _ = file.lock(byte: SharedLayout.DataByte.writer, .unlocked)
  }

  // MARK: Between two writes

  /// Waits until nobody writes in this process, and gives back what is kept: for who closes the store, so that no
  /// write begins any more.
  func giveBack() {
    queue.acquire()
    _ = endsKeeping()
    unlock()
    queue.release()
  }

  /// Asks for what is kept: it is given back at once, or by the running write when it ends.
  private func askBack() {
    _ = keeping.compareExchange(
      expected: .some, desired: .ending, ordering: .sequentiallyConsistent)
    giveBackIfAsked()
  }

  /// Gives the lock back if that was asked for; called by who has just released the writer lock of this process.
  ///
  /// Either whoever asks acquires that one, or who releases it sees afterwards that somebody has asked.
  func giveBackIfAsked() {
    while keeping.load(ordering: .sequentiallyConsistent) == .ending, queue.tryAcquire() {
      if endsKeeping() { unlock() }
      queue.release()
    }
  }

  /// Notes that the lock is given back, if that was asked for; whether it was.
  private func endsKeeping() -> Bool {
    guard keeping.load(ordering: .sequentiallyConsistent) == .ending else { return false }
    keeping.store(.none, ordering: .sequentiallyConsistent)
    unkeptLeft = Self.unkeptCount
    return true
  }

  /// Whether the write that ends keeps the lock for the next one.
  private var keeps: Bool {
    if unkeptLeft > 0 {
      unkeptLeft -= 1
      return false
    }
    guard isAlone else { return false }
    if keeping.load(ordering: .relaxed) == .some { return true }
    guard
      keeping.compareExchange(
        expected: .none, desired: .some, ordering: .sequentiallyConsistent
      ).exchanged
    else { return false }
    let end = returning.now + Self.keptNanoseconds
    let isScheduled = returning.schedule(at: end) { [weak self] now in
      guard let self else { return nil }
      askBack()
      // Somebody who looked at the queue just then may not have seen it.
      return keeping.load(ordering: .sequentiallyConsistent) == .ending
        ? now + Self.keptNanoseconds : nil
    }
    if isScheduled { return true }
    // Nobody would give it back.
    keeping.store(.none, ordering: .sequentiallyConsistent)
    return false
  }

  /// Whether nobody else uses the file whom the shared memory knows of.
  private var isAlone: Bool {
    let changes = unsafe memory.word(SharedLayout.userChanges).pointee.load(
      ordering: .sequentiallyConsistent)
    let isOld = !users.isAlone && users.askedCount >= Self.askedLimit
    if users.changes != changes || isOld {
      let table = ProcessTable(memory: memory)
      if !table.isAlone(slot) { table.clearDead(besides: slot) }
      users = Users(changes: changes, isAlone: table.isAlone(slot))
    }
    users.askedCount += 1
    return users.isAlone
  }

  // MARK: Letting others go first

  private func letOthersGoFirst() {
    let seen = acquisitions
    guard let other = nextWaiting() else { return }
    memory.sleep(
      SharedLayout.acquisitions, while: seen, timeoutNanoseconds: Self.courtesyNanoseconds)
    if unsafe memory.word(SharedLayout.acquisitions).pointee.load(ordering: .relaxed) == seen {
      passedOver[other.slot] = other.wait
    }
  }

  /// Somebody who waits and was not passed over during this wait of its.
  private func nextWaiting() -> (slot: Int, wait: UInt32)? {
    let waits = unsafe memory.word(SharedLayout.waits).pointee.load(
      ordering: .sequentiallyConsistent)
    if waits == waitsWithoutOthers { return nil }
    for other in 0..<Layout.count where other != slot {
      let wait = unsafe memory.word(Layout.offset(other) + Layout.waiting).pointee.load(
        ordering: .sequentiallyConsistent)
      if wait != 0, wait != passedOver[other] { return (other, wait) }
    }
    waitsWithoutOthers = waits
    return nil
  }
}
