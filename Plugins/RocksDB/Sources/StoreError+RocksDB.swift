#if RocksDB
  import CambiumCore
  import Foundation

  extension StoreError {
    /// What RocksDB's words mean for the store at `path`, met while it did `operation`.
    ///
    /// RocksDB hands out text only: the kind of failure first, then what the system said.
    init(_ failure: RocksFailure, path: String, operation: String) {
      let text = failure.text
      func says(_ words: String...) -> Bool { words.contains { text.contains($0) } }
      if text.hasPrefix("Corruption") {
        self = .damaged(Damage(.head, "RocksDB says '\(text)'"))
      } else if says("No space left on device", "Disk quota exceeded", "File too large") {
        self = .mediumFull(path: path)
      } else if says("Permission denied", "Read-only file system") {
        self = .permissionDenied(path: path, operation: operation)
      } else if says("No such file or directory") {
        // A file of the folder is gone, not the folder.
        self = .damaged(Damage(.head, "RocksDB says '\(text)'"))
      } else if text.hasPrefix("Not implemented") || says("not linked with the binary") {
        self = .system(operation: "\(operation) (RocksDB: \(text))", path: path, code: ENOSYS)
      } else if text.hasPrefix("Invalid argument") {
        self = .damaged(Damage(.head, "RocksDB says '\(text)'"))
      } else {
        self = .system(operation: "\(operation) (RocksDB: \(text))", path: path, code: EIO)
      }
    }
  }

  extension RocksFailure {
    /// Whether another open database has the folder's lock.
    var isLock: Bool { isOwnLock || text.contains("While lock file") }

    /// Whether that one is in this process.
    var isOwnLock: Bool { text.contains("lock hold by current process") }
  }
#endif
