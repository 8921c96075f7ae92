import CambiumCore
import CambiumStoreKit

/// Where things lie in a file of format version 2.
///
/// Version 1 differs in the form of its free map, which is made anew when the file is opened for writing.
///
///      block 0    1         2         3          4 …
///     | identity | head A  | head B  | copy     | pages, in any order |
///
/// What a codec wants kept lies before the pages, in blocks of its own.
/// Each of the first three has a block of its own and uses one sector of it, so that a torn write
/// tears nothing else. `FileFormat.md` says what the fields mean. Pinned by `FileLayoutWhiteBoxTests`.
enum FileLayout {
  static let formatVersion = 2
  static let oldestFormatVersion = 1
  static let blockByteCount = BlockMap.blockByteCount
  /// What is written at once: identity and heads are no longer.
  static let sectorByteCount = 512
  static let identityOffset = 0
  /// Of a file that was brought to a newer format: what the identity says, written before that is.
  static let identityCopyOffset = 3 * blockByteCount
  static let headOffsets = [blockByteCount, 2 * blockByteCount]
  /// The first block that holds pages, in a file that keeps nothing for its codec.
  static let firstBlock = 4
  /// The size of a new file that keeps nothing for its codec.
  static let initialByteCount = firstBlock * blockByteCount
  /// Features without which a file of this version cannot be read or written.
  static let knownReadFeatures: UInt64 = codecFeature | logFeature
  static let knownWriteFeatures: UInt64 = 0
  /// The file keeps something for its codec, or its codec seals heads, records and free map.
  static let codecFeature: UInt64 = 1
  /// Small durable commits may have left records in the log that the newest head names (``StoredLog``).
  static let logFeature: UInt64 = 2

  /// What the store's own pages are, in the first byte of each (but not of leaves and branches of the free map)
  /// and in references to them.
  enum Kind {
    static let record: UInt8 = 16
    /// Of version 1, whose free map had pages of kind 18 as well.
    static let oldDirectory: UInt8 = 17
    /// Only in references: a head has bytes of its own that say so.
    static let head: UInt8 = 19
    static let waiting: UInt8 = 20
    static let directory: UInt8 = 21
    static let mapBranch: UInt8 = 22
    static let mapLeaf: UInt8 = 23
    /// Only of what a codec seals: the record of a small commit has no reference.
    static let smallCommit: UInt8 = 24
  }

  /// The fields of the identity sector, by offset.
  enum Identity {
    /// A byte that text and 7-bit channels spoil, a name, and both line ends.
    static let magicBytes: [UInt8] = [
      0x8b, 0x43, 0x61, 0x6d, 0x62, 0x69, 0x75, 0x6d, 0x20, 0x73, 0x74, 0x6f, 0x72, 0x0d, 0x0a,
      0x1a,
    ]
    static let magic = 0
    static let formatVersion = magic + 16
    static let unitByteCount = formatVersion + 4
    static let blockByteCount = unitByteCount + 4
    static let leafBlockCount = blockByteCount + 4
    static let readFeatures = leafBlockCount + 4
    static let writeFeatures = readFeatures + 8
    static let uuid = writeFeatures + 8
    static let checksumAlgorithm = uuid + 16
    static let kind = checksumAlgorithm + 8
    static let kindByteCount = 24
    static let codec = kind + kindByteCount
    static let codecByteCount = 64
    /// How much is kept for the codec, from block ``FileLayout/firstBlock`` on, and its checksum.
    static let parameterByteCount = codec + codecByteCount
    static let parameterChecksum = parameterByteCount + 8
    static let checksum = sectorByteCount - 8
  }

  /// The fields of a head sector, by offset.
  enum Head {
    static let magicBytes: [UInt8] = [0x43, 0x6d, 0x62, 0x48, 0x65, 0x61, 0x64, 0x0a]
    static let magic = 0
    static let sequence = magic + 8
    static let version = sequence + 8
    static let epoch = version + 8
    static let durable = epoch + 8
    static let flags = durable + 8
    static let root = flags + 8
    static let record = root + TreeRoot.byteCount
    static let freeMap = record + PageReference.byteCount
    static let blockCount = freeMap + PageReference.byteCount
    static let uuid = blockCount + 8
    /// Once the boot of unsynced data; zero.
    static let boot = uuid + 16
    /// Room for named checkpoints and for trees given up by the store itself; zero in this version.
    static let checkpoints = boot + 16
    static let deadRoots = checkpoints + PageReference.byteCount
    /// Of a head that an earlier version of this library left beside pages: the checksum of the one before.
    ///
    /// Zero in slots.
    static let link = deadRoots + PageReference.byteCount
    /// The block at which such a head of the next version may lie; zero for none.
    static let next = link + 8
    /// Where the log of small durable commits lies: address and length in one word; zero for none.
    static let log = next + 8
    /// All fields up to here.
    static let byteCount = log + 8
    static let checksum = sectorByteCount - 8

