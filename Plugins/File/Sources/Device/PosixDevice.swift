import CPlatform
import CambiumCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file of the operating system.
///
/// Pointers: a buffer is the caller's for the time of the call, and the system gets what is left of it, no more. A
/// mapping belongs to its object, which unmaps it once.
final class PosixDevice: Device {
  /// The open file; closed with this object.
  ///
  /// Not inherited by programs that are started.
  let descriptor: Int32

  /// In a child that was forked since, the descriptor is closed, and its number may be another's.
  private let forkCount: UInt32

  init(descriptor: Int32) {
    self.descriptor = descriptor
    forkCount = cambium_fork_count()
    // Without room to remember it the locks last as long as a child that was forked.
    _ = cambium_close_in_children(descriptor)
  }

  deinit {
    guard forkCount == cambium_fork_count() else { return }
    cambium_keep_in_children(descriptor)
    // A process that is just being started has the description, too, until it runs its program.
    _ = cambium_file_lock(descriptor, 0, 0, LockMode.unlocked.rawValue, false)
    close(descriptor)
  }

  func byteCount() throws(DeviceError) -> Int {
    // Not `fstat`: on Linux 6.13 and later asking for the times of a file makes its next write store
    // new ones, so that each sync would write the inode as well.
    let end = lseek(descriptor, 0, SEEK_END)
    guard end >= 0 else { throw DeviceError(operation: "read", code: errno) }
    return Int(end)
  }

