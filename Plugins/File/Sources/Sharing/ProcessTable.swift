import CambiumCore
import Synchronization

/// Who uses a file.
///
/// Each user has a slot in the shared memory and a lock on one byte of the lock
/// file that lasts as long as it lives, so that a dead one is known whatever became of its number.
///
/// Pointers: words are used while the table holds the memory, and a slot below the layout's count lies within it.
struct ProcessTable: Sendable {
  let memory: SharedMemory
  private typealias Layout = SharedLayout.Process

  /// One user of the file, for people.
  struct Entry: Hashable, Sendable {
    var slot: Int
    var processNumber: UInt32
    var label: String
    /// When it opened the file, in nanoseconds since 1970.
    var since: UInt64
  }

  /// Takes a free slot; nil when all are in use.
  func join(label: String) throws(StoreError) -> Int? {
    try withLock { () throws(StoreError) in
      for slot in 0..<Layout.count where !isUsed(slot) || clearIfDead(slot) {
        guard lockLife(slot) else { continue }
        let offset = Layout.offset(slot)
        let entry = StoredBytes(byteCount: Layout.byteCount) { fields in
          fields.store(PosixFiles.processNumber, at: Layout.number)
          fields.store(PosixFiles.nanosecondsSince1970, at: Layout.since)
          fields.store(UInt64.max, at: Layout.spaceVersion)
          let text = Self.cut(label, toByteCount: Layout.labelByteCount - 1)
          fields.store(Array(text.utf8), at: Layout.label)
        }
        memory.put(entry.bytes, at: offset)
        unsafe memory.word(offset + Layout.state).pointee.store(
          1, ordering: .sequentiallyConsistent)
        noteChange()
        return slot
      }
      return nil
    }
  }

  /// Takes a free slot, or throws `StoreError.inUse(path:holder:)`.
  func join(label: String, path: String) throws(StoreError) -> Int {
    guard let slot = try join(label: label) else {
      throw .inUse(path: path, holder: "\(Layout.count) others, which is as many as there can be")
    }
    return slot
  }

  /// Gives a slot back, with all its pins.
  ///
  /// Where another user joins, leaves or checks who is alive just then, the next liveness check clears it.
  func leave(_ slot: Int) {
    try? withLock(waits: false) { () throws(StoreError) in clear(slot) }
    _ = memory.file?.lock(byte: SharedLayout.LockByte.firstProcess + Int64(slot), .unlocked)
  }

  /// Clears the slots, and with them the pins, of processes that died without leaving.
  ///
  /// `own` is the caller's slot. One system call per slot in use. Does nothing while another user does the
  /// same, joins or leaves, and then is false.
  @discardableResult
  func clearDead(besides own: Int) -> Bool {
    guard memory.file != nil, !isAlone(own) else { return true }
    // Whoever holds the lock may be stopped.
    let isDone: Void? = try? withLock(waits: false) { () throws(StoreError) in
      for slot in 0..<Layout.count where slot != own && isUsed(slot) { _ = clearIfDead(slot) }
    }
    return isDone != nil
  }

  /// Everybody who uses the file now.
  var entries: [Entry] {
    (0..<Layout.count).compactMap { slot in
      guard isUsed(slot), isAlive(slot) else { return nil }
      let bytes = StoredBytes(memory.bytes(Layout.offset(slot), Layout.byteCount))
      return Entry(
        slot: slot, processNumber: bytes.load(Layout.number, as: UInt32.self),
        label: bytes.text(Layout.label, byteCount: Layout.labelByteCount),
        since: bytes.load(Layout.since, as: UInt64.self))
    }
  }

  /// Whether no slot but `own` is in use; that of who died is until it is cleared.
  func isAlone(_ own: Int) -> Bool { !(0..<Layout.count).contains { $0 != own && isUsed($0) } }

  func isUsed(_ slot: Int) -> Bool {
    unsafe memory.word(Layout.offset(slot) + Layout.state).pointee.load(ordering: .acquiring) != 0
  }

  /// Whether the process in `slot` lives; the caller's own slot counts as dead, as its own lock does
  /// not stand in its way.
  ///
  /// Who cannot be asked about lives: its pins are spared.
  private func isAlive(_ slot: Int) -> Bool {
    guard let file = memory.file else { return true }
    return file.lockOfOthers(byte: SharedLayout.LockByte.firstProcess + Int64(slot)) != .unlocked
  }

  // MARK: Under the lock

  private func withLock<Result: Sendable>(
    waits: Bool = true, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    // The lock in the file keeps other processes out, and no thread that uses the same memory.
    if waits {
      return try memory.users.withLock { _ throws(StoreError) in try withFileLock(waits, body) }
    }
    let result = try memory.users.withLockIfAvailable { _ throws(StoreError) in
      try withFileLock(waits, body)
    }
    guard let result else { throw isHeld(PosixFiles.wouldBlock) }
    return result
  }

  private func withFileLock<Result>(
    _ waits: Bool, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    guard let file = memory.file else { return try body() }
    let code = file.lock(byte: SharedLayout.LockByte.processes, .exclusive, waits: waits)
    guard code == 0 else { throw isHeld(code) }
    defer { _ = file.lock(byte: SharedLayout.LockByte.processes, .unlocked) }
    return try body()
  }

  private func isHeld(_ code: Int32) -> StoreError {
    StoreError(DeviceError(operation: "lock", code: code), path: memory.path)
  }

  private func lockLife(_ slot: Int) -> Bool {
    guard let file = memory.file else { return true }
    return file.lock(byte: SharedLayout.LockByte.firstProcess + Int64(slot), .exclusive) == 0
  }

  /// Whether the slot was that of a dead process, and is free now.
  ///
  /// The pins of who died over a head last until that head is dead, too: should it be found after a
  /// crash, what it leads to must be there. So do those of others who died meanwhile: one of them may have written
  /// another head in its place.
  private func clearIfDead(_ slot: Int) -> Bool {
    guard !isAlive(slot) else { return false }
    if let writer = memory.headWriter, writer.slot == slot || !isAlive(writer.slot) { return false }
    clear(slot)
    return true
  }

  private func clear(_ slot: Int) {
    PinTable(memory: memory).clear(ownerSlot: slot)
    let offset = Layout.offset(slot)
    unsafe memory.longWord(offset + Layout.spaceVersion).pointee.store(.max, ordering: .relaxed)
    unsafe memory.word(offset + Layout.waiting).pointee.store(0, ordering: .relaxed)
    unsafe memory.word(offset + Layout.state).pointee.store(0, ordering: .sequentiallyConsistent)
    noteChange()
  }

  private func noteChange() {
    unsafe memory.word(SharedLayout.userChanges).pointee.wrappingAdd(
      1, ordering: .sequentiallyConsistent)
  }

  /// The longest beginning of `text` that fits, in whole characters.
  private static func cut(_ text: String, toByteCount limit: Int) -> Substring {
    var end = text.startIndex
    var byteCount = 0
    for character in text {
      byteCount += character.utf8.count
      if byteCount > limit { break }
      end = text.index(after: end)
    }
    return text[..<end]
  }
}
