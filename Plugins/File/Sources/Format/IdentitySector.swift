import CambiumCore
import CambiumStoreKit

/// What a file says of itself once and for ever, in its first sector.
///
/// Pointers: a checksum is taken over all of an array, or over the bytes of a buffer that the reading
/// function holds.
struct IdentitySector: Hashable, Sendable {
  static let kind = "file"

  var formatVersion = FileLayout.formatVersion
  var readFeatures: UInt64 = 0
  var writeFeatures: UInt64 = 0
  var uuidHigh: UInt64
  var uuidLow: UInt64
  var kind = IdentitySector.kind
  var codec: String
  /// How much the file keeps for its codec, and its checksum.
  var parameterByteCount = 0
  var parameterChecksum: UInt64 = 0
  /// What it keeps; only known once the codec is bound.
  var parameters: [UInt8] = []
  /// Whether it was read from its copy, because the other one was not written whole.
  var isCopy = false
  /// What to do with the store's own records; only known once the codec is bound.
  var seal: RecordSeal?

  /// The identity of a new file.
  init(codec: String, number: StoreNumber = .random()) {
    (uuidHigh, uuidLow) = (number.high, number.low)
    self.codec = codec
    // The log is not encrypted.
    readFeatures = FileLayout.logFeature
  }

  var stored: [UInt8] {
    typealias Field = FileLayout.Identity
    return StoredBytes(byteCount: FileLayout.sectorByteCount) { fields in
      fields.store(Field.magicBytes, at: Field.magic)
      fields.store(UInt32(formatVersion), at: Field.formatVersion)
      fields.store(UInt32(Extent.unitByteCount), at: Field.unitByteCount)
      fields.store(UInt32(FileLayout.blockByteCount), at: Field.blockByteCount)
      fields.store(UInt32(leafBlockCount), at: Field.leafBlockCount)
      fields.store(readFeatures, at: Field.readFeatures)
      fields.store(writeFeatures, at: Field.writeFeatures)
      fields.store(uuidHigh, at: Field.uuid)
      fields.store(uuidLow, at: Field.uuid + 8)
      fields.store(UInt64(Checksum.algorithm), at: Field.checksumAlgorithm)
      fields.store(Array(kind.utf8.prefix(Field.kindByteCount)), at: Field.kind)
      fields.store(Array(codec.utf8.prefix(Field.codecByteCount)), at: Field.codec)
      fields.store(UInt64(parameterByteCount), at: Field.parameterByteCount)
      fields.store(parameterChecksum, at: Field.parameterChecksum)
      fields.store(fields.checksum(before: Field.checksum), at: Field.checksum)
    }.bytes
  }

  /// Whether small durable commits may leave records in a log.
  var hasLog: Bool { readFeatures & FileLayout.logFeature != 0 }

  /// How many blocks a leaf of the free map counts; version 1 had larger ones.
  private var leafBlockCount: Int { formatVersion == 1 ? 16_384 : BlockMap.leafBlockCount }

  /// The first block that holds pages.
  var firstBlock: Int {
    let blockByteCount = FileLayout.blockByteCount
    return FileLayout.firstBlock + (parameterByteCount + blockByteCount - 1) / blockByteCount
  }

  /// What the file was called when it was made.
  var number: StoreNumber { StoreNumber(high: uuidHigh, low: uuidLow) }

  /// Reads the first sector of the file at `path`; throws what is wrong with it.
  ///
  /// Says nothing of features, which matter less to some.
  init(stored: [UInt8], path: String) throws(StoreError) {
    typealias Field = FileLayout.Identity
    let bytes = StoredBytes(stored)
    guard stored.count >= Field.magicBytes.count,
      stored.prefix(Field.magicBytes.count).elementsEqual(Field.magicBytes)
    else {
      throw .notAStore(
        path: path, reason: stored.isEmpty ? "it is empty" : "it does not begin like one")
    }
    guard stored.count == FileLayout.sectorByteCount else {
      throw .truncated(
        path: path, byteCount: stored.count, expected: FileLayout.initialByteCount)
    }
    // The version decides where everything else is, the checksum included.
    formatVersion = Int(bytes.load(Field.formatVersion, as: UInt32.self))
    guard (FileLayout.oldestFormatVersion...FileLayout.formatVersion).contains(formatVersion) else {
      throw .unsupportedFormat(
        path: path, version: formatVersion, supported: FileLayout.formatVersion)
    }
    guard
      bytes.load(Field.checksum, as: UInt64.self) == bytes.checksum(before: Field.checksum)
    else {
      throw .damaged(Damage(.checksum, "the identity at byte 0 does not match its checksum"))
    }
    readFeatures = bytes.load(Field.readFeatures, as: UInt64.self)
    writeFeatures = bytes.load(Field.writeFeatures, as: UInt64.self)
    uuidHigh = bytes.load(Field.uuid, as: UInt64.self)
    uuidLow = bytes.load(Field.uuid + 8, as: UInt64.self)
    kind = bytes.text(Field.kind, byteCount: Field.kindByteCount)
    codec = bytes.text(Field.codec, byteCount: Field.codecByteCount)
    if readFeatures & FileLayout.codecFeature != 0 {
      let count = bytes.load(Field.parameterByteCount, as: UInt64.self)
      guard count <= UInt64(StoreLimits.parametersByteCount) else {
        throw .damaged(Damage(.bounds, "the identity names too much that is kept for the codec"))
      }
      parameterByteCount = Int(count)
      parameterChecksum = bytes.load(Field.parameterChecksum, as: UInt64.self)
    }
    let sizes = [
      bytes.load(Field.unitByteCount, as: UInt32.self),
      bytes.load(Field.blockByteCount, as: UInt32.self),
      bytes.load(Field.leafBlockCount, as: UInt32.self),
    ]
    let known = [Extent.unitByteCount, FileLayout.blockByteCount, leafBlockCount]
    guard sizes == known.map({ UInt32($0) }),
      bytes.load(Field.checksumAlgorithm, as: UInt64.self) == UInt64(Checksum.algorithm)
    else {
      throw .damaged(
        Damage(.encoding, "the identity has sizes that format version \(formatVersion) lacks"))
    }
  }

  /// Throws unless this library can use the file, for `codec`, in this way.
  func check(path: String, codec expected: String, isReadOnly: Bool) throws(StoreError) {
    let unknown =
      readFeatures & ~FileLayout.knownReadFeatures
      | (isReadOnly ? 0 : writeFeatures & ~FileLayout.knownWriteFeatures)
    guard unknown == 0 else { throw .unsupportedFeature(path: path, bits: unknown) }
    guard kind == Self.kind else {
      throw .wrongStoreKind(path: path, found: kind, expected: Self.kind)
    }
    guard codec == expected else {
      throw .codecMismatch(
        path: path, found: codec.isEmpty ? "none" : codec,
        expected: expected.isEmpty ? "none" : expected)
    }
  }
}
