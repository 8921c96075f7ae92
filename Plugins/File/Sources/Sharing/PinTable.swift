import CambiumCore
import Synchronization

/// The pins of all users of a file.
///
/// A reader stores its pin and then looks whether its version is still the newest; a writer makes
/// its version the newest and then looks at the pins. So either the writer sees the pin, or the
/// reader sees that it came too late and takes the newer version (Dekker's pattern; all four accesses
/// are sequentially consistent).
///
/// Pointers: words are used while the table holds the memory, and an entry below the layout's count lies within
/// it. `high` is stored before `low` and loaded after it: who sees a new `low` sees its `high`, or a later one.
struct PinTable: Sendable {
  let memory: SharedMemory
  private typealias Layout = SharedLayout.Pin

  /// Versions that somebody holds.
  struct Entry: Hashable, Sendable {
    var ownerSlot: Int
    var versions: ClosedRange<Version>
    /// When it began, in nanoseconds since 1970.
    var since: UInt64
  }

  /// Changes with each pin that begins or ends: while it stays the same, so does ``held()``.
  var changes: UInt32 {
    unsafe memory.word(SharedLayout.pinChanges).pointee.load(ordering: .sequentiallyConsistent)
  }

  /// The held versions, in the order of their entries.
  func held() -> [ClosedRange<Version>] {
    var ranges: [ClosedRange<Version>] = []
    look(for: &ranges)
    return ranges
  }

  /// Makes `ranges` the held versions, in the memory that it has.
  func look(for ranges: inout [ClosedRange<Version>]) {
    ranges.removeAll(keepingCapacity: true)
    forEachUsed { offset in
      if let range = range(offset) { ranges.append(range) }
    }
  }

  /// All pins, for people.
  func entries() -> [Entry] {
    var entries: [Entry] = []
    forEachUsed { offset in
      let owner = unsafe memory.word(offset + Layout.owner).pointee.load(ordering: .acquiring)
      guard owner > 0, let versions = range(offset) else { return }
      let since = unsafe memory.longWord(offset + Layout.since).pointee.load(ordering: .relaxed)
      entries.append(
        Entry(ownerSlot: Int(owner) - 1, versions: versions, since: UInt64(littleEndian: since)))
    }
    return entries
  }

  private func forEachUsed(_ body: (_ offset: Int) -> Void) {
    let limit = unsafe memory.word(SharedLayout.pinLimit).pointee.load(
      ordering: .sequentiallyConsistent)
    for entry in 0..<min(Int(limit), Layout.count) { body(Layout.offset(entry)) }
  }

  private func range(_ offset: Int) -> ClosedRange<Version>? {
    let low = unsafe memory.longWord(offset + Layout.low).pointee.load(
      ordering: .sequentiallyConsistent)
    if low == .max { return nil }
    let high = unsafe memory.longWord(offset + Layout.high).pointee.load(
      ordering: .sequentiallyConsistent)
    return low...max(low, high)
  }

  // MARK: Changing

  /// An entry for the process in `slot` that holds nothing yet; nil when none is left.
  func claim(ownerSlot slot: Int) -> Int? {
    if claim(slot, ownerSlot: slot) { return slot }
    let firstShared = SharedLayout.Process.count
    let used = unsafe Int(memory.word(SharedLayout.pinLimit).pointee.load(ordering: .relaxed))
    for entry in firstShared..<min(max(used, firstShared) + 1, Layout.count)
    where claim(entry, ownerSlot: slot) { return entry }
    for entry in firstShared..<Layout.count where claim(entry, ownerSlot: slot) { return entry }
    return nil
  }

  private func claim(_ entry: Int, ownerSlot slot: Int) -> Bool {
    let owner = unsafe memory.word(Layout.offset(entry) + Layout.owner)
    guard unsafe owner.pointee.load(ordering: .relaxed) == 0,
      unsafe owner.pointee.compareExchange(
        expected: 0, desired: UInt32(slot + 1), ordering: .sequentiallyConsistent
      ).exchanged
    else { return false }
    let limit = unsafe memory.word(SharedLayout.pinLimit)
    var seen = unsafe limit.pointee.load(ordering: .relaxed)
    while seen <= entry {
      let result = unsafe limit.pointee.compareExchange(
        expected: seen, desired: UInt32(entry + 1), ordering: .sequentiallyConsistent)
      seen = result.exchanged ? UInt32(entry + 1) : result.original
    }
    return true
  }

  /// Lets a claimed entry hold `version`.
  func set(_ entry: Int, _ version: Version) {
    let offset = Layout.offset(entry)
    unsafe memory.longWord(offset + Layout.since).pointee.store(
      PosixFiles.nanosecondsSince1970.littleEndian, ordering: .relaxed)
    unsafe memory.longWord(offset + Layout.high).pointee.store(version, ordering: .relaxed)
    unsafe memory.longWord(offset + Layout.low).pointee.store(
      version, ordering: .sequentiallyConsistent)
    noteChange()
  }

  /// Lets an entry hold all versions from those it holds to `version` too, which may be an earlier or a later one.
  func widen(_ entry: Int, to version: Version) {
    let low = unsafe memory.longWord(Layout.offset(entry) + Layout.low)
    let high = unsafe memory.longWord(Layout.offset(entry) + Layout.high)
    // Its owner alone changes them.
    let first = unsafe low.pointee.load(ordering: .relaxed)
    let last = unsafe max(first, high.pointee.load(ordering: .relaxed))
    unsafe high.pointee.store(max(last, version), ordering: .sequentiallyConsistent)
    unsafe low.pointee.store(min(first, version), ordering: .sequentiallyConsistent)
    noteChange()
  }

  /// Lets an entry hold nothing; it stays its owner's.
  func empty(_ entry: Int) {
    unsafe memory.longWord(Layout.offset(entry) + Layout.low).pointee.store(
      .max, ordering: .sequentiallyConsistent)
    noteChange()
  }

  /// Gives an empty entry back.
  func giveBack(_ entry: Int) {
    unsafe memory.word(Layout.offset(entry) + Layout.owner).pointee.store(0, ordering: .releasing)
  }

  /// Ends all pins of a process that left or died.
  func clear(ownerSlot slot: Int) {
    forEachUsed { offset in
      let owner = unsafe memory.word(offset + Layout.owner)
      guard unsafe owner.pointee.load(ordering: .acquiring) == UInt32(slot + 1) else { return }
      unsafe memory.longWord(offset + Layout.low).pointee.store(
        .max, ordering: .sequentiallyConsistent)
      unsafe owner.pointee.store(0, ordering: .releasing)
    }
    noteChange()
  }

  private func noteChange() {
    unsafe memory.word(SharedLayout.pinChanges).pointee.wrappingAdd(
      1, ordering: .sequentiallyConsistent)
  }
}
