import CambiumCore
import Foundation

/// What a backup's file says of itself.
///
///      0       8        24     32       40      44              48
///     | magic | number | epoch | version | format | parameters 4 |
///     | root 40 | pages 8 | index offset 8 | base's checksum 8 | codec 1 + 64 | base's name 1 + 255 |
///
/// Behind these 1,024 bytes, whose last 8 are their checksum, lie what the store keeps for its codec, then the
/// pages as they are stored, each at a multiple of 64 bytes, and an index: for each page its reference and where
/// it lies, and a checksum of the index. Everything is little-endian. The beginning is written last.
///
/// Pointers: into arrays and local values, for the length of a call; a root is loaded from as many
/// bytes as it takes.
struct BackupHead: Equatable {
  var number: StoreNumber
  var head: Head
  var pageCount = 0
  var indexOffset = 0
  var parameterByteCount = 0
  var codec: String
  /// The backup that has the pages which this one lacks: the name of its file, in the same folder, and its
  /// checksum; nil for a whole one.
  var base: Base?
  /// The checksum of the stored form.
  private(set) var checksum: UInt64 = 0

  struct Base: Equatable {
    var name: String
    var checksum: UInt64
  }

  static let byteCount = 1024
  private static let largestNumber = 1 << 56
  static let kind = "backup"
  private static let magic = Array("CAMBKUP1".utf8)
  private static let formatVersion: UInt32 = 1

  init(number: StoreNumber, head: Head, codec: String, parameterByteCount: Int, base: Base?) {
    (self.number, self.head, self.codec) = (number, head, codec)
    (self.parameterByteCount, self.base) = (parameterByteCount, base)
  }

  /// Where the first page lies.
  var pageOffset: Int { Self.byteCount + (parameterByteCount + 63) / 64 * 64 }

  /// The stored form; notes its checksum.
  mutating func stored() -> [UInt8] {
    var writer = ByteWriter()
    writer.put(Self.magic)
    writer.put(number.high)
    writer.put(number.low)
    writer.put(head.epoch)
    writer.put(head.version)
    writer.put(Self.formatVersion)
    writer.put(UInt32(parameterByteCount))
    writer.put(head.root.storedBytes)
    writer.put(UInt64(pageCount))
    writer.put(UInt64(indexOffset))
    writer.put(base?.checksum ?? 0)
    Self.put(codec, 64, &writer)
    Self.put(base?.name ?? "", 255, &writer)
    writer.putZeros(Self.byteCount - 8 - writer.bytes.count)
    checksum = unsafe writer.bytes.withUnsafeBytes { unsafe Checksum.hash($0) }
    writer.put(checksum)
    return writer.bytes
  }

  private static func put(_ text: String, _ byteCount: Int, _ writer: inout ByteWriter) {
    let bytes = Array(text.utf8.prefix(byteCount))
    writer.put(UInt8(bytes.count))
    writer.put(bytes)
    writer.putZeros(byteCount - bytes.count)
  }

  /// Reads the stored form.
  init(stored bytes: [UInt8], path: String) throws(StoreError) {
    guard bytes.count == Self.byteCount, bytes.starts(with: Self.magic) else {
      throw .notAStore(path: path, reason: "it is no backup, or was not finished")
    }
    let damaged = StoreError.damaged(Damage(.head, "the beginning of the backup '\(path)'"))
    var reader = ByteReader(bytes)
    _ = reader.get(count: Self.magic.count)
    guard let high = reader.get(UInt64.self), let low = reader.get(UInt64.self),
      let epoch = reader.get(UInt64.self), let version = reader.get(UInt64.self),
      let format = reader.get(UInt32.self)
    else { throw damaged }
    guard format == Self.formatVersion else {
      throw .unsupportedFormat(
        path: path, version: Int(format), supported: Int(Self.formatVersion))
    }
    checksum = unsafe bytes[..<(Self.byteCount - 8)].withUnsafeBytes { unsafe Checksum.hash($0) }
    guard let parameterCount = reader.get(UInt32.self),
      let rootBytes = reader.get(count: TreeRoot.byteCount),
      let root = unsafe rootBytes.withUnsafeBytes({ unsafe TreeRoot(loadingFrom: $0) }),
      let pageCount = reader.get(UInt64.self).flatMap({ Int(exactly: $0) }),
      let indexOffset = reader.get(UInt64.self).flatMap({ Int(exactly: $0) }),
      let baseChecksum = reader.get(UInt64.self), let codec = Self.text(64, &reader),
      let baseName = Self.text(255, &reader),
      unsafe bytes[(Self.byteCount - 8)...].elementsEqual(
        withUnsafeBytes(of: checksum.littleEndian) { unsafe Array($0) }),
      // Sums of what was made up would not fit.
      pageCount < Self.largestNumber, indexOffset < Self.largestNumber
    else { throw damaged }
    number = StoreNumber(high: high, low: low)
    head = Head(version: version, epoch: epoch, root: root)
    (self.pageCount, self.indexOffset, self.codec) = (pageCount, indexOffset, codec)
    parameterByteCount = Int(parameterCount)
    base = baseName.isEmpty ? nil : Base(name: baseName, checksum: baseChecksum)
    guard !baseName.contains("/"), indexOffset >= pageOffset else { throw damaged }
  }

