import CPlatform
import CambiumCore
import Foundation

/// Where a copy is made until it is whole and was compared: a folder beside its destination, so that
/// nothing stands there that only looks like a store.
///
/// A copy that a signal ends takes the folder along. One that was killed leaves it behind,
/// `DESTINATION.copying`; the next one to the same destination clears it.
///
/// Pointers: paths and structures are lent to the system for one call.
struct CopyPlace {
  /// Where the store is to be made.
  let path: String
  private let destination: String
  private let lock: Int32
  private let cleanup: Cleanup

  /// A place for a copy that goes to `destination`, where nothing is.
  ///
  /// Throws when something is there, or another copy to it is under way.
  init(for destination: String) throws(StoreError) {
    if Self.isThere(destination) { throw Self.taken(destination) }
    let folder = destination + ".copying"
    var lock: Int32 = -1
    cleanup = try Cleanup(
      making: { () throws(StoreError) in lock = try Self.make(folder, for: destination) },
      { Cleanup.removeFolder(folder) })
    self.destination = destination
    self.lock = lock
    path = folder + "/" + Self.storeName
  }

  /// Makes the folder, or takes one that was left behind; the lock on it.
  private static func make(
    _ folder: String, for destination: String
  ) throws(StoreError) -> Int32 {
    if unsafe mkdir(folder, 0o700) != 0 {
      switch errno {
      case EEXIST: break
      case ENOENT, ENOTDIR: throw .parentNotFound(path: destination)
      case ENOSPC: throw .mediumFull(path: destination)
      case EACCES, EROFS: throw .permissionDenied(path: destination, operation: "create")
      case let code: throw .system(operation: "create", path: folder, code: code)
      }
    }
    // Whatever else is in there belongs to somebody; stores begin their files' names with their own.
    let contents = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    guard contents.allSatisfy({ $0 == lockName || $0.hasPrefix(storeName) }) else {
      throw taken(folder)
    }
    let lock = unsafe open(folder + "/" + lockName, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
    guard lock >= 0 else {
      let code = errno
      // Unless there was something in it.
      unsafe rmdir(folder)
      throw .system(operation: "create", path: folder, code: code)
    }
    guard cambium_file_lock(lock, 0, 0, 2, false) == 0 else {
      close(lock)
      throw .inUse(path: destination, holder: "another copy to it")
    }
    for left in contents where left != lockName {
      try? FileManager.default.removeItem(atPath: folder + "/" + left)
    }
    return lock
  }

  private static let storeName = "store"
  private static let lockName = "in-use"

  private static func isThere(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0
  }

  private static func taken(_ path: String) -> StoreError {
    .system(operation: "create", path: path, code: EEXIST)
  }

  /// Puts the store, which is closed, where it belongs, in one step that never takes the place of
  /// something and survives power loss.
  ///
  /// A file gets the rights of the one at `source`, if that is one.
  func finish(as source: String?) throws(StoreError) {
    var status = stat()
    let isFolder = unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    let code: Int32
    if isFolder {
      code = unsafe rename(path, destination) == 0 ? 0 : errno
    } else {
      if let source, let file = FileHandle(forReadingAtPath: path) {
        unsafe cambium_share_rights(source, file.fileDescriptor)
      }
      code = unsafe cambium_move_to_new_name(path, destination)
    }
    if code != 0 { throw .system(operation: "create", path: destination, code: code) }
    clear()
    ReplacedFile.syncFolder(of: destination)
  }

  /// Leaves nothing of the copy.
  func clear() {
    cleanup.run()
    close(lock)
  }
}
