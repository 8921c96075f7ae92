import CambiumCore
import Foundation

/// A backup as a store that is only read: one file, or one with those that it builds on.
///
/// Whatever looks into stores looks into backups; what copies stores restores them.
///
/// Pointers: reads fill arrays and page buffers up to the size that these were made with. A pin lends
/// no memory: each page keeps the buffer that it was read into.
final class BackupStore: PageStore {
  /// A file of the chain, the whole backup first.
  private struct Part {
    let descriptor: Int32
    let path: String
    let head: BackupHead
    let index: BackupIndex
  }

  let identity: StoreIdentity
  let boundCodec: (any PageCodec)?
  let codecParameters: [UInt8]
  private let parts: [Part]
  private let head: Head
  private let byteCount: Int
  /// No more backups build on one another: each is a file that stays open.
  static let largestCount = 256

  /// Opens the backup at `path` and those that it builds on, which lie in the same folder.
  ///
  /// Throws `StoreError.notFound(path:)` for each that is missing, `StoreError.notAStore(path:reason:)` for
  /// what is none or another one, and `StoreError.codecMismatch(path:found:expected:)`.
  init(
    path: String, codec: (any PageCodec)? = nil, checksCodec: Bool = true
  ) throws(StoreError) {
    var parts: [Part] = []
    var opened: [Int32] = []
    do throws(StoreError) {
      var next = path
      var wanted: UInt64?
      repeat {
        let part: Part
        do throws(StoreError) {
          part = try Self.open(next, &opened)
        } catch .notFound where wanted != nil {
          throw .notAStore(path: path, reason: "it builds on '\(next)', which is not there")
        }
        if let wanted, part.head.checksum != wanted {
          throw .notAStore(
            path: next, reason: "it is not the backup that '\(path)' builds on, but another one")
        }
        if let first = parts.first, first.head.number != part.head.number {
          throw .notAStore(path: next, reason: "it is a backup of another store")
        }
        parts.insert(part, at: 0)
        wanted = part.head.base?.checksum
        if let name = part.head.base?.name {
          next = URL(fileURLWithPath: path).deletingLastPathComponent().path + "/" + name
        }
        if wanted != nil, parts.count == Self.largestCount {
          throw .exhausted(what: "backups that build on one another", limit: Self.largestCount)
        }
      } while wanted != nil
      guard let newest = parts.last else { throw .notFound(path: path) }
      guard !checksCodec || newest.head.codec == codec?.name ?? "" else {
        throw .codecMismatch(
          path: path, found: newest.head.codec.isEmpty ? "none" : newest.head.codec,
          expected: codec?.name ?? "none")
      }
      codecParameters = try Self.read(
        newest.descriptor, at: BackupHead.byteCount, newest.head.parameterByteCount, newest.path)
      boundCodec = try codec?.bound(to: newest.head.number, parameters: codecParameters)
      self.parts = parts
      head = newest.head.head
      identity = StoreIdentity(
        kind: BackupHead.kind, path: path, uuid: (newest.head.number.high, newest.head.number.low),
        formatVersion: 1, codec: newest.head.codec, isReadOnly: true)
      byteCount = parts.reduce(0) { sum, part in
        sum + part.head.indexOffset + part.head.pageCount * BackupIndex.entryByteCount + 8
      }
    } catch {
      for descriptor in opened { Foundation.close(descriptor) }
      throw error
    }
  }

  deinit { for part in parts { Foundation.close(part.descriptor) } }

