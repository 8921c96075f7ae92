import CambiumCore
import CambiumStoreKit

/// The log in the file: what small durable commits have changed since the version of the file that they follow.
///
/// A small durable commit writes the records of the log in memory (``SharedLog``) that are not there yet, its own among
/// them, and syncs: a block or two in one piece, where its pages would take a piece of the file each. The records of one
/// sync are a batch. It begins at a block that nothing durable lies in, so that a torn one takes no other with it:
///
///     | magic | uuid | base | version | start | epoch | length | link | records … | checksum |
///
/// All numbers are little-endian. The base is the version of the file that the log follows, the version the one that
/// the last record makes; start and length say which bytes of all records these are; the link is the checksum of the
/// batch before, in the first that of the record of the base. The checksum, XXH64, is that of all before it. A batch
/// counts if all of this fits the newest head and the batches before it: the first that does not ends the log. So the
/// log of one version of the file needs no end, and that of the next one begins at the first block again, once that
/// version is durable. A batch is written once those before it are durable, so that one behind the end says that
/// something durable is damaged.
///
/// A torn batch that a power loss has left must not become whole by sectors of the one that takes its place, which may be
/// the same in both. So the first write of an epoch takes the beginning of such a one away, and no later batch has that
/// beginning: the epoch is in it.
struct StoredLog: Hashable, Sendable {
  /// The whole blocks of the extent that a head names.
  let blocks: Range<Int>

  init(_ extent: Extent) {
    let perBlock = UInt64(BlockMap.unitsPerBlock)
    let first = Int((extent.address + perBlock - 1) / perBlock)
    let end = max(first, Int(extent.end / perBlock))
    blocks = first..<min(end, first + Self.largestBlockCount)
  }

  /// How far the log has got.
  struct Tail: Hashable, Sendable {
    /// The version of the file that it follows.
    var base: Version
    /// The version that its last record makes; that of the file where there is none.
    var version: Version
    /// How many of its blocks are used.
    var blockCount = 0
    /// How many bytes of records it has.
    var byteCount = 0
    /// The checksum of the last batch; where there is none that of the record of the version that it follows.
    var link: UInt64 = 0

    /// Whether the numbers can be those of a log, where a hostile hand may have written them.
    var isPossible: Bool {
      base <= version && version < HeadSector.versionLimit
        && (0...SharedLayout.logByteCount).contains(byteCount) && byteCount % 8 == 0
        && (0...StoredLog.largestBlockCount).contains(blockCount)
    }
  }

  static let largestBlockCount = SharedLayout.logByteCount / FileLayout.blockByteCount
  private static let checksumByteCount = 8

  /// How many blocks a batch takes that has so many bytes of records.
  static func blockCount(ofBatch recordByteCount: Int) -> Int {
    let byteCount = FileLayout.Batch.byteCount + recordByteCount + checksumByteCount
    return (byteCount + FileLayout.blockByteCount - 1) / FileLayout.blockByteCount
  }

  /// How many bytes of records a batch has room for in so many blocks.
  static func recordByteCount(inBlocks count: Int) -> Int {
    max(0, count * FileLayout.blockByteCount - FileLayout.Batch.byteCount - checksumByteCount)
  }

  /// Where the batch behind `tail` begins in the file.
  func byteOffset(behind tail: Tail) -> Int { byteOffset(ofBlock: tail.blockCount) }

  /// The batch behind `tail` with `records`, which make `version` in `epoch`, in whole blocks; and what the log has with
  /// it.
  static func batch(
    _ records: [UInt8], making version: Version, epoch: UInt64, behind tail: Tail,
    in identity: IdentitySector
  ) -> (stored: [UInt8], tail: Tail) {
    typealias Field = FileLayout.Batch
    let count = blockCount(ofBatch: records.count)
    let end = Field.byteCount + records.count
    let stored = StoredBytes(byteCount: count * FileLayout.blockByteCount) { fields in
      fields.store(Field.magicBytes, at: Field.magic)
      fields.store(identity.uuidHigh, at: Field.uuid)
      fields.store(identity.uuidLow, at: Field.uuid + 8)
      fields.store(tail.base, at: Field.base)
      fields.store(version, at: Field.version)
      fields.store(UInt32(tail.byteCount), at: Field.start)
      fields.store(UInt32(truncatingIfNeeded: epoch), at: Field.epoch)
      fields.store(UInt64(records.count), at: Field.recordByteCount)
      fields.store(tail.link, at: Field.link)
      fields.store(records, at: Field.byteCount)
      fields.store(fields.checksum(before: end), at: end)
    }
    var tail = tail
    tail.version = version
    tail.blockCount += count
    tail.byteCount += records.count
    tail.link = stored.load(end, as: UInt64.self)
    return (stored.bytes, tail)
  }

