import CambiumCore

extension FileStore {
  /// Deletes the file at `path`, and its lock file; false when there is none.
  ///
  /// The file is held alone meanwhile, as for a compaction: who opens it just then waits, and makes a
  /// new one. Those who died with it open stand in nobody's way. It may be damaged, or no store at all.
  /// Of a symbolic link the file that it leads to is deleted and then the link; one that leads nowhere
  /// stays, because what it leads to may come back.
  ///
  /// Throws `StoreError.inUse(path:holder:)` when somebody has the file open or compacts it,
  /// `StoreError.notAFile(path:found:)`, and `StoreError.permissionDenied(path:operation:)`, also for a
  /// file that may only be read, since nobody can hold that alone. The file is there then as it was.
  @discardableResult
  public static func delete(path: String) throws(StoreError) -> Bool {
    let target = PosixFiles.resolved(path)
    let lockPath = SharedMemory.path(for: target)
    typealias Byte = SharedLayout.DataByte
    let held = try FilePaths.openExclusively(
      target, named: path, for: "delete", locking: [Byte.compaction, Byte.life])
    guard let (device, _) = held else {
      removeLockFile(ofMissing: target)
      return false
    }
    return try device.perform(path: path) { _ throws(DeviceError) in
      // What was killed while it compacted the file, or made it, has left a copy.
      let draft = target + ".compacting"
      for path in [SharedMemory.path(for: draft), draft, target + ".creating"] {
        try PosixFiles.delete(path)
      }
      // Before the name is free: who makes a new file has a lock file of that name as well.
      try PosixFiles.delete(lockPath)
      try PosixFiles.delete(target)
      if PosixFiles.isLink(path) { try PosixFiles.delete(path) }
      try PosixFiles.syncFolder(of: target)
      return true
    }
  }

  /// Removes the lock file of a file that is not there, unless those use it who have opened one of that
  /// name before it was moved.
  ///
  /// An empty file stands in for it meanwhile, so that nobody begins to use the lock file.
  private static func removeLockFile(ofMissing path: String) {
    let lockPath = SharedMemory.path(for: path)
    guard case .file = PosixFiles.kind(of: lockPath),
      case .success(let descriptor) = PosixFiles.open(path, .create)
    else { return }
    let device = PosixDevice(descriptor: descriptor)
    // Who was quicker to lock it makes a store of it, or looks whether it is one.
    let timeout = Timeout()
    while let number = device.fileNumber(), case .file(number, _) = PosixFiles.kind(of: path) {
      if device.lock(byte: SharedLayout.DataByte.life, .exclusive) == 0 {
        guard case .file(number, 0) = PosixFiles.kind(of: path) else { return }
        let users = SharedMemory.forReading(path: path).map { ProcessTable(memory: $0).entries }
        if users?.isEmpty ?? true { PosixFiles.remove(lockPath) }
        return PosixFiles.remove(path)
      }
      if !timeout.goOn() { return }
    }
  }
}
