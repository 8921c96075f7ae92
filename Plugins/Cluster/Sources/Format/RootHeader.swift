import CambiumCore

/// What changes with each swap of the root; integers are little-endian.
///
///      0       8          16      24           32      40          48
///     | magic | checksum | epoch | generation | owner | log began | log end |
///      56               64             72             80      88           96
///     | newest version | next address | reserved end | floor | live units | block count |
///      104     108                  112
///     | flags | space record count | space records, 16 each |
///
/// The log follows at a fixed place behind it: the frames of the commits since it began, which
/// ``CommitRecord`` describes. It begins anew when it has become long.
struct RootHeader: Hashable, Sendable {
  /// Its room in the root.
  static let byteCount = 4096
  /// Where a swap finds the token that it compares.
  static let tokenOffset = 16
  /// So many records of the space are listed at most.
  static let spaceRecordLimit = 64
  private static let magic: UInt64 = 0x5244_4854_4f4f_5243
  private static let fixedByteCount = 112

  /// Which state of the root this is.
  var token = RootToken(epoch: 1, generation: 1, owner: 0)
  /// The generation in which the log began.
  var logGeneration: UInt64 = 1
  /// One past the log's last byte, in the root.
  var logEnd: Int
  /// The newest version; its record is the last one in the log.
  var newestVersion: Version = 0
  /// One past the last page of the newest version that was new in it, in units; address 0 is never used.
  var nextAddress: UInt64 = 1
  /// Up to here the owner may write into blocks; who takes over begins behind it.
  ///
  /// When the writer lock was given back, up to here it has.
  var reservedEnd: UInt64 = 1
  /// Versions before this one can not be pinned any more.
  var floor: Version = 0
  /// The units of all pages of the newest version.
  var liveUnitCount: UInt64 = 0
  /// How many blocks there are.
  var blockCount: UInt64 = 0
  /// Whether the last owner has given the writer lock back, with nothing under way.
  var isReleased = true
  /// The records of the space, the oldest one first, which is whole.
  var spaceRecords: [SpaceRecordID] = []

  /// The header of a new store, whose log begins at `logStart`.
  ///
  /// Nobody that knew another store of the same name takes it for that one.
  init(logStart: Int) {
    logEnd = logStart
    token.owner = .random(in: 1 ... .max)
  }

  /// The stored form, shorter than the room for it.
  var bytes: [UInt8] {
    var fields = ByteWriter()
    fields.put(token.bytes)
    fields.put(logGeneration)
    fields.put(UInt64(logEnd))
    fields.put(newestVersion)
    fields.put(nextAddress)
    fields.put(reservedEnd)
    fields.put(floor)
    fields.put(liveUnitCount)
    fields.put(blockCount)
    fields.put(UInt32(isReleased ? 1 : 0))
    fields.put(UInt32(spaceRecords.count))
    for record in spaceRecords {
      fields.put(record.epoch)
      fields.put(record.number)
    }
    var writer = ByteWriter()
    writer.put(Self.magic)
    writer.put(Checksum.hash(fields.bytes.span))
    writer.put(fields.bytes)
    return writer.bytes
  }

  /// Reads the stored form at the beginning of `bytes`.
  init(_ bytes: [UInt8], path: String) throws(StoreError) {
    func damage(_ text: String) -> StoreError {
      .damaged(Damage(.head, "the root of '\(path)' \(text)"))
    }
    var reader = ByteReader(bytes)
    guard reader.get(UInt64.self) == Self.magic, let checksum = reader.get(UInt64.self),
      let epoch = reader.get(UInt64.self), let generation = reader.get(UInt64.self),
      let owner = reader.get(UInt64.self), let logGeneration = reader.get(UInt64.self),
      let logEnd = reader.get(UInt64.self),
      let newestVersion = reader.get(UInt64.self), let nextAddress = reader.get(UInt64.self),
      let reservedEnd = reader.get(UInt64.self), let floor = reader.get(UInt64.self),
      let liveUnitCount = reader.get(UInt64.self), let blockCount = reader.get(UInt64.self),
      let flags = reader.get(UInt32.self), let spaceCount = reader.get(UInt32.self),
      spaceCount <= Self.spaceRecordLimit
    else { throw damage("cannot be read") }
    for _ in 0..<spaceCount {
      guard let epoch = reader.get(UInt64.self), let number = reader.get(UInt64.self) else {
        throw damage("is too short")
      }
      spaceRecords.append(SpaceRecordID(epoch: epoch, number: number))
    }
    let end = Self.fixedByteCount + 16 * Int(spaceCount)
    guard bytes.count >= end,
      Checksum.hash(bytes.span.extracting(16..<end)) == checksum
    else { throw .damaged(Damage(.checksum, "the root of '\(path)' does not match its checksum")) }
    guard newestVersion < 1 << 48, nextAddress > 0, nextAddress < 1 << 48,
      reservedEnd >= nextAddress, reservedEnd < 1 << 49, flags < 2, epoch < 1 << 62,
      generation < 1 << 62, logEnd < 1 << 32, logGeneration <= generation, floor < 1 << 48,
      liveUnitCount < 1 << 48, blockCount < 1 << 40
    else { throw damage("has values that no store writes") }
    token = RootToken(epoch: epoch, generation: generation, owner: owner)
    self.logGeneration = logGeneration
    self.logEnd = Int(logEnd)
    self.newestVersion = newestVersion
    self.nextAddress = nextAddress
    self.reservedEnd = reservedEnd
    self.floor = floor
    self.liveUnitCount = liveUnitCount
    self.blockCount = blockCount
    isReleased = flags & 1 == 1
  }
}
