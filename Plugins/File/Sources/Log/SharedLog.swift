import CPlatform
import CambiumCore
import Synchronization

/// The records of small commits in the shared memory: each makes a version of the one before it, the first one of
/// the version that the live head has in the file.
///
/// Numbers are little-endian:
///
///      0        8         16       24
///     | length | version | stored | record … padding | checksum |
///
/// The length is that of the record; `stored` is the version in the file; the checksum is XXH64 of all before it.
/// Records lie side by side from the beginning of the log. A record is there before the live word says its version,
/// and is not written over before a version of the file follows, which that word says as well: so who reads
/// records and finds that the word still names a version that follows the same one has read whole ones. A process
/// that dies leaves at most a record that nobody looks at.
///
/// Pointers: words of the memory that it holds.
struct SharedLog: Sendable {
  let memory: SharedMemory

  static let headerByteCount = 24
  private static let checksumByteCount = 8

  /// How many bytes the log has for records of so many bytes in all.
  static func byteCount(ofRecord count: Int) -> Int {
    headerByteCount + (count + 7) & ~7 + checksumByteCount
  }

  /// Makes the log if it is not there; false when the medium has no room for it.
  ///
  /// For the holder of the writer lock.
  func prepare() -> Bool {
    guard let file = memory.file else { return true }
    do throws(DeviceError) {
      let size = try file.byteCount()
      if size >= SharedLayout.mappedByteCount { return true }
      // Written, not left as a hole: a full disk shows here and not when the memory is touched.
      do throws(DeviceError) {
        try file.write([UInt8](repeating: 0, count: SharedLayout.mappedByteCount - size), at: size)
      } catch {
        // What there was of it is of use to others.
        try? file.truncate(to: size)
        throw error
      }
      return true
    } catch {
      return false
    }
  }

  /// Takes the log away; for who is alone with the file, and has nothing in it.
  func cut() { try? memory.file?.truncate(to: SharedLayout.byteCount) }

  /// The record of `version`, which follows `stored` in the file and comes behind the record with that `link`: what its
  /// commit was given, and what `write` appends, the engine's record of `byteLimit` bytes at most; both as `seal` leaves
  /// them.
  static func record(
    of version: Version, after stored: Version, behind link: UInt64, sealedBy seal: RecordSeal?,
    metadata: [UInt8], byteLimit: Int, _ write: (inout OutputRawSpan) -> Void
  ) -> [UInt8] {
    let contentLimit = 4 + metadata.count + byteLimit
    func putContent(_ bytes: inout OutputRawSpan) {
      bytes.append(metadata.count)
      bytes.append(copying: metadata)
      write(&bytes)
    }
    let limit = byteCount(ofRecord: contentLimit + (seal?.contentByteCount ?? 0))
    return [UInt8](limit: limit) { bytes in
      unsafe bytes.append(0, as: UInt64.self)
      unsafe bytes.append(version.littleEndian, as: UInt64.self)
      unsafe bytes.append(stored.littleEndian, as: UInt64.self)
      if let seal {
        let content = [UInt8](limit: contentLimit) { putContent(&$0) }
        bytes.append(copying: seal.sealedContent(content, of: version, behind: link))
      } else {
        putContent(&bytes)
      }
      let count = bytes.byteCount - headerByteCount
      unsafe bytes.append(repeating: 0, count: -count & 7, as: UInt8.self)
      bytes.store(UInt64(count), at: 0)
      let checksum = unsafe bytes.bytes.withUnsafeBytes { unsafe Checksum.hash($0) }
      unsafe bytes.append(checksum.littleEndian, as: UInt64.self)
    }
  }

  /// Puts a record at `offset`, where the one before it ends; where this one does, or nil when it does not fit.
  func put(_ record: [UInt8], at offset: Int) -> Int? {
    guard record.count <= SharedLayout.logByteCount - offset else { return nil }
    memory.put(record, at: SharedLayout.log + offset)
    return offset + record.count
  }

  /// The checksum of a record.
  static func link(of record: [UInt8]) -> UInt64 {
    StoredBytes(record).load(record.count - checksumByteCount, as: UInt64.self)
  }

  /// The record of `version` at `offset`, its checksum and where it ends; nil when there is none that follows `stored`.
  func record(
    of version: Version, after stored: Version, at offset: Int
  ) -> (record: [UInt8], link: UInt64, end: Int)? {
    guard hasLog, offset <= SharedLayout.logByteCount - Self.byteCount(ofRecord: 0) else {
      return nil
    }
    let header = StoredBytes(memory.bytes(SharedLayout.log + offset, Self.headerByteCount))
    let count = header.load(0, as: UInt64.self)
    guard count < UInt64(SharedLayout.logByteCount) else { return nil }
    let end = offset + Self.byteCount(ofRecord: Int(count))
    guard end <= SharedLayout.logByteCount else { return nil }
    // Once more with its header: another record may have taken its place meanwhile.
    let bytes = StoredBytes(memory.bytes(SharedLayout.log + offset, end - offset))
    let checksumOffset = end - offset - Self.checksumByteCount
    guard bytes.load(0, as: UInt64.self) == count, bytes.load(8, as: UInt64.self) == version,
      bytes.load(16, as: UInt64.self) == stored,
      bytes.load(checksumOffset, as: UInt64.self) == bytes.checksum(before: checksumOffset)
    else { return nil }
    let recordEnd = Self.headerByteCount + Int(count)
    // So nothing but what the codec seals decides the checksum.
    guard bytes.bytes[recordEnd..<checksumOffset].allSatisfy({ $0 == 0 }) else { return nil }
    return (
      Array(bytes.bytes[Self.headerByteCount..<recordEnd]),
      bytes.load(checksumOffset, as: UInt64.self), end
    )
  }

  /// The records that lie at `range`; nil where the memory does not reach so far.
  func bytes(_ range: Range<Int>) -> [UInt8]? {
    if range.isEmpty { return [] }
    guard hasLog, range.upperBound <= SharedLayout.logByteCount else { return nil }
    return memory.bytes(SharedLayout.log + range.lowerBound, range.count)
  }

  // MARK: Parts

  /// What the commit of `version` was given, and the engine's record, which lie in one; nil when they are not there.
  static func parts(
    _ bytes: [UInt8], of version: Version, behind link: UInt64, sealedBy seal: RecordSeal?
  ) -> (metadata: [UInt8], record: [UInt8])? {
    var content = bytes
    if let seal {
      guard let opened = seal.openedContent(bytes, of: version, behind: link) else { return nil }
      content = opened
    }
    var reader = ByteReader(content)
    guard let count = reader.get(UInt32.self), count <= UInt32(StoreLimits.metadataByteCount),
      let metadata = reader.get(count: Int(count))
    else { return nil }
    return (metadata, reader.rest())
  }

  /// Whether the memory reaches so far: behind its end nothing can be touched.
  private var hasLog: Bool {
    guard let file = memory.file else { return true }
    return (try? file.byteCount()) ?? 0 >= SharedLayout.mappedByteCount
  }
}
