#if RocksDB
  import CPlatform
  import CambiumCore
  import Foundation
  import Synchronization

  /// The folder of a store: what is there, and who uses it.
  ///
  /// A file called `CAMBIUM` tells the folder of a store from any other RocksDB database, without
  /// opening either.
  ///
  /// Pointers: paths and results are lent to the system for each call; the text that it allocates is
  /// given back here.
  struct StoreFolder {
    let path: String

    static let markName = "CAMBIUM"
    private static let markText = "A Cambium page store in RocksDB, format 1.\n"
    /// Every RocksDB database has this file.
    static let currentName = "CURRENT"
    static let lockName = "LOCK"

    func file(_ name: String) -> String { path + "/" + name }

    func exists(_ path: String) -> (isThere: Bool, isFolder: Bool) {
      var isFolder: ObjCBool = false
      let isThere = unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
      return (isThere, isFolder.boolValue)
    }

    /// Whether a store is in the folder at `path`, as far as its mark tells.
    static func holdsStore(path: String) -> Bool {
      FileManager.default.fileExists(atPath: path + "/" + markName)
    }

    // MARK: Claiming

    /// Claims the folder for a store, and makes it when there is none and it is not only read.
    ///
    /// Throws, and changes nothing, when there is something else or somebody has it.
    func claim(isReadOnly: Bool) throws(StoreError) -> FolderClaim {
      let found = exists(path)
      if found.isThere, !found.isFolder { throw wrongKind() }
      if found.isThere, !FileManager.default.isReadableFile(atPath: path) {
        throw .permissionDenied(path: path, operation: "open")
      }
      let hasMark = exists(file(Self.markName)).isThere
      let hasDatabase = exists(file(Self.currentName)).isThere
      if hasDatabase, !hasMark { throw foreignDatabase }
      if isReadOnly, !hasDatabase {
        if found.isThere, !hasMark, !isEmpty { throw foreignFolder }
        throw .notFound(path: path)
      }
      if !hasDatabase, hasMark, holdsData {
        // RocksDB would begin a new database, and delete these files at the next opening.
        throw .damaged(
          Damage(
            .head, "\(file(Self.currentName)) is missing beside files with data; restore it"))
      }
      if !isReadOnly { try checkRoom(isThere: found.isThere) }
      if !hasDatabase, !hasMark {
        if found.isThere, !isEmpty { throw foreignFolder }
        try make(isThere: found.isThere)
      }
      guard let resolved,
        let claim = FolderClaim(folder: resolved, isReadOnly: isReadOnly, isNew: !hasDatabase)
      else { throw .notFound(path: path) }
      guard claim.begin() else { throw .inUse(path: path, holder: "this process") }
      do throws(StoreError) {
        if isReadOnly { claim.lock = try lockForReading() }
      } catch {
        claim.end()
        throw error
      }
      return claim
    }

    var isEmpty: Bool {
      (try? FileManager.default.contentsOfDirectory(atPath: path))?.isEmpty ?? true
    }

    /// Whether there are files that only a finished database has.
    private var holdsData: Bool {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
      return names.contains { $0.hasSuffix(".sst") || $0.hasSuffix(".log") }
    }

    var foreignFolder: StoreError {
      .notAStore(path: path, reason: "it is a folder with other files")
    }

    var foreignDatabase: StoreError {
      .notAStore(path: path, reason: "it is a RocksDB database of another program")
    }

    /// A file at the path: perhaps a store of the other kind.
    func wrongKind() -> StoreError {
      let handle = FileHandle(forReadingAtPath: path)
      defer { try? handle?.close() }
      // How the file store's files begin.
      let start = (try? handle?.read(upToCount: 8)) ?? nil
      if start == Data([0x8b]) + Data("Cambium".utf8) {
        return .wrongStoreKind(path: path, found: "file", expected: RocksDBStore.kind)
      }
      return .notAStore(path: path, reason: "it is a file, and a RocksDB store is a folder")
    }

    private func make(isThere: Bool) throws(StoreError) {
      do {
        if !isThere {
          try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false)
        }
        try Data(Self.markText.utf8).write(to: URL(fileURLWithPath: file(Self.markName)))
      } catch {
        let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
        if !isThere, !exists(parent).isFolder {
          throw .parentNotFound(path: path)
        }
        let error = error as NSError
        if error.code == CocoaError.fileWriteOutOfSpace.rawValue { throw .mediumFull(path: path) }
        let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError
        let code = cause?.domain == NSPOSIXErrorDomain ? Int32(clamping: cause?.code ?? 0) : 0
        if code == EACCES || code == EPERM || code == EROFS || code == 0 {
          throw .permissionDenied(path: path, operation: "create")
        }
        throw .system(operation: "create", path: path, code: code)
      }
    }

    /// The folder's path without links, which tells it from others in this process.
    var resolved: String? {
      unsafe realpath(path, nil).map { text in
        defer { unsafe free(text) }
        return unsafe String(cString: text)
      }
    }

    // MARK: Locks

    /// Shares the folder with others who read, and keeps writers out; RocksDB itself does neither.
    ///
    /// Nil for a copy that has no lock file.
    private func lockForReading() throws(StoreError) -> Int32? {
      let descriptor = unsafe open(file(Self.lockName), O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      guard cambium_file_lock(descriptor, 0, 0, 1, false) == 0 else {
        let holder = Self.holder(descriptor)
        close(descriptor)
        throw .inUse(path: path, holder: holder)
      }
      return descriptor
    }

    /// Who has the folder's lock, for people; only when it is not this process, whose lock would end
    /// with the descriptor.
    func holder() -> String {
      let descriptor = unsafe open(file(Self.lockName), O_RDWR | O_CLOEXEC)
      guard descriptor >= 0 else { return "another process" }
      defer { close(descriptor) }
      return Self.holder(descriptor)
    }

    static func holder(_ descriptor: Int32) -> String {
      var lock = flock()
      lock.l_type = Int16(F_WRLCK)
      lock.l_whence = Int16(SEEK_SET)
      guard unsafe fcntl(descriptor, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK),
        lock.l_pid > 0
      else { return "another process" }
      return "process \(lock.l_pid)"
    }

    /// Unlocks and closes a lock file.
    ///
    /// Closing alone would leave the lock to programs that another thread is just starting, until they
    /// run. A forked child closes its copy, and the parent keeps the lock.
    static func release(_ lock: Int32, forkCount: UInt32) {
      if forkCount == cambium_fork_count() { _ = cambium_file_lock(lock, 0, 0, 0, false) }
      close(lock)
    }

    // MARK: Sizes

    /// How many bytes the medium has left for us; nil when it does not say.
    static func freeByteCount(at path: String) -> Int? {
      var status = statvfs()
      guard unsafe statvfs(path, &status) == 0 else { return nil }
      let (count, isLarge) = UInt64(status.f_bavail).multipliedReportingOverflow(
        by: UInt64(status.f_frsize))
      return isLarge ? .max : Int(clamping: count)
    }

    /// What RocksDB needs to begin: a log, a manifest and a file of options.
    private static let neededByteCount = 1 << 20

    /// Throws when the medium has no room for what RocksDB writes when it opens a folder.
    ///
    /// It would end the process then, where it was built with assertions.
    private func checkRoom(isThere: Bool) throws(StoreError) {
      let place = isThere ? path : URL(fileURLWithPath: path).deletingLastPathComponent().path
      if Self.freeByteCount(at: place) ?? .max < Self.neededByteCount {
        throw .mediumFull(path: path)
      }
    }

    /// How many bytes all its files take.
    var byteCount: Int {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
      return names.reduce(0) { sum, name in
        var status = stat()
        return unsafe stat(file(name), &status) == 0 ? sum + Int(status.st_size) : sum
      }
    }
  }

  /// What tells a folder from all others, whatever names lead to it and have led to it.
  ///
  /// Pointers: the path and the result are lent to the system for one call.
  struct FolderNumber: Hashable {
    let device: UInt64
    let inode: UInt64

    /// That of the folder at `path`; nil when there is nothing.
    init?(of path: String) {
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { return nil }
      (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }
  }

  /// A folder that this process has open.
  ///
  /// One user at a time.
  final class FolderClaim {
    /// Whether there is no database in it yet.
    let isNew: Bool
    let folder: String
    private let number: FolderNumber
    private let isReadOnly: Bool
    /// The lock file, when it is locked for reading.
    fileprivate(set) var lock: Int32?
    private var hasEnded = true
    private let forkCount = cambium_fork_count()

    /// How many read a folder, or -1 for one that is written.
    private static let users = Mutex<[FolderNumber: Int]>([:])

    /// Nil when there is no such folder.
    init?(folder: String, isReadOnly: Bool, isNew: Bool) {
      guard let number = FolderNumber(of: folder) else { return nil }
      self.folder = folder
      self.number = number
      self.isReadOnly = isReadOnly
      self.isNew = isNew
    }

    deinit { end() }

    /// False when others in this process stand against it.
    func begin() -> Bool {
      let isFree = Self.users.withLock { users in
        let count = users[number] ?? 0
        guard isReadOnly ? count >= 0 : count == 0 else { return false }
        users[number] = isReadOnly ? count + 1 : -1
        return true
      }
      if isFree { hasEnded = false }
      return isFree
    }

    /// Lets others have the folder; once is enough.
    func end() {
      if hasEnded { return }
      hasEnded = true
      if let lock { StoreFolder.release(lock, forkCount: forkCount) }
      Self.users.withLock { users in
        let count = users[number] ?? 0
        users[number] = count > 1 ? count - 1 : nil
      }
    }
  }
#endif
