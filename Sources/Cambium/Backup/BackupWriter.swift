import CPlatform
import CambiumCore
import CambiumFile
import Foundation

/// What is being done with the pages of a backup.
package enum BackupStage: Sendable {
  case writing, checking
}

/// Writes the pages of a version to a new file, or those of them that an earlier backup lacks.
///
/// Pointers: the bytes of a page are lent for the call in which they are copied.
struct BackupWriter {
  private let database: Database
  private let path: String
  private let base: BackupStore?
  /// Told of each file that is there until it is finished.
  private let willWrite: (_ draft: String) -> Void
  private let progress: (_ stage: BackupStage, _ byteCount: Int, _ all: Int?) -> Void

  /// No more pages wait to be written.
  private static let portionByteCount = 1 << 20

  init(
    _ database: Database, to path: String, after base: BackupStore?,
    willWrite: @escaping (_ draft: String) -> Void,
    progress: @escaping (_ stage: BackupStage, _ byteCount: Int, _ all: Int?) -> Void
  ) {
    (self.database, self.path, self.base) = (database, path, base)
    (self.willWrite, self.progress) = (willWrite, progress)
  }

  /// Writes the version of `snapshot`; what was written.
  ///
  /// Nothing is left when it throws.
  func write(_ snapshot: Snapshot) throws(StoreError) -> BackupReport {
    let identity = database.identity
    let number = StoreNumber(high: identity.uuid.0, low: identity.uuid.1)
    if let base, base.identity.uuid != identity.uuid || base.identity.codec != identity.codec {
      throw .notAStore(
        path: base.identity.path,
        reason:
          "it is no backup of '\(identity.path)'; a compaction with another codec ends a series")
    }
    if let base {
      guard Self.folder(of: base.identity.path) == Self.folder(of: path) else {
        throw .notAStore(
          path: base.identity.path,
          reason:
            "a backup lies in the folder of the one on which it builds, and '\(path)' does not")
      }
      guard base.count < BackupStore.largestCount else {
        throw .exhausted(
          what: "backups that build on one another", limit: BackupStore.largestCount)
      }
    }
    let draft = path + ".writing-\(UUID().uuidString)"
    willWrite(draft)
    let file = try DraftFile(path, draft)
    file.shareRights(of: identity.path)
    do throws(StoreError) {
      let report = try writeStored(snapshot, number, file)
      try file.finish()
      return report
    } catch {
      file.abandon()
      throw error
    }
  }

  private static func folder(of path: String) -> String {
    URL(fileURLWithPath: path).deletingLastPathComponent().resolvingSymlinksInPath().path
  }

  /// Writes the pages of `snapshot`, some of which may lie in memory.
  private func writeStored(
    _ snapshot: Snapshot, _ number: StoreNumber, _ file: DraftFile
  ) throws(StoreError) -> BackupReport {
    if snapshot.areAllPagesStored {
      return try write(database, snapshot, as: snapshot.head, number, file)
    }
    let stored = try database.storedForm(of: snapshot)
    return try write(stored.database, stored.snapshot, as: stored.snapshot.head, number, file)
  }

  /// Writes the pages of what `snapshot` of `source` sees, as those of the version `stored`.
  private func write(
    _ source: Database, _ snapshot: Snapshot, as stored: Head, _ number: StoreNumber,
    _ file: DraftFile
  ) throws(StoreError) -> BackupReport {
    let parameters = database.codecParameters
    var head = BackupHead(
      number: number, head: stored, codec: database.identity.codec,
      parameterByteCount: parameters.count,
      base: base.map {
        BackupHead.Base(
          name: ($0.identity.path as NSString).lastPathComponent, checksum: $0.checksum)
      })
    var portion = [UInt8](repeating: 0, count: BackupHead.byteCount) + parameters
    portion += repeatElement(0, count: head.pageOffset - portion.count)
    var (offset, written) = (head.pageOffset, 0)
    // How much an earlier backup lacks shows only when it is written.
    let all = base == nil ? (try? database.statistics())?.occupiedByteCount : nil
    progress(.writing, 0, all)
    var index = BackupIndex()
    try unsafe source.forEachStoredPage(
      of: snapshot,
      unless: { base?.holds($0) == true || index.offsets[$0] != nil }
    ) { reference, bytes throws(StoreError) in
      index.add(reference, at: offset)
      unsafe portion += bytes
      offset += bytes.count
      guard portion.count >= Self.portionByteCount else { return }
      try file.write(portion, at: written)
      written += portion.count
      portion.removeAll(keepingCapacity: true)
      progress(.writing, written, all)
    }
    head.pageCount = index.offsets.count
    head.indexOffset = offset
    try file.write(portion + index.stored, at: written)
    try file.sync()
    // Last, so that what was not finished is none.
    try file.write(head.stored(), at: 0)
    try file.sync()
    try check(file)
    return BackupReport(
      version: stored.version,
      byteCount: offset + index.offsets.count * BackupIndex.entryByteCount + 8,
      pageCount: index.offsets.count)
  }

