#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A file opened for reading: its descriptor, and what it was like at that time.
///
/// Nothing is mapped: when somebody cuts the file, reading it is an error and not a signal.
///
/// Pointers: the system fills memory of the length that it is told, in an array or a structure that
/// outlives the call.
final class DiskFile {
  /// By what a file is known to be the same, and unchanged.
  private struct Mark: Equatable {
    var device: UInt64
    var inode: UInt64
    var byteCount: Int64
    var modifiedSeconds: Int64
    var modifiedNanoseconds: Int64
    var isRegular: Bool

    init(_ status: stat) {
      device = UInt64(truncatingIfNeeded: status.st_dev)
      inode = UInt64(truncatingIfNeeded: status.st_ino)
      byteCount = Int64(status.st_size)
      #if canImport(Darwin)
        let modified = status.st_mtimespec
      #else
        let modified = status.st_mtim
      #endif
      modifiedSeconds = Int64(modified.tv_sec)
      modifiedNanoseconds = Int64(modified.tv_nsec)
      isRegular = status.st_mode & S_IFMT == S_IFREG
    }
  }

  /// How many bytes at the start are compared: the header, or the record of an encrypted first page.
  private static let headByteCount = 64

  let path: String
  /// How many bytes the file had when it was opened.
  let byteCount: Int
  private let descriptor: Int32
  private let mark: Mark
  /// The first bytes.
  private(set) var head: [UInt8] = []

  /// Opens the file; it must be an ordinary one.
  init(path: String) throws(RealmFileError) {
    self.path = path
    // Without O_NONBLOCK, opening a pipe would wait for its writer.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .system(operation: "open", code: errno, path: path) }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else {
      let code = errno
      close(descriptor)
      throw .system(operation: "stat", code: code, path: path)
    }
    self.descriptor = descriptor
    mark = Mark(status)
    byteCount = Int(mark.byteCount)
    guard mark.isRegular else { throw .notARealmFile(path: path) }
    head = try read(at: 0, count: min(Self.headByteCount, byteCount))
  }

  deinit { close(descriptor) }

  /// The bytes at `position`; throws `changed` when the file has become shorter.
  func read(at position: Int, count: Int) throws(RealmFileError) -> [UInt8] {
    var failure: RealmFileError?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      while filled < count {
        let result = unsafe pread(
          descriptor, buffer.baseAddress.map { unsafe $0 + filled }, count - filled,
          off_t(position + filled))
        if result > 0 {
          filled += result
        } else if result == 0 {
          failure = .changed(path: path)
          return
        } else if errno != EINTR {
          failure = .system(operation: "read", code: errno, path: path)
          return
        }
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Throws `changed` when the file, or what lies at its path, is not what was opened.
  func checkUnchanged() throws(RealmFileError) {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else {
      throw .system(operation: "stat", code: errno, path: path)
    }
    guard Mark(status) == mark else { throw .changed(path: path) }
    guard unsafe stat(path, &status) == 0, Mark(status) == mark else { throw .changed(path: path) }
    guard try read(at: 0, count: head.count) == head else { throw .changed(path: path) }
  }
}
