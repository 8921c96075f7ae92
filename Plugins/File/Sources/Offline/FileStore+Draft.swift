import CambiumCore

extension FileStore {
  /// Whether the file at `path` is the lock file of a store.
  package static func isLockFile(_ path: String) -> Bool { SharedMemory.isLockFile(path) }

  /// Gives a finished file its name: whole and on the medium, or not at all.
  ///
  /// False when there is a file of that name, which stays. `draft` must lie in the same folder; it is
  /// gone afterwards, also after an error.
  package static func name(draft: String, as path: String) throws(StoreError) -> Bool {
    defer { PosixFiles.remove(draft) }
    let (device, _) = try FilePaths.open(path: draft, isReadOnly: false)
    return try device.perform(path: path) { device throws(DeviceError) in
      try device.sync()
      do throws(DeviceError) {
        try PosixFiles.move(draft, toNew: path)
      } catch {
        if error.code == PosixFiles.exists { return false }
        throw error
      }
      try PosixFiles.syncFolder(of: path)
      return true
    }
  }
}
