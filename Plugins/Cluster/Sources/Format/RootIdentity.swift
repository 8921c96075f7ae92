import CambiumCore

/// What a store is, at the beginning of its root; integers are little-endian.
///
///      0       8        12              16     32            36             40               44
///     | magic | format | header offset | uuid | block units | codec length | keeps length | zero 4 |
///
/// The codec's name and what it keeps follow, then a checksum of 8 bytes, and zeros up to the header.
struct RootIdentity: Sendable {
  static let formatVersion = 1
  static let magic = Array("CAMBCLST".utf8)
  /// What is left of a root while its store is being deleted.
  static let deletedMagic = Array("CAMBGONE".utf8)
  static let fixedByteCount = 48
  /// So many bytes at its beginning tell a store from all others.
  static let markByteCount = 32
  /// How many units a block may have.
  private static let blockUnitCounts = UInt32(64)...UInt32(1 << 20)
  private static let alignment = 4096

  var uuidHigh: UInt64
  var uuidLow: UInt64
  /// How many units a block has.
  var blockUnitCount: UInt32
  var codec: String
  /// What is kept for the codec.
  var parameters: [UInt8]

  /// The store's identity, for codecs.
  var number: StoreNumber { StoreNumber(high: uuidHigh, low: uuidLow) }

  /// Where the header begins.
  var headerOffset: Int {
    let count = Self.fixedByteCount + codec.utf8.count + parameters.count + 8
    return (count + Self.alignment - 1) / Self.alignment * Self.alignment
  }

  /// A new store for `codec`.
  ///
  /// Throws what the codec throws when it makes what is to be kept for it.
  init(for codec: (any PageCodec)?, blockByteCount: Int) throws(StoreError) {
    let number = StoreNumber.random()
    (uuidHigh, uuidLow) = (number.high, number.low)
    blockUnitCount = UInt32(blockByteCount / Extent.unitByteCount)
    self.codec = codec?.name ?? ""
    parameters = []
    guard let codec else { return }
    parameters = try codec.makeParameters(for: number)
    try StoreLimits.check(parameters: parameters, codec: codec.name)
  }

  /// The stored form, up to the header.
  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.put(Self.magic)
    writer.put(UInt32(Self.formatVersion))
    writer.put(UInt32(headerOffset))
    writer.put(uuidHigh)
    writer.put(uuidLow)
    writer.put(blockUnitCount)
    writer.put(UInt32(codec.utf8.count))
    writer.put(UInt32(parameters.count))
    writer.put(UInt32(0))
    writer.put(Array(codec.utf8))
    writer.put(parameters)
    writer.put(Checksum.hash(writer.bytes.span))
    writer.putZeros(headerOffset - writer.bytes.count)
    return writer.bytes
  }

  /// How many bytes of a root are needed to read its identity; `start` has ``fixedByteCount`` of them.
  ///
  /// Throws `StoreError.notAStore(path:reason:)` or `StoreError.unsupportedFormat(path:version:supported:)`.
  static func byteCount(_ start: [UInt8], path: String) throws(StoreError) -> Int {
    if start.starts(with: deletedMagic) {
      throw .notAStore(path: path, reason: "its deletion has begun; delete it again")
    }
    var reader = ByteReader(start)
    guard reader.get(count: magic.count) == magic, let format = reader.get(UInt32.self),
      let offset = reader.get(UInt32.self)
    else { throw .notAStore(path: path, reason: "its root is of something else") }
    guard format <= formatVersion else {
      throw .unsupportedFormat(path: path, version: Int(format), supported: formatVersion)
    }
    guard offset >= fixedByteCount, offset <= 4 << 20, offset.isMultiple(of: UInt32(alignment))
    else {
      throw .damaged(Damage(.head, "the identity of '\(path)' has values that no store writes"))
    }
    return Int(offset)
  }

  /// Reads the stored form; `bytes` are those up to the header.
  init(_ bytes: [UInt8], path: String) throws(StoreError) {
    let damage = StoreError.damaged(
      Damage(.head, "the identity of '\(path)' has values that no store writes"))
    var reader = ByteReader(bytes)
    guard reader.get(count: 16) != nil, let high = reader.get(UInt64.self),
      let low = reader.get(UInt64.self), let units = reader.get(UInt32.self),
      let codecByteCount = reader.get(UInt32.self),
      let parameterByteCount = reader.get(UInt32.self), reader.skipZeros(4),
      let codec = reader.get(count: Int(codecByteCount)),
      let parameters = reader.get(count: Int(parameterByteCount)),
      let checksum = reader.get(UInt64.self)
    else { throw damage }
    let count = Self.fixedByteCount + codec.count + parameters.count
    guard Checksum.hash(bytes.span.extracting(first: count)) == checksum else {
      throw .damaged(Damage(.checksum, "the identity of '\(path)' does not match its checksum"))
    }
    guard Self.blockUnitCounts.contains(units) else { throw damage }
    (uuidHigh, uuidLow, blockUnitCount) = (high, low, units)
    self.codec = String(decoding: codec, as: UTF8.self)
    self.parameters = parameters
    guard headerOffset == bytes.count else { throw damage }
  }
}
