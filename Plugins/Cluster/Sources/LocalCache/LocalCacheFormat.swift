import CambiumCore

/// How a file with pages of a cluster looks.
///
///     | header, 4096 | segment, 4 MiB | segment | ...
///
/// The header says of which store the pages are:
///
///      0       8         16         24        32
///     | magic | uuid high | uuid low | checksum | zero to 4096
///
/// A segment has a directory of what lies in it, and then stored pages, one behind the other:
///
///      0       8                 16      24        32
///     | magic | sequence number | count | checksum | location, offset: 16 each | to 65536: zero | pages
///
/// A location is a page's, as references name it; an offset counts from the beginning of the segment. Segments
/// with higher numbers were written later. Nothing here is trusted: a page is one when it matches the checksum
/// of the reference that leads to it.
enum LocalCacheFormat {
  static let headerByteCount = 4096
  static let segmentByteCount = 4 << 20
  static let directoryByteCount = 64 << 10
  static let entryLimit = (directoryByteCount - 32) / 16
  private static let headerMagic: UInt64 = 0x3130_4843_4143_4243
  private static let segmentMagic: UInt64 = 0x3130_4745_5343_4243

  static func offset(ofSegment number: Int) -> Int { headerByteCount + number * segmentByteCount }

  /// Whether a file of so many bytes that begins like this is one of these.
  ///
  /// One that lost its power before its header was there has nothing but zeros, and no more than a header: that is on
  /// the medium before anything follows.
  static func isOurs(_ bytes: [UInt8], ofFileWith byteCount: Int) -> Bool {
    if byteCount <= headerByteCount, bytes.allSatisfy({ $0 == 0 }) { return true }
    var reader = ByteReader(bytes)
    return reader.get(UInt64.self) == headerMagic
  }

  static func header(_ uuid: (UInt64, UInt64)) -> [UInt8] {
    var fields = ByteWriter()
    for field in [headerMagic, uuid.0, uuid.1] { fields.put(field) }
    var writer = ByteWriter()
    writer.put(fields.bytes)
    writer.put(Checksum.hash(fields.bytes.span))
    return writer.bytes + [UInt8](repeating: 0, count: headerByteCount - writer.bytes.count)
  }

  /// What lies in a segment.
  struct Directory {
    var sequence: UInt64
    var entries: [(location: UInt64, offset: Int)] = []

    init(sequence: UInt64) { self.sequence = sequence }

    /// Nil when the bytes are no directory, or a broken one.
    init?(_ bytes: [UInt8]) {
      var reader = ByteReader(bytes)
      guard reader.get(UInt64.self) == segmentMagic, let sequence = reader.get(UInt64.self),
        let count = reader.get(UInt64.self), let checksum = reader.get(UInt64.self),
        count <= UInt64(entryLimit), bytes.count >= directoryByteCount,
        Checksum.hash(bytes.span.extracting(32..<32 + 16 * Int(count))) ^ sequence == checksum
      else { return nil }
      self.sequence = sequence
      for _ in 0..<count {
        guard let location = reader.get(UInt64.self), let offset = reader.get(UInt64.self),
          UInt64(directoryByteCount)...UInt64(segmentByteCount) ~= offset,
          offset + (location & 0xffff) * UInt64(Extent.unitByteCount) <= UInt64(segmentByteCount)
        else { return nil }
        entries.append((location, Int(offset)))
      }
    }

    var bytes: [UInt8] {
      var fields = ByteWriter()
      for entry in entries {
        fields.put(entry.location)
        fields.put(UInt64(entry.offset))
      }
      var writer = ByteWriter()
      writer.put(segmentMagic)
      writer.put(sequence)
      writer.put(UInt64(entries.count))
      writer.put(Checksum.hash(fields.bytes.span) ^ sequence)
      writer.put(fields.bytes)
      return writer.bytes
        + [UInt8](repeating: 0, count: directoryByteCount - writer.bytes.count)
    }
  }
}
