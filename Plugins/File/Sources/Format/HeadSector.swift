import CambiumCore
import CambiumStoreKit

/// One head as it is stored: in a slot of the file, or live in the lock file.
///
/// Pointers: the root is loaded from an array of as many bytes as it takes.
struct HeadSector: Hashable, Sendable {
  /// Rises with each write of a slot: the newer slot has the higher one.
  ///
  /// A live head repeats the sequence of the slot it follows.
  var sequence: UInt64
  var head: CambiumCore.Head
  /// The newest version known to be synced when this was written.
  var durable: Version
  var isSettled: Bool
  /// Whether an earlier version of this library has committed unsynced data since, which no boot survives.
  private(set) var hasUnsyncedData = false
  /// Where an earlier version of this library may have left the head of the version that follows.
  private var former: Former?
  /// The record of the commit; none for version 0.
  var record: PageReference
  /// The directory of the free map; none while the records tell everything.
  var freeMap: PageReference
  /// The high-water mark, in blocks: the file is at least that long.
  var blockCount: Int

  /// The high-water mark, in bytes.
  var byteCount: Int { blockCount * FileLayout.blockByteCount }
  var uuidHigh: UInt64
  var uuidLow: UInt64
  /// The log for small durable commits that follow; nil where there is none.
  var log: Extent?

  /// What a head says of one that follows it beside the pages of its own commit; only earlier versions of this library
  /// made such heads.
  private struct Former: Hashable, Sendable {
    /// The checksum of the head that this one follows.
    var link: UInt64
    /// The block at which the head that follows may lie; zero for none.
    var next: UInt64
    /// This head's own checksum, that of its form without a seal.
    var checksum: UInt64
  }

  /// Throws when a head follows this one that an earlier version of this library left beside its commit's pages: a
  /// version that was acknowledged would be lost without it.
  func ensureIsLast(
    in identity: IdentitySector, _ device: any Device, path: String
  ) throws(StoreError) {
    guard let former, former.next > 0 else { return }
    let offset = Int(former.next) * FileLayout.blockByteCount
    let stored = try FileOpening.readSector(device, at: offset, path: path)
    guard
      let next = HeadSector(
        stored: stored, identity: identity, at: Self.place(atByte: offset)),
      next.former?.link == former.checksum, next.head.version == head.version + 1,
      next.head.epoch == head.epoch, next.sequence == sequence, next.durable == head.version,
      !next.isSettled
    else { return }
    throw .leftUnfinished(
      path: path,
      what:
        "version \(next.head.version) lies where this one does not look; open and close the file with that one"
    )
  }

  /// The head of a new file.
  init(sequence: UInt64, identity: IdentitySector) {
    self.sequence = sequence
    head = CambiumCore.Head(version: 0, epoch: 1, root: .empty(.key))
    durable = 0
    isSettled = true
    record = .none
    freeMap = .none
    blockCount = identity.firstBlock
    uuidHigh = identity.uuidHigh
    uuidLow = identity.uuidLow
  }

  /// One past the highest version that a head may name; a page's birth has 48 bits.
  static let versionLimit: UInt64 = (1 << 48) - 1
  /// One past the highest epoch and sequence number.
  static let countLimit: UInt64 = .max >> 1
  /// One past the highest number of a block.
  static let blockLimit = 1 << 42
  /// How far the numbers of a head that is written on stay below their limits.
  ///
  /// Counting never gets there; only a crafted file does.
  private static let margin: UInt64 = 1 << 40

  /// Whether commits may still follow this head.
  var canBeFollowed: Bool {
    head.version < Self.versionLimit - Self.margin && head.epoch < Self.countLimit - Self.margin
      && sequence < Self.countLimit - Self.margin
  }

  /// The sector as it is stored in the file with that identity, at `place`.
  func stored(in identity: IdentitySector, at place: UInt64) -> [UInt8] {
    guard let seal = identity.seal else { return stored }
    return seal.sealedHead(stored, place: place, version: head.version)
  }

  /// The place of a head in the file, for its seal.
  static func place(atByte offset: Int) -> UInt64 { UInt64(offset) }
  /// The place of one of the two live heads.
  static func place(ofLiveHead index: UInt64) -> UInt64 { .max - index }