  func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DeviceError) -> Int {
    guard let base = buffer.baseAddress else { return 0 }
    var done = 0
    while done < buffer.count {
      let count = unsafe pread(descriptor, base + done, buffer.count - done, off_t(offset + done))
      if count == 0 { break }
      if count < 0 {
        if errno == EINTR { continue }
        throw DeviceError(operation: "read", code: errno)
      }
      done += count
    }
    return done
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(DeviceError) {
    guard let base = bytes.baseAddress else { return }
    var done = 0
    while done < bytes.count {
      let count = unsafe pwrite(descriptor, base + done, bytes.count - done, off_t(offset + done))
      if count < 0 {
        if errno == EINTR { continue }
        throw DeviceError(operation: "write", code: errno)
      }
      // A write of nothing would be tried for ever.
      if count == 0 { throw DeviceError(operation: "write", code: EIO) }
      done += count
    }
  }

  func startWriting(byteCount: Int, at offset: Int) {
    cambium_start_writing(descriptor, Int64(offset), Int64(byteCount))
  }

  func sync() throws(DeviceError) {
    #if canImport(Darwin)
      let result = fcntl(descriptor, F_FULLFSYNC)
    #else
      let result = fdatasync(descriptor)
    #endif
    // Not tried again, not even after EINTR: a second sync proves nothing.
    guard result == 0 else { throw DeviceError(operation: "sync", code: errno) }
  }

  func truncate(to byteCount: Int) throws(DeviceError) {
    guard ftruncate(descriptor, off_t(byteCount)) == 0 else {
      throw DeviceError(operation: "truncate", code: errno)
    }
  }

  func map(byteCount: Int) throws(DeviceError) -> Mapping? {
    guard let memory = unsafe mmap(nil, byteCount, PROT_READ, MAP_SHARED, descriptor, 0),
      unsafe memory != MAP_FAILED
    else { throw DeviceError(operation: "map", code: errno) }
    let address = UInt(bitPattern: memory)
    return unsafe Mapping(base: UnsafeRawPointer(memory), byteCount: byteCount) {
      unsafe munmap(UnsafeMutableRawPointer(bitPattern: address), byteCount)
    }
  }

  /// Locks one byte of the file for its open description, or tries to; 0 or an error number.
  func lock(byte offset: Int64, _ mode: LockMode, waits: Bool = false) -> Int32 {
    cambium_file_lock(descriptor, offset, 1, mode.rawValue, waits)
  }

  /// How somebody else's open description has locked a byte; nil if that cannot be found out.
  func lockOfOthers(byte offset: Int64) -> LockMode? {
    LockMode(rawValue: cambium_file_lock_of_others(descriptor, offset))
  }

  /// How a byte is locked; the numbers are those of the platform layer.
  enum LockMode: Int32 {
    case unlocked = 0
    case shared = 1
    case exclusive = 2
  }

  /// Which file it is: the device and the number of its inode.
  func fileNumber() -> FileNumber? {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0 else { return nil }
    return FileNumber(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }
}

/// Which file a descriptor or a path leads to.
struct FileNumber: Hashable, Sendable {
  var device: UInt64
  var inode: UInt64
}

/// What the file store asks of the operating system about paths.
///
/// The second half of the module's C calls; the first is ``PosixDevice``.
///
/// Pointers: paths and structures are lent to the system for one call, and the text that `realpath` makes is
/// copied and freed here. What is mapped belongs to the caller, who unmaps it with the same length.
enum PosixFiles {
  enum Kind: Hashable {
    case missing
    case file(FileNumber, byteCount: Int)
    case other(String)
    case failed(Int32)
  }

  static let missing = ENOENT
  static let notADirectory = ENOTDIR
  static let exists = EEXIST
  static let wouldBlock = EAGAIN
  static let noRoom = ENOSPC
  static let full: Set<Int32> = [ENOSPC, EDQUOT]
  static let refused: Set<Int32> = [EACCES, EPERM, EROFS]
  static let readOnly = EROFS
  /// What a read says of a place that the medium or the file system has lost.
  #if canImport(Darwin)
    static let lost: Set<Int32> = [EIO]
  #else
    static let lost: Set<Int32> = [EIO, EBADMSG, EUCLEAN]
  #endif

  static func kind(of path: String) -> Kind {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else {
      return errno == ENOENT ? .missing : .failed(errno)
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG:
      return .file(
        FileNumber(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)),
        byteCount: Int(status.st_size))
    case S_IFDIR: return .other("a directory")
    case S_IFIFO: return .other("a pipe")
    case S_IFSOCK: return .other("a socket")
    case S_IFBLK, S_IFCHR: return .other("a device")
    default: return .other("a special file")
    }
  }

  /// How a file is opened.
  enum Mode {
    case read
    case readWrite
    /// Makes the file; fails when it exists.
    case create
    /// The same, for nobody else to read.
    case createPrivate
    /// Makes the file or empties it.
    case replace
    /// Makes the file or opens it as it is.
    case openOrCreate
  }

  /// A descriptor, or an error number.
  static func open(_ path: String, _ mode: Mode) -> Result<Int32, DeviceError> {
    let flags =
      switch mode {
      case .read: O_RDONLY
      case .readWrite: O_RDWR
      case .create, .createPrivate: O_RDWR | O_CREAT | O_EXCL
      case .replace: O_RDWR | O_CREAT | O_TRUNC
      case .openOrCreate: O_RDWR | O_CREAT
      }
    let rights: mode_t = if case .createPrivate = mode { 0o600 } else { 0o666 }
    while true {
      #if canImport(Glibc)
        let descriptor = unsafe Glibc.open(path, flags | O_CLOEXEC, rights)
      #elseif canImport(Musl)
        let descriptor = Musl.open(path, flags | O_CLOEXEC, rights)
      #else
        let descriptor = Darwin.open(path, flags | O_CLOEXEC, rights)
      #endif
      if descriptor >= 0 { return awayFromStandardStreams(descriptor) }
      if errno != EINTR { return .failure(DeviceError(operation: "open", code: errno)) }
    }
  }

  /// The descriptor itself, or another one in place of those of the standard streams: where one of these
  /// is closed, what somebody prints would end in the file.
  private static func awayFromStandardStreams(_ descriptor: Int32) -> Result<Int32, DeviceError> {
    guard descriptor <= STDERR_FILENO else { return .success(descriptor) }
    let other = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
    let code = errno
    close(descriptor)
    return other >= 0 ? .success(other) : .failure(DeviceError(operation: "open", code: code))
  }

  /// Lets those read and write a new file who may read and write the one at `path`, as far as the
  /// system allows that.
  static func shareRights(of path: String, with descriptor: Int32) {
    unsafe cambium_share_rights(path, descriptor)
  }

  /// The path behind all symbolic links, or the path itself.
  static func resolved(_ path: String) -> String {
    guard let real = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(real) }
    return unsafe String(cString: real)
  }

  static func rename(_ path: String, to target: String) throws(DeviceError) {
    #if canImport(Glibc)
      let result = unsafe Glibc.rename(path, target)
    #elseif canImport(Musl)
      let result = Musl.rename(path, target)
    #else
      let result = Darwin.rename(path, target)
    #endif
    guard result == 0 else { throw DeviceError(operation: "rename", code: errno) }
  }

  static func remove(_ path: String) { unsafe unlink(path) }

  /// Removes the file at `path`, if there is one.
  static func delete(_ path: String) throws(DeviceError) {
    guard unsafe unlink(path) == 0 || errno == ENOENT else {
      throw DeviceError(operation: "delete", code: errno)
    }
  }

  /// Whether there is a symbolic link at `path`.
  static func isLink(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  /// Gives the file at `path` the name `target` in the same folder, which must not be taken.
  static func move(_ path: String, toNew target: String) throws(DeviceError) {
    let code = unsafe cambium_move_to_new_name(path, target)
    guard code == 0 else { throw DeviceError(operation: "create", code: code) }
  }

  private static func folder(of path: String) -> String {
    guard let end = path.lastIndex(of: "/") else { return "." }
    return end == path.startIndex ? "/" : String(path[..<end])
  }

  /// Makes what has changed in the folder of `path` survive power loss.
  static func syncFolder(of path: String) throws(DeviceError) { try openFolder(of: path).sync() }

  /// The folder of `path`, to be synced after a rename in it that cannot be taken back.
  static func openFolder(of path: String) throws(DeviceError) -> PosixDevice {
    PosixDevice(descriptor: try open(folder(of: path), .read).get())
  }

  /// Whether what failed with `code` may do better once others have closed files or freed memory.
  static func isOfTheMoment(_ code: Int32) -> Bool { [EMFILE, ENFILE, ENOMEM].contains(code) }

  static var processNumber: UInt32 { UInt32(getpid()) }

  /// Sleeps for so long.
  static func pause(nanoseconds: Int) {
    var time = timespec(tv_sec: 0, tv_nsec: nanoseconds)
    var rest = timespec()
    // A signal cuts it short.
    while unsafe nanosleep(&time, &rest) != 0, errno == EINTR { time = rest }
  }

  /// Whether the lock file of `path` is there or can be made.
  static func canShareMemory(beside path: String) -> Bool {
    let lockPath = SharedMemory.path(for: path)
    if unsafe access(lockPath, R_OK | W_OK) == 0 { return true }
    return unsafe errno == ENOENT && access(folder(of: lockPath), W_OK | X_OK) == 0
  }

  /// The time of the system's clock, as coarse as it is cheap to get.
  static var nanosecondsSince1970: UInt64 {
    var time = timespec()
    #if canImport(Darwin)
      clock_gettime(CLOCK_REALTIME, &time)
    #else
      unsafe clock_gettime(CLOCK_REALTIME_COARSE, &time)
    #endif
    return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }

  /// Maps a small file that processes share; nil with an error number when that fails.
  static func mapShared(
    _ descriptor: Int32, byteCount: Int, isWritable: Bool
  ) -> UnsafeMutableRawPointer? {
    let protection = isWritable ? PROT_READ | PROT_WRITE : PROT_READ
    guard let memory = unsafe mmap(nil, byteCount, protection, MAP_SHARED, descriptor, 0),
      unsafe memory != MAP_FAILED
    else { return nil }
    return unsafe memory
  }

  static func unmap(_ memory: UnsafeMutableRawPointer, byteCount: Int) {
    unsafe munmap(memory, byteCount)
  }
}
