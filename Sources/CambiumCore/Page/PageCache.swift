import Synchronization

/// Checked, decoded pages in memory, shared by all readers of a database and bounded in size.
///
/// Used where a store cannot lend its memory or a codec stands in between. Pages are keyed by their
/// whole reference. Eviction is by the clock method: a page that was read since the hand passed last
/// gets another round. A reader holds the buffer it reads, so eviction never pulls a page away.
///
/// Pages that the newest version does not have are not worth much: those who look at older versions read
/// what has changed lately, and hardly anything else of them. They take a small part of the room.
///
/// Pages that are read more than once, and branches, are also kept in `HeldPages`, which sources share
/// and look at first: up to half of the cache's size of them, once more while sources that began
/// before are still around.
public final class PageCache: Sendable {
  private static let shardCount = 16
  private let shards: [ShardBox]
  private let shardCapacity: Int
  /// Whether it was given room at all.
  let keepsPages: Bool
  /// How many bytes of pages it keeps.
  let byteLimit: Int

  private struct Held {
    var newest: HeldPages
    weak var before: HeldPages?
  }

  private let held: Mutex<Held?>
  private let heldCapacity: Int

  /// Pages that the newest version does not have.
  private struct Retired {
    var latest: [PageReference] = []
    var latestByteCount = 0
    /// Those before them, which go when there are as many of the latest.
    var before: [PageReference] = []

    /// Takes pages in, and gives out those that go when the latest take more than `byteLimit`.
    mutating func add(_ references: [PageReference], byteLimit: Int) -> [PageReference] {
      latest += references
      latestByteCount += references.reduce(0) { $0 + $1.byteCount }
      if latestByteCount <= byteLimit { return [] }
      defer { (before, latest, latestByteCount) = (latest, [], 0) }
      // One large transaction is not kept.
      if latestByteCount > 2 * byteLimit {
        defer { latest = [] }
        return before + latest
      }
      return before
    }
  }

  private let retired = Mutex(Retired())

  private final class ShardBox: Sendable {
    let shard = Mutex(CacheShard())
  }

  /// A cache of at most `byteCount` bytes of pages.
  public init(byteCount: Int = 64 << 20) {
    shardCapacity = max(1, byteCount / Self.shardCount)
    keepsPages = byteCount > 0
    byteLimit = byteCount
    shards = (0..<Self.shardCount).map { _ in ShardBox() }
    heldCapacity = byteCount / 2
    held = Mutex(nil)
  }

  /// The held pages for a source that begins to read; nil where nothing is to be kept.
  ///
  /// Those of the sources before it, unless they are full of pages that are not wanted any more. Then
  /// new ones are begun, once the sources that read through the last but one are gone: there are two
  /// at most.
  func heldPages() -> HeldPages? {
    guard keepsPages else { return nil }
    return held.withLock { held in
      if let newest = held?.newest, !newest.isOutworn || held?.before != nil { return newest }
      let pages = HeldPages(byteCount: heldCapacity)
      held = Held(newest: pages, before: held?.newest)
      return pages
    }
  }

  /// Lets go of all pages but those that sources have been lent.
  func letGo() {
    let gone = held.withLock { held -> Held? in
      guard held != nil, isKnownUniquelyReferenced(&held!.newest) else { return nil }
      return held.take()
    }
    withExtendedLifetime(gone) {}
    retired.withLock { $0 = Retired() }
    for box in shards {
      let shard = box.shard.withLock { shard in
        defer { shard = CacheShard() }
        return shard
      }
      withExtendedLifetime(shard) {}
    }
  }

  private func box(_ reference: PageReference) -> ShardBox {
    shards[Int(truncatingIfNeeded: (reference.address &* 0x9E37_79B9_7F4A_7C15) >> 60)]
  }

  /// The page at `reference`, if it is cached.
  public func page(_ reference: PageReference) -> PageBuffer? {
    box(reference).shard.withLock { $0.page(reference) }
  }

