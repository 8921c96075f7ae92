import CambiumCore
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The path of an open file or folder, and which one it led to.
///
/// A file that is deleted while it is open can still be written, and all of that is gone when it is closed. A store
/// looks before each write, and refuses it then.
///
/// Thread-safe. Pointers: a path is lent to the system for one call; the text that `getcwd` makes is copied and freed.
public final class FilePlace: Sendable {
  private let path: String
  private let device: UInt64
  private let inode: UInt64
  /// When somebody looked last.
  private let lookedAt = Atomic<Int64>(.min)
  /// For so long a write believes what another one has seen.
  private static let pauseNanoseconds: Int64 = 1_000_000

  /// The place of what was opened at `path`, by the numbers that `fstat(2)` gives.
  public init(path: String, device: UInt64, inode: UInt64) {
    self.path = Self.absolute(path)
    (self.device, self.inode) = (device, inode)
  }

  /// The path that leads there whatever folder the process works in later.
  private static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
    defer { unsafe free(folder) }
    return unsafe String(cString: folder) + "/" + path
  }

  /// The place of what `path` leads to now; nil when nothing is there, or it cannot be looked at.
  public convenience init?(path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    self.init(path: path, device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }

  /// Whether the path still leads there; true also where that cannot be found out, as by a process that has given its
  /// rights away.
  public var isInPlace: Bool {
    var status = stat()
    if unsafe stat(path, &status) == 0 {
      return UInt64(status.st_dev) == device && UInt64(status.st_ino) == inode
    }
    return errno != ENOENT && errno != ENOTDIR
  }

  /// Throws `StoreError.moved(path:)` where the path does not lead there any more; looks once in a millisecond.
  public func check() throws(StoreError) {
    let now = MonotonicClock.system.now
    let last = lookedAt.load(ordering: .relaxed)
    if last != .min, now - last < Self.pauseNanoseconds { return }
    guard isInPlace else { throw .moved(path: path) }
    lookedAt.store(now, ordering: .relaxed)
  }
}