    /// The version is known to be synced, and so is everything it reaches.
    static let settled: UInt64 = 1
    /// Set by earlier versions alone: unsynced data was committed since, and what the head reaches was to
    /// survive that boot only.
    static let unsynced: UInt64 = 2
  }

  /// The fields of a batch of records in the log, by offset; the records follow, and their checksum with these.
  enum Batch {
    static let magicBytes: [UInt8] = [0x43, 0x6d, 0x62, 0x42, 0x61, 0x74, 0x63, 0x0a]
    static let magic = 0
    static let uuid = magic + 8
    /// The version of the file that the log follows.
    static let base = uuid + 16
    /// The version that the last record makes.
    static let version = base + 8
    /// How many bytes of records lie in the batches before (32 bits).
    static let start = version + 8
    /// The lower half of the epoch in which it was written: so no batch that was lost has the first sector of the one
    /// that is written in its place.
    static let epoch = start + 4
    /// How many bytes of records lie in this one.
    static let recordByteCount = epoch + 4
    /// The checksum of the batch before; in the first that of the record of the version that the log follows.
    static let link = recordByteCount + 8
    static let byteCount = link + 8
  }

  /// The fields of a record's page, by offset; entries follow.
  enum Record {
    static let kind = 0
    static let flags = kind + 4
    static let version = kind + 8
    static let epoch = version + 8
    static let uuid = epoch + 8
    static let previous = uuid + 16
    static let next = previous + PageReference.byteCount
    static let allocatedCount = next + PageReference.byteCount
    static let freedCount = allocatedCount + 4
    static let metadataByteCount = freedCount + 4
    /// Room for what the commit touched, for change streams; zero in this version.
    static let touched = metadataByteCount + 8
    static let byteCount = touched + PageReference.byteCount
    /// An allocated extent and its checksum, or a freed one and its birth.
    static let entryByteCount = 16

    /// Set by earlier versions alone: the first extent that the commit allocated holds its head, and the word beside
    /// it is no checksum.
    static let chained: UInt32 = 1
    /// Set where the metadata is that of several versions: their number, then the length of each and its bytes.
    ///
    /// Numbers have 32 bits. The versions follow one another, and the last one is the record's.
    static let hasSeveral: UInt32 = 2
  }

  /// A part of the free map, as the page above it names it.
  enum MapPart {
    static let checksum = 0
    /// The page's address, and in the lowest 16 bits the bound for runs of free blocks.
    static let place = checksum + 8
    static let byteCount = place + 8
  }

  /// The fields of the free map's directory, by offset; pages of waiting extents follow.
  enum Directory {
    static let kind = 0
    /// How many pages of waiting extents are listed.
    static let waitingCount = kind + 4
    /// How many levels of branches there are; the top one is here.
    static let level = kind + 8
    /// The version whose counts the map holds.
    static let version = level + 8
    static let retired = version + 8
    static let blockCount = retired + 8
    static let freeBlockCount = blockCount + 8
    static let parts = freeBlockCount + 8
    static let byteCount = parts + MapPart.byteCount * BlockMap.Stored.childCount
    /// A reference to a page of waiting extents, and the first and last version that see any of them.
    static let waitingByteCount = PageReference.byteCount + 16
  }

  /// The fields of a page of waiting extents, by offset; entries follow.
  enum Waiting {
    static let kind = 0
    static let count = kind + 8
    static let byteCount = count + 8
    /// An extent, the version it was born in, and the first that does not see it.
    static let entryByteCount = 24
  }
}

extension PageReference {
  /// Names a page of the store's own.
  init(checksum: UInt64, extent: Extent, rawKind: UInt8, born version: Version) {
    self.init(
      checksum: checksum, location: extent.address << 16 | extent.unitCount,
      origin: version << 16 | UInt64(rawKind))
  }
}

extension Extent {
  /// Address and length in one word, as in a reference.
  init(location: UInt64) { self.init(address: location >> 16, unitCount: location & 0xffff) }

  /// Address and length in one word, as in a reference.
  var location: UInt64 { address << 16 | unitCount }
}
