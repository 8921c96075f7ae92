import CambiumCore

/// How much of each block the newest version needs.
///
/// Only the owner of the writer lock has one: it finds it in the records of the space, and in the log behind
/// them, and keeps it up to date with its own commits.
struct BlockTable: Sendable {
  /// What is known of a block.
  struct Entry: Hashable, Sendable {
    /// The units of the pages in it that the newest version has.
    var liveUnitCount: UInt32
    /// The first version that has none of them; meaningful when there are none.
    var emptied: Version
  }

  /// By the blocks' numbers; a block that was removed is not there.
  private(set) var entries: [UInt64: Entry] = [:]
  /// The sum of all blocks.
  private(set) var liveUnitCount: UInt64 = 0
  /// Which blocks have changed, or were removed, since the last record of the space.
  private(set) var changed: Set<UInt64> = []

  /// A table of no blocks.
  init() {}

  /// What the whole table comes to.
  struct Sum {
    var liveUnitCount: UInt64
    var blockCount: Int
  }

  /// What the table comes to with `changes`; throws when they break the count of a block.
  func effect(of changes: [BlockChange]) throws(StoreError) -> Sum {
    var units: [UInt64: UInt64] = [:]
    var sum = Sum(liveUnitCount: liveUnitCount, blockCount: entries.count)
    for change in changes {
      let entry = entries[change.block]
      let old = units[change.block] ?? UInt64(entry?.liveUnitCount ?? 0)
      if entry == nil, units[change.block] == nil { sum.blockCount += 1 }
      guard old + UInt64(change.added) >= UInt64(change.freed) else { throw tooFew(change, old) }
      units[change.block] = old + UInt64(change.added) - UInt64(change.freed)
      sum.liveUnitCount += UInt64(change.added)
      sum.liveUnitCount -= UInt64(change.freed)
    }
    return sum
  }

  private func tooFew(_ change: BlockChange, _ units: UInt64) -> StoreError {
    .damaged(
      Damage(
        .freeMap,
        "Block \(change.block) has \(units + UInt64(change.added)) units in use, "
          + "and \(change.freed) were freed"))
  }

  /// Takes in what the commit of `version` has changed; throws when it breaks the count of a block.
  mutating func apply(_ changes: [BlockChange], _ version: Version) throws(StoreError) {
    for change in changes {
      var entry = entries[change.block] ?? Entry(liveUnitCount: 0, emptied: 0)
      let (sum, isTooLarge) = entry.liveUnitCount.addingReportingOverflow(change.added)
      guard !isTooLarge, sum >= change.freed else {
        throw tooFew(change, UInt64(entry.liveUnitCount))
      }
      entry.liveUnitCount = sum - change.freed
      if entry.liveUnitCount == 0 { entry.emptied = version }
      entries[change.block] = entry
      liveUnitCount += UInt64(change.added)
      liveUnitCount -= UInt64(change.freed)
      changed.insert(change.block)
    }
  }

  /// Forgets blocks that were removed.
  mutating func remove(_ blocks: [UInt64]) {
    for block in blocks where entries.removeValue(forKey: block) != nil { changed.insert(block) }
  }

  /// The blocks before `end` that no version from `version` on needs.
  func emptyBlocks(before end: UInt64, neededFrom version: Version) -> [UInt64] {
    entries.compactMap { block, entry in
      entry.liveUnitCount == 0 && block < end && entry.emptied <= version ? block : nil
    }.sorted()
  }

  /// The newest version that has emptied one of the blocks before `end`; nil when none is empty.
  func lastEmptied(before end: UInt64) -> Version? {
    entries.lazy.filter { $0.value.liveUnitCount == 0 && $0.key < end }.map(\.value.emptied).max()
  }

  /// How many of these blocks the newest version does not need.
  func emptyBlockCount(in blocks: Range<UInt64>) -> Int {
    entries.count { $0.value.liveUnitCount == 0 && blocks.contains($0.key) }
  }

  /// The blocks before `end` of which less than a half is needed, and something.
  func sparseBlocks(before end: UInt64, of layout: BlockLayout) -> [UInt64] {
    entries.compactMap { block, entry in
      entry.liveUnitCount > 0 && UInt64(entry.liveUnitCount) < layout.unitCount / 2 && block < end
        ? block : nil
    }.sorted()
  }

  // MARK: Records of the space

  private static let magic: UInt32 = 0x4350_5343
  private static let removed = UInt32.max

  /// Whether the next record had better be whole: a record of what has changed would be hardly smaller.
  var isMostlyChanged: Bool { changed.count * 2 >= entries.count }

  /// A record of all blocks, or of those that have changed since the last one.
  ///
  ///      0       4          8       16
  ///     | magic | is whole | count | checksum | block, live units, zero 4, emptied: 24 each |
  func record(isWhole: Bool) -> [UInt8] {
    var fields = ByteWriter()
    let blocks = isWhole ? entries.keys.sorted() : changed.sorted()
    for block in blocks {
      let entry = entries[block]
      fields.put(block)
      fields.put(entry?.liveUnitCount ?? Self.removed)
      fields.put(UInt32(0))
      fields.put(entry?.emptied ?? 0)
    }
    var writer = ByteWriter()
    writer.put(Self.magic)
    writer.put(UInt32(isWhole ? 1 : 0))
    writer.put(UInt64(blocks.count))
    writer.put(Checksum.hash(fields.bytes.span))
    writer.put(fields.bytes)
    return writer.bytes
  }

  /// A record was stored that the root leads to.
  mutating func markRecorded() { changed = [] }

  /// Takes in a stored record; the first one must be whole.
  mutating func load(_ bytes: [UInt8], isFirst: Bool, path: String) throws(StoreError) {
    func damage(_ text: String) -> StoreError {
      .damaged(Damage(.freeMap, "The record of the space of '\(path)' \(text)"))
    }
    var reader = ByteReader(bytes)
    guard reader.get(UInt32.self) == Self.magic, let isWhole = reader.get(UInt32.self),
      let count = reader.get(UInt64.self), let checksum = reader.get(UInt64.self),
      count <= UInt64(bytes.count - 24) / 24, isWhole == (isFirst ? 1 : 0)
    else { throw damage("cannot be read") }
    guard Checksum.hash(bytes.span.extracting(24..<24 + 24 * Int(count))) == checksum else {
      throw damage("does not match its checksum")
    }
    for _ in 0..<count {
      guard let block = reader.get(UInt64.self), let units = reader.get(UInt32.self),
        reader.skipZeros(4), let emptied = reader.get(UInt64.self)
      else { throw damage("is too short") }
      if let old = entries.removeValue(forKey: block) { liveUnitCount -= UInt64(old.liveUnitCount) }
      if units == Self.removed { continue }
      entries[block] = Entry(liveUnitCount: units, emptied: emptied)
      liveUnitCount += UInt64(units)
    }
  }
}