  private static func text(_ byteCount: Int, _ reader: inout ByteReader) -> String? {
    guard let count = reader.get(UInt8.self), count <= byteCount,
      let bytes = reader.get(count: byteCount)
    else { return nil }
    return String(validating: bytes.prefix(Int(count)), as: UTF8.self)
  }

  /// Whether there is a backup at `path`, from a short look.
  @Sendable static func isBackup(_ path: String) -> Bool {
    var status = stat()
    // Opening anything else could wait.
    guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      let handle = FileHandle(forReadingAtPath: path)
    else { return false }
    defer { try? handle.close() }
    return (try? handle.read(upToCount: magic.count)).flatMap { $0 }.map { Array($0) == magic }
      ?? false
  }
}

/// Where the pages of a backup lie.
///
/// Pointers: into arrays, for the length of a call. An entry is written to an array of its size; before
/// entries are read their number and the number of bytes are compared.
struct BackupIndex {
  private(set) var offsets: [PageReference: Int] = [:]

  static let entryByteCount = PageReference.byteCount + 8

  mutating func add(_ reference: PageReference, at offset: Int) { offsets[reference] = offset }

  /// The stored form, with its checksum.
  var stored: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(offsets.count * Self.entryByteCount + 8)
    for (reference, offset) in offsets.sorted(by: { $0.value < $1.value }) {
      unsafe bytes += [UInt8](unsafeUninitializedCapacity: Self.entryByteCount) { buffer, count in
        guard let start = buffer.baseAddress else { return }
        unsafe reference.store(to: start)
        unsafe UnsafeMutableRawPointer(start).storeBytes(
          of: UInt64(offset).littleEndian, toByteOffset: PageReference.byteCount, as: UInt64.self)
        count = Self.entryByteCount
      }
    }
    let checksum = unsafe bytes.withUnsafeBytes { unsafe Checksum.hash($0) }
    return unsafe bytes + withUnsafeBytes(of: checksum.littleEndian) { unsafe Array($0) }
  }

  init() {}

  /// Reads the stored form of an index of `count` pages that lie between `range`'s bytes.
  init(stored bytes: [UInt8], count: Int, pagesIn range: Range<Int>, path: String)
    throws(StoreError)
  {
    let damaged = StoreError.damaged(Damage(.reference, "the index of the backup '\(path)'"))
    let end = count * Self.entryByteCount
    guard bytes.count == end + 8 else { throw damaged }
    let isSound = unsafe bytes.withUnsafeBytes { all in
      unsafe Checksum.hash(UnsafeRawBufferPointer(rebasing: all[..<end]))
        == UInt64(littleEndian: all.loadUnaligned(fromByteOffset: end, as: UInt64.self))
    }
    guard isSound else { throw damaged }
    offsets.reserveCapacity(count)
    for entry in 0..<count {
      let (reference, offset) = unsafe bytes.withUnsafeBytes { all in
        let start = entry * Self.entryByteCount
        return unsafe (
          PageReference(loadingFrom: UnsafeRawPointer(all.baseAddress! + start)),
          UInt64(
            littleEndian: all.loadUnaligned(
              fromByteOffset: start + PageReference.byteCount, as: UInt64.self))
        )
      }
      guard let offset = Int(exactly: offset), range.contains(offset),
        reference.byteCount <= range.upperBound - offset, !reference.isDirty, !reference.isNone
      else { throw damaged }
      offsets[reference] = offset
    }
  }
}
