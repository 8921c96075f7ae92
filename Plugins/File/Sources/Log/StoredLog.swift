import CambiumCore
import CambiumStoreKit

/// The log in the file: what small durable commits have changed since the version of the file that they follow.
///
/// A small durable commit writes the records of the log in memory (``SharedLog``) that are not there yet, its own among
/// them, and syncs: a block or two in one piece, where its pages would take a piece of the file each. The records of one
/// sync are a batch. It begins at a block that nothing durable lies in, so that a torn one takes no other with it:
///
///     | magic | uuid | base | version | start | length | link | records … | checksum |
///
/// All numbers are little-endian. The base is the version of the file that the log follows, the version the one that
/// the last record makes; start and length say which bytes of all records these are; the link is the checksum of the
/// batch before, in the first that of the record of the base. The checksum, XXH64, is that of all before it. A batch
/// counts if all of this fits the newest head and the batches before it: the first that does not ends the log. So the
/// log of one version of the file needs no end, and that of the next one begins at the first block again, once that
/// version is durable.
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
  func byteOffset(behind tail: Tail) -> Int {
    (blocks.lowerBound + tail.blockCount) * FileLayout.blockByteCount
  }

  /// The batch behind `tail` with `records`, which make `version`, in whole blocks; and what the log has with it.
  static func batch(
    _ records: [UInt8], making version: Version, behind tail: Tail, in identity: IdentitySector
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
      fields.store(UInt64(tail.byteCount), at: Field.start)
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
  /// Throws `StoreError.damaged(_:)` when whole records do not make a version.
  static func content(
    following head: HeadSector, identity: IdentitySector, codec: (any PageCodec)?,
    device: any Device, path: String
  ) throws(StoreError) -> Content? {
    let (tail, records) = try read(head, identity, device, path: path)
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

  /// How far the log has got that `head` names.
  static func tail(
    following head: HeadSector, identity: IdentitySector, device: any Device, path: String
  ) throws(StoreError) -> Tail {
    try read(head, identity, device, path: path).tail
  }

  private static func read(
    _ head: HeadSector, _ identity: IdentitySector, _ device: any Device, path: String
  ) throws(StoreError) -> (tail: Tail, records: [UInt8]) {
    guard identity.hasLog, let extent = head.log else {
      return (Tail(following: head), [])
    }
    return try StoredLog(extent).read(
      behind: Tail(following: head), identity: identity, device: device, path: path)
  }

  /// Reads the log that begins with `tail`; what it has, and all its records.
  ///
  /// Throws what says nothing about the stored bytes, such as a refused read.
  private func read(
    behind tail: Tail, identity: IdentitySector, device: any Device, path: String
  ) throws(StoreError) -> (tail: Tail, records: [UInt8]) {
    typealias Field = FileLayout.Batch
    var tail = tail
    var records: [UInt8] = []
    while tail.blockCount < blocks.count {
      let offset = byteOffset(behind: tail)
      let header = StoredBytes(try FileOpening.readSector(device, at: offset, path: path))
      guard header.bytes.count == FileLayout.sectorByteCount else { break }
      let count = header.load(Field.recordByteCount, as: UInt64.self)
      guard header.bytes.starts(with: Field.magicBytes),
        header.load(Field.uuid, as: UInt64.self) == identity.uuidHigh,
        header.load(Field.uuid + 8, as: UInt64.self) == identity.uuidLow,
        header.load(Field.base, as: UInt64.self) == tail.base,
        header.load(Field.start, as: UInt64.self) == UInt64(tail.byteCount),
        header.load(Field.link, as: UInt64.self) == tail.link,
        count > 0, count % 8 == 0, count <= UInt64(SharedLayout.logByteCount - tail.byteCount)
      else { break }
      let version = header.load(Field.version, as: UInt64.self)
      let blockCount = Self.blockCount(ofBatch: Int(count))
      guard version > tail.version, version < HeadSector.versionLimit,
        blockCount <= blocks.count - tail.blockCount,
        let batch = try Self.bytes(
          device, at: offset, byteCount: Field.byteCount + Int(count) + Self.checksumByteCount,
          path: path)
      else { break }
      let end = Field.byteCount + Int(count)
      // The header once more: it was read by itself before.
      guard batch.bytes.starts(with: header.bytes.prefix(Field.byteCount)),
        batch.load(end, as: UInt64.self) == batch.checksum(before: end)
      else { break }
      records += batch.bytes[Field.byteCount..<end]
      tail.version = version
      tail.blockCount += blockCount
      tail.byteCount += Int(count)
      tail.link = batch.load(end, as: UInt64.self)
    }
    return (tail, records)
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
