import CPlatform
import CambiumCore
import Foundation

/// A file that is written beside its place and put there, synced, when it is whole: whoever looks finds what was
/// there before, or all of it.
///
/// Pointers: paths and bytes are lent to the system for one call, the bytes with their count.
final class ReplacedFile {
  private let path: String
  private let draft: String
  private let handle: FileHandle
  private var isFinished = false
  private let cleanup: Cleanup

  /// A file for what `path` leads to, with the rights of what is there.
  init(_ path: String) throws(StoreError) {
    let path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    self.path = path
    // Nobody else's, so that of two at the same time each writes its own.
    draft = path + ".writing-\(UUID().uuidString)"
    cleanup = Cleanup { [draft] in unsafe unlink(draft) }
    let descriptor = unsafe open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else {
      switch errno {
      case ENOENT, ENOTDIR: throw .parentNotFound(path: path)
      case ENOSPC: throw .mediumFull(path: path)
      case EACCES, EROFS: throw .permissionDenied(path: path, operation: "create")
      case let code: throw .system(operation: "create", path: path, code: code)
      }
    }
    unsafe cambium_share_rights(path, descriptor)
    handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  deinit { if !isFinished { cleanup.run() } }

  func write(_ bytes: [UInt8]) throws(StoreError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe Foundation.write(handle.fileDescriptor, $0.baseAddress, $0.count)
      }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno == ENOSPC || errno == EFBIG || errno == EDQUOT {
        throw .mediumFull(path: path)
      } else if errno != EINTR {
        throw .system(operation: "write", path: path, code: errno)
      }
    }
  }

  /// Puts the file in its place.
  func finish() throws(StoreError) {
    guard fsync(handle.fileDescriptor) == 0 else {
      throw .system(operation: "sync", path: path, code: errno)
    }
    guard unsafe rename(draft, path) == 0 else {
      throw .system(operation: "create", path: path, code: errno)
    }
    isFinished = true
    cleanup.forget()
    Self.syncFolder(of: path)
  }

  /// Makes what was done to the name `path` survive power loss, where the medium can.
  static func syncFolder(of path: String) {
    // Not by `NSString`, which stops for a name of one character.
    let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
    let descriptor = unsafe open(parent, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }
}