  /// Whether the page at `reference` is cached; does not count as a use of it.
  func contains(_ reference: PageReference) -> Bool {
    box(reference).shard.withLock { $0.contains(reference) }
  }

  /// Keeps `buffer` under `reference`; evicts others to stay within bounds.
  ///
  /// A cache without room keeps nothing.
  public func insert(_ buffer: PageBuffer, for reference: PageReference) {
    guard keepsPages else { return }
    box(reference).shard.withLock { $0.insert(buffer, for: reference, capacity: shardCapacity) }
  }

  /// Says that the newest version does not have these pages any more.
  ///
  /// They stay while those that came later take less than an eighth of the cache.
  func retire(_ references: [PageReference]) {
    let gone = retired.withLock { $0.add(references, byteLimit: byteLimit / 16) }
    for reference in gone { box(reference).shard.withLock { $0.remove(reference) } }
  }
}

/// A part of the cache: a table with open addressing, because a dictionary's hashing alone would cost
/// more than the rest of a read.
private struct CacheShard {
  private struct Slot {
    var reference = PageReference.none
    var buffer: PageBuffer?
    var wasUsed = false
  }

  private var slots = [Slot](repeating: Slot(), count: 16)
  private var mask = 15
  private var count = 0
  private var hand = 0
  private var byteCount = 0

  /// Where the search for a page begins: checksums are as good as random.
  private func home(_ reference: PageReference) -> Int {
    Int(truncatingIfNeeded: reference.checksum) & mask
  }

  /// The slot of a page, or the free one in which its search ends.
  private func find(_ reference: PageReference) -> Int {
    var index = home(reference)
    while slots[index].buffer != nil, slots[index].reference != reference {
      index = (index + 1) & mask
    }
    return index
  }

  func contains(_ reference: PageReference) -> Bool {
    slots[find(reference)].buffer != nil
  }

  mutating func page(_ reference: PageReference) -> PageBuffer? {
    let index = find(reference)
    guard let buffer = slots[index].buffer else { return nil }
    if !slots[index].wasUsed { slots[index].wasUsed = true }
    return buffer
  }

  mutating func insert(_ buffer: PageBuffer, for reference: PageReference, capacity: Int) {
    if slots[find(reference)].buffer != nil { return }
    while byteCount + buffer.byteCount > capacity, count > 0 { evictOne() }
    if 2 * (count + 1) > slots.count { grow() }
    slots[find(reference)] = Slot(reference: reference, buffer: buffer)
    count += 1
    byteCount += buffer.byteCount
  }

  mutating func remove(_ reference: PageReference) {
    let index = find(reference)
    if slots[index].buffer != nil { remove(at: index) }
  }

  private mutating func grow() {
    let old = slots
    slots = [Slot](repeating: Slot(), count: 2 * old.count)
    mask = slots.count - 1
    hand = 0
    for slot in old where slot.buffer != nil { slots[find(slot.reference)] = slot }
  }

  /// Moves the hand to the next page that was not read since the last round, and drops it.
  private mutating func evictOne() {
    while true {
      hand &= mask
      if slots[hand].buffer != nil {
        if !slots[hand].wasUsed { return remove(at: hand) }
        slots[hand].wasUsed = false
      }
      hand += 1
    }
  }

  /// Empties a slot and moves those behind it up, so that no search ends too early.
  private mutating func remove(at index: Int) {
    byteCount -= slots[index].buffer?.byteCount ?? 0
    count -= 1
    var hole = index
    var next = index
    slots[hole] = Slot()
    while true {
      next = (next + 1) & mask
      if slots[next].buffer == nil { return }
      let distance = (next - home(slots[next].reference)) & mask
      guard distance >= (next - hole) & mask else { continue }
      slots[hole] = slots[next]
      slots[next] = Slot()
      hole = next
    }
  }
}