  /// Reads every page back from the medium's file and holds it against its reference.
  private func check(_ file: DraftFile) throws(StoreError) {
    let index = try file.index()
    let all = index.keys.reduce(0) { $0 + $1.byteCount }
    var checked = 0
    for (reference, offset) in index {
      let bytes = try file.read(at: offset, reference.byteCount)
      guard unsafe bytes.withUnsafeBytes({ unsafe Checksum.hash($0) }) == reference.checksum else {
        throw .damaged(Damage(.checksum, at: reference, "a page as it was written to '\(path)'"))
      }
      checked += reference.byteCount
      progress(.checking, checked, all)
    }
  }
}

/// What a backup has.
public struct BackupReport: Hashable, Sendable {
  /// The version that it holds.
  public let version: UInt64
  /// How large its file is.
  public let byteCount: Int
  /// How many pages the file has; the others are in those that it builds on.
  public let pageCount: Int
}

/// A file that gets its name when it is finished.
///
/// Pointers: paths and arrays are lent to the system for the length of a call, with the number of bytes
/// that is left.
private final class DraftFile {
  private let path: String
  let draft: String
  private let descriptor: Int32

  init(_ path: String, _ draft: String) throws(StoreError) {
    (self.path, self.draft) = (path, draft)
    if FileManager.default.fileExists(atPath: path) {
      throw .system(operation: "create", path: path, code: EEXIST)
    }
    descriptor = unsafe open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw Self.failure("create", path) }
  }

  deinit { close(descriptor) }

  /// Who may read the store at `path`, if it is a file, may read this one.
  func shareRights(of path: String) { unsafe cambium_share_rights(path, descriptor) }

  private static func failure(
    _ operation: String, _ path: String, _ code: Int32 = errno
  ) -> StoreError {
    switch code {
    case ENOENT, ENOTDIR: .parentNotFound(path: path)
    case ENOSPC, EDQUOT, EFBIG: .mediumFull(path: path)
    case EACCES, EROFS: .permissionDenied(path: path, operation: operation)
    default: .system(operation: operation, path: path, code: code)
    }
  }

  func write(_ bytes: [UInt8], at offset: Int) throws(StoreError) {
    var done = 0
    while done < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { buffer in
        unsafe pwrite(
          descriptor, buffer.baseAddress.map { unsafe $0 + done }, buffer.count - done,
          off_t(offset + done))
      }
      if count > 0 {
        done += count
      } else if count < 0, errno != EINTR {
        throw Self.failure("write", path)
      }
    }
  }

  func read(at offset: Int, _ count: Int) throws(StoreError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = unsafe bytes.withUnsafeMutableBytes {
      unsafe pread(descriptor, $0.baseAddress, count, off_t(offset))
    }
    guard got == count else { throw .system(operation: "read", path: path, code: EIO) }
    return bytes
  }

  /// Where the pages lie, as the file says.
  func index() throws(StoreError) -> [PageReference: Int] {
    let head = try BackupHead(stored: read(at: 0, BackupHead.byteCount), path: path)
    let stored = try read(at: head.indexOffset, head.pageCount * BackupIndex.entryByteCount + 8)
    return try BackupIndex(
      stored: stored, count: head.pageCount, pagesIn: head.pageOffset..<head.indexOffset, path: path
    ).offsets
  }

  func sync() throws(StoreError) {
    guard fsync(descriptor) == 0 else { throw .system(operation: "sync", path: path, code: errno) }
  }

  /// Gives the file its name, unless there is one of that name.
  func finish() throws(StoreError) {
    let code = unsafe cambium_move_to_new_name(draft, path)
    guard code == 0 else { throw Self.failure("create", path, code) }
    let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
    let folder = unsafe open(parent, O_RDONLY | O_CLOEXEC)
    if folder >= 0 {
      fsync(folder)
      close(folder)
    }
  }

  func abandon() { unsafe unlink(draft) }
}
