#if RocksDB
  import CPlatform
  import CambiumCore
  import Foundation

  extension RocksDBStore {
    /// Deletes the folder of the store at `path`, with everything in it; false when there is none.
    ///
    /// The folder's lock is held meanwhile. The store may be damaged. Of a symbolic link the folder
    /// that it leads to is deleted, and then the link. What a crash leaves of a deletion can be deleted
    /// again, and opens as a damaged store or an empty one.
    ///
    /// Throws `StoreError.inUse(path:holder:)` when somebody has the store open,
    /// `StoreError.wrongStoreKind(path:found:expected:)` or `StoreError.notAStore(path:reason:)` for
    /// what is none, and what the system says.
    @discardableResult
    public static func delete(path: String) throws(StoreError) -> Bool {
      if RocksDatabase.isForked { throw RocksDatabase.forkedBefore(path) }
      return try StoreFolder(path: path).delete()
    }
  }

  /// Pointers: the system reads a path that is lent for the call.
  extension StoreFolder {
    fileprivate func delete() throws(StoreError) -> Bool {
      let found = exists(path)
      guard found.isThere, let resolved else { return false }
      if !found.isFolder { throw wrongKind() }
      guard exists(file(Self.markName)).isThere else {
        if isEmpty { return false }
        throw exists(file(Self.currentName)).isThere ? foreignDatabase : foreignFolder
      }
      guard let claim = FolderClaim(folder: resolved, isReadOnly: false, isNew: false) else {
        return false
      }
      guard claim.begin() else { throw .inUse(path: path, holder: "this process") }
      defer { claim.end() }
      let lock = try lockForDeleting()
      defer { Self.release(lock, forkCount: cambium_fork_count()) }
      do {
        let files = FileManager.default
        let kept = [Self.lockName, Self.markName]
        let names = try files.contentsOfDirectory(atPath: resolved).filter { !kept.contains($0) }
        // Without this file it is damaged, so that nobody takes what is left for a store.
        let isCurrent: (String) -> Bool = { $0 == Self.currentName }
        for name in names.filter(isCurrent) + names.filter({ !isCurrent($0) }) {
          try files.removeItem(atPath: file(name))
        }
        // The lock must not be gone while its folder has the name.
        let rest = "\(resolved).deleted-\(UUID().uuidString)"
        try files.moveItem(atPath: resolved, toPath: rest)
        try files.removeItem(atPath: rest)
        if (try? files.destinationOfSymbolicLink(atPath: path)) != nil {
          try files.removeItem(atPath: path)
        }
        return true
      } catch {
        let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
        throw .system(
          operation: "delete", path: path,
          code: cause?.domain == NSPOSIXErrorDomain ? Int32(cause?.code ?? 0) : EIO)
      }
    }

    /// Keeps all others out, RocksDB included, until the descriptor is closed.
    private func lockForDeleting() throws(StoreError) -> Int32 {
      let descriptor = unsafe open(file(Self.lockName), O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
      guard descriptor >= 0 else {
        if errno == EACCES { throw .permissionDenied(path: path, operation: "delete") }
        throw .system(operation: "delete", path: path, code: errno)
      }
      guard cambium_file_lock(descriptor, 0, 0, 2, false) == 0 else {
        let holder = Self.holder(descriptor)
        close(descriptor)
        throw .inUse(path: path, holder: holder)
      }
      return descriptor
    }
  }
#endif