  private static func open(_ path: String, _ opened: inout [Int32]) throws(StoreError) -> Part {
    let descriptor = unsafe Foundation.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      switch errno {
      case ENOENT, ENOTDIR: throw .notFound(path: path)
      case EACCES: throw .permissionDenied(path: path, operation: "read")
      case let code: throw .system(operation: "open", path: path, code: code)
      }
    }
    opened.append(descriptor)
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, Int(status.st_size) >= BackupHead.byteCount else {
      throw .notAStore(path: path, reason: "it is no backup")
    }
    let head = try BackupHead(
      stored: read(descriptor, at: 0, BackupHead.byteCount, path), path: path)
    let indexByteCount = head.pageCount * BackupIndex.entryByteCount + 8
    guard head.indexOffset <= Int(status.st_size) - indexByteCount else {
      throw .truncated(
        path: path, byteCount: Int(status.st_size), expected: head.indexOffset + indexByteCount)
    }
    let index = try BackupIndex(
      stored: read(descriptor, at: head.indexOffset, indexByteCount, path), count: head.pageCount,
      pagesIn: head.pageOffset..<head.indexOffset, path: path)
    return Part(descriptor: descriptor, path: path, head: head, index: index)
  }

  private static func read(
    _ descriptor: Int32, at offset: Int, _ count: Int, _ path: String
  ) throws(StoreError) -> [UInt8] {
    var failure: StoreError?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      let code = unsafe fill(descriptor, at: offset, UnsafeMutableRawBufferPointer(buffer))
      if code != 0 { failure = .system(operation: "read", path: path, code: code) }
      filled = code == 0 ? count : 0
    }
    if let failure { throw failure }
    return bytes
  }

  /// Reads until `buffer` is full; 0, or why that failed.
  private static func fill(
    _ descriptor: Int32, at offset: Int, _ buffer: UnsafeMutableRawBufferPointer
  ) -> Int32 {
    var done = 0
    while done < buffer.count {
      let count = unsafe pread(
        descriptor, buffer.baseAddress.map { unsafe $0 + done }, buffer.count - done,
        off_t(offset + done))
      if count > 0 {
        done += count
      } else if count == 0 {
        return EIO
      } else if errno != EINTR {
        return errno
      }
    }
    return 0
  }

  // MARK: What it builds on

  /// The checksum by which a backup that builds on this one knows it.
  var checksum: UInt64 { parts.last?.head.checksum ?? 0 }

  /// Whether a page is in one of the files.
  func holds(_ reference: PageReference) -> Bool {
    parts.contains { $0.index.offsets[reference] != nil }
  }

  /// How many files it has.
  var count: Int { parts.count }

  // MARK: Reading

  func newestHead() throws(StoreError) -> Head { head }

  func pin() throws(StoreError) -> Pin { unsafe Pin(head: head) {} }

  func isNewest(_ pin: Pin) -> Bool { true }

  func read(_ reference: PageReference, at pin: Pin) throws(StoreError) -> Page {
    for part in parts {
      guard let offset = part.index.offsets[reference] else { continue }
      let page = PageBuffer(byteCount: reference.byteCount)
      let code = unsafe Self.fill(
        part.descriptor, at: offset,
        UnsafeMutableRawBufferPointer(start: page.bytes, count: page.byteCount))
      guard code == 0 else { throw .system(operation: "read", path: part.path, code: code) }
      return page.page
    }
    throw .damaged(Damage(.reference, at: reference, "a page that the backup does not have"))
  }

  func waitForCommit(after version: Version, timeoutNanoseconds: Int64) -> Version { head.version }

  func statistics() throws(StoreError) -> StoreStatistics {
    StoreStatistics(
      totalByteCount: byteCount, freeByteCount: 0, pendingByteCount: 0,
      newestVersion: head.version, durableVersion: head.version, pinnedVersions: [])
  }

  func audit() throws(StoreError) -> StoreAudit {
    // It keeps no books besides the pages.
    var audit = StoreAudit(of: try pin()) { _ in [] }
    audit.hasDeadRoots = false
    return audit
  }

  // MARK: Not writing

  func beginWrite() throws(StoreError) -> any PageWriter {
    throw .readOnly(path: identity.path)
  }

  func sync() throws(StoreError) {}

  func close() throws(StoreError) {}
}

extension StoreChoice {
  /// A backup that ``Realm/backup(to:after:)`` wrote, to be read.
  static let backup = StoreChoice(kind: BackupHead.kind) { request throws(StoreError) in
    try BackupStore(path: request.path, codec: request.codec)
  }
}