  /// What a log has.
  struct Content {
    /// The version that the last record makes.
    var newest: FileState.Logged
    /// What its commits were given.
    var commits: [CommitMetadata]
    var tail: Tail
    /// All of its records.
    var records: [UInt8]
  }

  /// What the log has that `head` names; nil where there is none, or nothing in it that follows `head`.
  ///
  /// Throws `StoreError.damaged(_:)` when whole records do not make a version and, unless it `endsAtDamage`, when a
  /// batch that was acknowledged cannot be read.
  static func content(
    following head: HeadSector, identity: IdentitySector, codec: (any PageCodec)?,
    device: any Device, path: String, endsAtDamage: Bool = false
  ) throws(StoreError) -> Content? {
    guard let log = Self(head, identity) else { return nil }
    let (tail, records) = try log.read(
      behind: Tail(following: head), identity: identity, device: device, path: path)
    if !endsAtDamage,
      let lost = try log.version(beyond: tail, identity: identity, device: device, path: path)
    {
      let version = head.head.version
      throw .damaged(
        Damage(
          .head,
          "the log of small commits behind version \(version) goes on to version \(lost), but what it "
            + "has from version \(tail.version + 1) on, which was durable, cannot be read"))
    }
    if records.isEmpty { return nil }
    // Records are read where small commits leave them.
    let memory = SharedMemory()
    guard SharedLog(memory: memory).put(records, at: 0) != nil else { return nil }
    let word = SharedMemory.LiveWord(tail.version, after: .max, changesHead: false).word
    let (newest, commits) = try FileState.Logged.replayed(
      SharedMemory.Live(word: word, head: head), onto: nil, in: memory, identity: identity,
      codec: codec, device, path: path)
    guard newest.end == records.count else {
      throw .damaged(Damage(.head, "the log behind version \(head.head.version)"))
    }
    return Content(newest: newest, commits: commits, tail: tail, records: records)
  }

  /// How far the log has got that `head` names, looked for behind what is known of it.
  static func tail(
    following head: HeadSector, behind known: Tail? = nil, identity: IdentitySector,
    device: any Device, path: String
  ) throws(StoreError) -> Tail {
    let tail = known ?? Tail(following: head)
    return try Self(head, identity)?.read(
      behind: tail, identity: identity, device: device, path: path
    ).tail ?? tail
  }

  /// Whether behind `tail` lies the beginning of a batch that follows the same version of the file.
  func hasBeginning(
    behind tail: Tail, device: any Device, path: String
  ) throws(StoreError) -> Bool {
    guard tail.blockCount < blocks.count else { return false }
    let header = StoredBytes(
      try FileOpening.readSector(device, at: byteOffset(behind: tail), path: path))
    return header.bytes.starts(with: FileLayout.Batch.magicBytes)
      && header.load(FileLayout.Batch.base, as: UInt64.self) == tail.base
  }

  /// The log that `head` names, in a file that has one.
  private init?(_ head: HeadSector, _ identity: IdentitySector) {
    guard identity.hasLog, let extent = head.log else { return nil }
    self.init(extent)
  }

  /// Reads the log that begins with `tail`; what it has, and all its records.
  ///
  /// Throws what says nothing about the stored bytes, such as a refused read.
  private func read(
    behind tail: Tail, identity: IdentitySector, device: any Device, path: String
  ) throws(StoreError) -> (tail: Tail, records: [UInt8]) {
    var tail = tail
    var records: [UInt8] = []
    while tail.blockCount < blocks.count {
      let found = try batch(atBlock: tail.blockCount, identity, device, path: path)
      guard let found, found.base == tail.base, found.start == UInt64(tail.byteCount),
        found.link == tail.link, found.version > tail.version
      else { break }
      records += found.records
      tail.version = found.version
      tail.blockCount += Self.blockCount(ofBatch: found.records.count)
      tail.byteCount += found.records.count
      tail.link = found.checksum
    }
    return (tail, records)
  }

