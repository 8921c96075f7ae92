import CPlatform
import CambiumCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file on a local disk that one process has for itself.
///
/// Thread-safe as far as different parts of the file go.
///
/// Pointers: a buffer is the caller's for the time of the call, and the system gets no more than it.
final class LocalFile: Sendable {
  private let descriptor: Int32

  private init(descriptor: Int32) { self.descriptor = descriptor }

  /// Opens the file at `path`, or makes it, readable by its owner alone; nil when another process, or another
  /// store of this one, has it.
  ///
  /// Throws `StoreError.system(operation:path:code:)`.
  static func at(_ path: String) throws(StoreError) -> LocalFile? {
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .system(operation: "open", path: path, code: errno) }
    let file = LocalFile(descriptor: descriptor)
    return cambium_file_lock(descriptor, 0, 1, 2, false) == 0 ? file : nil
  }

  deinit { close(descriptor) }

  /// Lets others have the file; it can still be read here.
  func unlock() { _ = cambium_file_lock(descriptor, 0, 1, 0, false) }

  /// Reads to the end of `buffer`; false when the file ends before, or cannot be read.
  func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Bool {
    guard let base = buffer.baseAddress else { return true }
    var done = 0
    while done < buffer.count {
      let count = unsafe pread(descriptor, base + done, buffer.count - done, off_t(offset + done))
      if count < 0, errno == EINTR { continue }
      if count <= 0 { return false }
      done += count
    }
    return true
  }

  /// Writes all of `buffer`; false when the medium is full, or fails.
  func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) -> Bool {
    guard let base = buffer.baseAddress else { return true }
    var done = 0
    while done < buffer.count {
      let count = unsafe pwrite(descriptor, base + done, buffer.count - done, off_t(offset + done))
      if count < 0, errno == EINTR { continue }
      if count <= 0 { return false }
      done += count
    }
    return true
  }

  /// Puts what was written on the medium; false when that fails.
  func sync() -> Bool { fsync(descriptor) == 0 }

  /// How long it is.
  var byteCount: Int { max(0, Int(lseek(descriptor, 0, SEEK_END))) }

  /// Cuts the file off, if it is longer; false when that fails.
  func cut(to limit: Int) -> Bool {
    byteCount <= limit || ftruncate(descriptor, off_t(limit)) == 0
  }
}