  /// The sector without any seal.
  var stored: [UInt8] {
    typealias Field = FileLayout.Head
    return StoredBytes(byteCount: FileLayout.sectorByteCount) { fields in
      fields.store(Field.magicBytes, at: Field.magic)
      fields.store(sequence, at: Field.sequence)
      fields.store(head.version, at: Field.version)
      fields.store(head.epoch, at: Field.epoch)
      fields.store(durable, at: Field.durable)
      fields.store(isSettled ? Field.settled : 0, at: Field.flags)
      fields.store(head.root, at: Field.root)
      fields.store(record, at: Field.record)
      fields.store(freeMap, at: Field.freeMap)
      fields.store(UInt64(blockCount), at: Field.blockCount)
      fields.store(uuidHigh, at: Field.uuid)
      fields.store(uuidLow, at: Field.uuid + 8)
      fields.store(log?.location ?? 0, at: Field.log)
      fields.store(fields.checksum(before: Field.checksum), at: Field.checksum)
    }.bytes
  }

  /// Reads the sector that is stored at `place`; nil when it is not a whole head of this file.
  init?(stored: [UInt8], identity: IdentitySector, at place: UInt64) {
    typealias Field = FileLayout.Head
    var stored = stored
    var bytes = StoredBytes(stored)
    guard stored.count == FileLayout.sectorByteCount,
      stored.prefix(Field.magicBytes.count).elementsEqual(Field.magicBytes),
      bytes.load(Field.checksum, as: UInt64.self) == bytes.checksum(before: Field.checksum)
    else { return nil }
    if let seal = identity.seal {
      guard let opened = seal.openedHead(stored, place: place) else { return nil }
      stored = opened
      bytes = StoredBytes(opened)
    }
    let rootBytes = Array(stored[Field.root..<(Field.root + TreeRoot.byteCount)])
    guard let root = unsafe rootBytes.withUnsafeBytes({ unsafe TreeRoot(loadingFrom: $0) }) else {
      return nil
    }
    sequence = bytes.load(Field.sequence, as: UInt64.self)
    head = CambiumCore.Head(
      version: bytes.load(Field.version, as: UInt64.self),
      epoch: bytes.load(Field.epoch, as: UInt64.self), root: root)
    durable = bytes.load(Field.durable, as: UInt64.self)
    let flags = bytes.load(Field.flags, as: UInt64.self)
    isSettled = flags & Field.settled != 0
    hasUnsyncedData = flags & Field.unsynced != 0
    record = bytes.reference(Field.record)
    freeMap = bytes.reference(Field.freeMap)
    let blocks = bytes.load(Field.blockCount, as: UInt64.self)
    uuidHigh = bytes.load(Field.uuid, as: UInt64.self)
    uuidLow = bytes.load(Field.uuid + 8, as: UInt64.self)
    let link = bytes.load(Field.link, as: UInt64.self)
    let next = bytes.load(Field.next, as: UInt64.self)
    if link != 0 || next != 0 {
      let checksum = bytes.checksum(before: Field.checksum)
      former = Former(link: link, next: next, checksum: checksum)
    }
    let log = Extent(location: bytes.load(Field.log, as: UInt64.self))
    guard flags & ~(Field.settled | Field.unsynced) == 0,
      uuidHigh == identity.uuidHigh, uuidLow == identity.uuidLow,
      blocks >= UInt64(identity.firstBlock), blocks < UInt64(Self.blockLimit),
      next == 0 || next >= UInt64(identity.firstBlock), next < UInt64(Self.blockLimit),
      log.unitCount == 0
        || log.address >= UInt64(identity.firstBlock * BlockMap.unitsPerBlock)
          && log.end <= blocks * UInt64(BlockMap.unitsPerBlock),
      head.version < Self.versionLimit, durable <= head.version,
      head.epoch < Self.countLimit, sequence < Self.countLimit
    else { return nil }
    blockCount = Int(blocks)
    self.log = log.unitCount == 0 ? nil : log
  }
}
