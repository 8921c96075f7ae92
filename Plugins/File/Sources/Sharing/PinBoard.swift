import CambiumCore

/// The pins of one user of a file: counted here, and shown to all by one entry per version.
///
/// When entries run out, one comes to stand for a range of versions: coarser, never wrong. Not
/// synchronized: guarded by the store's lock.
struct PinBoard: Sendable {
  private struct Held: Sendable {
    var version: Version
    var count: Int
    var entry: Int
  }

  private let table: PinTable
  private let slot: Int
  private var held: [Held] = []
  /// Entries of this user that hold nothing.
  private var spare: [Int] = []
  /// No more than this are kept for later.
  private static let spareCount = 4

  init(memory: SharedMemory, slot: Int) {
    table = PinTable(memory: memory)
    self.slot = slot
  }

  /// Whether nothing is pinned.
  var isEmpty: Bool { held.isEmpty }

  /// Pins `head`; false, and nothing is pinned, when the live word is not `word` any more, by which `head` is known
  /// to be the newest version, or the one of the file that it follows.
  mutating func hold(_ head: Head, whileLive word: UInt64) -> Bool {
    // Oldest first, and mostly the newest is asked for. Who holds it already goes on holding it.
    if let index = held.lastIndex(where: { $0.version == head.version }) {
      held[index].count += 1
      return true
    }
    let entry = take(head.version)
    guard table.memory.liveWord == word else {
      letGo(entry)
      return false
    }
    held.append(Held(version: head.version, count: 1, entry: entry))
    return true
  }

  /// Ends one pin of `version`.
  mutating func release(_ version: Version) {
    guard let index = held.lastIndex(where: { $0.version == version }) else {
      preconditionFailure("S2: a pin of version \(version) ended twice.")
    }
    held[index].count -= 1
    if held[index].count > 0 { return }
    letGo(held.remove(at: index).entry)
  }

  private mutating func take(_ version: Version) -> Int {
    if let entry = spare.popLast() ?? table.claim(ownerSlot: slot) {
      table.set(entry, version)
      return entry
    }
    // There is one: the first entries belong to one user each.
    guard let widened = held.last?.entry else {
      preconditionFailure("A process slot without an entry for its pins.")
    }
    table.widen(widened, to: version)
    return widened
  }

  private mutating func letGo(_ entry: Int) {
    if held.contains(where: { $0.entry == entry }) { return }
    table.empty(entry)
    if spare.count < Self.spareCount { spare.append(entry) } else { table.giveBack(entry) }
  }
}
