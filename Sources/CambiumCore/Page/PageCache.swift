import Synchronization

/// Checked, decoded pages in memory, shared by all readers of a database and bounded in size.
///
/// Used where a store cannot lend its memory or a codec stands in between. Pages are keyed by their
/// whole reference. Eviction is by the clock method: a page that was read since the hand passed last
/// gets another round. A reader holds the buffer it reads, so eviction never pulls a page away.
public final class PageCache: Sendable {
  private struct Entry {
    var buffer: PageBuffer
    var slot: Int
    var wasUsed: Bool
  }

  private struct Shard {
    var entries: [PageReference: Entry] = [:]
    var ring: [PageReference] = []
    var hand = 0
    var byteCount = 0
  }

  private static let shardCount = 16
  private let shards: [ShardBox]
  private let shardCapacity: Int

  private final class ShardBox: Sendable {
    let shard = Mutex(Shard())
  }

  /// A cache of at most `byteCount` bytes of pages.
  public init(byteCount: Int = 64 << 20) {
    shardCapacity = max(1, byteCount / Self.shardCount)
    shards = (0..<Self.shardCount).map { _ in ShardBox() }
  }

  private func box(_ reference: PageReference) -> ShardBox {
    shards[Int(truncatingIfNeeded: (reference.address &* 0x9E37_79B9_7F4A_7C15) >> 60)]
  }

  /// The page at `reference`, if it is cached.
  public func page(_ reference: PageReference) -> PageBuffer? {
    box(reference).shard.withLock { shard in
      guard let entry = shard.entries[reference] else { return nil }
      if !entry.wasUsed { shard.entries[reference]?.wasUsed = true }
      return entry.buffer
    }
  }

  /// Keeps `buffer` under `reference`; evicts others to stay within bounds.
  public func insert(_ buffer: PageBuffer, for reference: PageReference) {
    box(reference).shard.withLock { shard in
      if shard.entries[reference] != nil { return }
      while shard.byteCount + buffer.byteCount > shardCapacity, !shard.ring.isEmpty {
        evictOne(&shard)
      }
      shard.entries[reference] = Entry(buffer: buffer, slot: shard.ring.count, wasUsed: false)
      shard.ring.append(reference)
      shard.byteCount += buffer.byteCount
    }
  }

  /// Moves the hand to the next page that was not read since the last round, and drops it.
  private func evictOne(_ shard: inout Shard) {
    while true {
      if shard.hand >= shard.ring.count { shard.hand = 0 }
      let candidate = shard.ring[shard.hand]
      if shard.entries[candidate]?.wasUsed == true {
        shard.entries[candidate]?.wasUsed = false
        shard.hand += 1
        continue
      }
      if let entry = shard.entries.removeValue(forKey: candidate) {
        shard.byteCount -= entry.buffer.byteCount
      }
      let last = shard.ring.removeLast()
      if last != candidate {
        shard.ring[shard.hand] = last
        shard.entries[last]?.slot = shard.hand
      }
      return
    }
  }
}