  /// The version that a batch makes which lies anywhere behind the one that `tail` ends before; nil where none does.
  ///
  /// A batch is written once all before it are durable. So where there is a later one, the one behind `tail` was
  /// acknowledged, and is damaged. Where there is none it may be torn, and never have been acknowledged.
  private func version(
    beyond tail: Tail, identity: IdentitySector, device: any Device, path: String
  ) throws(StoreError) -> Version? {
    let pieceCount = 16
    var version: Version?
    for first in stride(from: tail.blockCount + 1, to: blocks.count, by: pieceCount) {
      let count = min(pieceCount, blocks.count - first)
      let piece = try Self.bytes(
        device, at: byteOffset(ofBlock: first), byteCount: count * FileLayout.blockByteCount,
        path: path)
      guard let piece else { continue }
      for number in 0..<count
      where piece.bytes[(number * FileLayout.blockByteCount)...].starts(
        with: FileLayout.Batch.magicBytes)
      {
        let found = try batch(atBlock: first + number, identity, device, path: path)
        // What is left of an earlier base makes earlier versions.
        guard let found, found.base == tail.base, found.version > tail.version else { continue }
        version = max(version ?? 0, found.version)
      }
    }
    return version
  }

  /// A batch that is whole, wherever it may belong.
  private struct Batch {
    let base: Version
    let version: Version
    /// How many bytes of records are before its own.
    let start: UInt64
    let link: UInt64
    let records: ArraySlice<UInt8>
    let checksum: UInt64
  }

  /// The batch of this file that begins with that block of the log; nil where none does that is whole.
  private func batch(
    atBlock number: Int, _ identity: IdentitySector, _ device: any Device, path: String
  ) throws(StoreError) -> Batch? {
    typealias Field = FileLayout.Batch
    let offset = byteOffset(ofBlock: number)
    let header = StoredBytes(try FileOpening.readSector(device, at: offset, path: path))
    guard header.bytes.count == FileLayout.sectorByteCount else { return nil }
    let count = header.load(Field.recordByteCount, as: UInt64.self)
    let start = UInt64(header.load(Field.start, as: UInt32.self))
    let limit = UInt64(SharedLayout.logByteCount)
    guard header.bytes.starts(with: Field.magicBytes),
      header.load(Field.uuid, as: UInt64.self) == identity.uuidHigh,
      header.load(Field.uuid + 8, as: UInt64.self) == identity.uuidLow,
      start <= limit, count > 0, count % 8 == 0, count <= limit - start
    else { return nil }
    let version = header.load(Field.version, as: UInt64.self)
    let end = Field.byteCount + Int(count)
    guard version < HeadSector.versionLimit,
      Self.blockCount(ofBatch: Int(count)) <= blocks.count - number,
      let batch = try Self.bytes(
        device, at: offset, byteCount: end + Self.checksumByteCount, path: path)
    else { return nil }
    let checksum = batch.load(end, as: UInt64.self)
    // The header once more: it was read by itself before.
    guard batch.bytes.starts(with: header.bytes.prefix(Field.byteCount)),
      checksum == batch.checksum(before: end)
    else { return nil }
    return Batch(
      base: header.load(Field.base, as: UInt64.self), version: version, start: start,
      link: header.load(Field.link, as: UInt64.self),
      records: batch.bytes[Field.byteCount..<end], checksum: checksum)
  }

  private func byteOffset(ofBlock number: Int) -> Int {
    (blocks.lowerBound + number) * FileLayout.blockByteCount
  }

  /// The bytes at `offset`; nil where the file ends before them.
  private static func bytes(
    _ device: any Device, at offset: Int, byteCount: Int, path: String
  ) throws(StoreError) -> StoredBytes? {
    do throws(StoreError) {
      return StoredBytes(try device.readPage(at: offset, byteCount: byteCount, path: path))
    } catch {
      switch error {
      case .damaged, .truncated: return nil
      default: throw error
      }
    }
  }
}

extension StoredLog.Tail {
  /// The tail of a log that follows `head` and has nothing.
  init(following head: HeadSector) {
    self.init(base: head.head.version, version: head.head.version, link: head.record.checksum)
  }
}
