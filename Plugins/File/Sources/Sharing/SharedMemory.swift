import CPlatform
import CambiumCore
import Synchronization

/// The memory that the users of one file share: `PATH.lock` beside it, or private memory for a file
/// that is not shared.
///
/// It holds the live head, what is known to be durable, who takes part, their pins, and the words on
/// which they wait for each other. It survives the death of every process and no boot. Exclusion
/// does not come from here: writers are kept apart by locks on the data file itself, so that a lock
/// file that was deleted cannot let two of them in.
///
/// Unchecked: all of the memory is reached word by word through atomics, so that nobody races; it is mapped
/// for as long as this object lives, and pointers to its words are used while somebody holds that. What takes
/// several words may be read while it is written: heads and marks are kept twice with checksums, and a torn one
/// is not believed; a pin has one writer and an order, see ``PinTable``; what identifies the file is written by
/// who is alone with it. Of the rest a lock keeps writers apart, and readers only show what they see to people.
@safe final class SharedMemory: @unchecked Sendable {
  /// What has to happen before the file may be written.
  enum Condition: UInt32 {
    /// Nothing.
    case clean = 0
    /// What recovery accepted must be written again.
    case recovered = 1
    /// The same, after a failed sync.
    case recoveredAfterFailure = 2
    /// A sync failed: everybody must leave first.
    case poisoned = 3
    /// Nothing is amiss, and the first write begins an epoch.
    case opened = 4
  }

  private let base: UnsafeMutableRawPointer
  /// Whether there was no lock file before.
  let isNew: Bool
  /// The lock file; nil for private memory.
  let file: PosixDevice?
  /// Where the lock file is; empty for private memory.
  let path: String
  /// The boot this system runs in; zeros where that is unknown.
  private let boot: [UInt8]
  /// Held by the thread that changes which users there are.
  let users = Mutex(())

  /// The lock file of the data file at `path`, behind whatever symbolic links.
  static func path(for path: String) -> String { PosixFiles.resolved(path) + ".lock" }

  /// Private memory.
  init() {
    file = nil
    path = ""
    // It ends with the process.
    boot = [UInt8](repeating: 1, count: Self.unknownBoot.count)
    isNew = true
    unsafe base = .allocate(byteCount: SharedLayout.mappedByteCount, alignment: 4096)
    clear(from: 0)
  }

  /// Maps the lock file of the data file at `path`, and makes it if there is none.
  init(path: String) throws(StoreError) {
    let lockPath = Self.path(for: path)
    let device: PosixDevice
    switch PosixFiles.open(lockPath, .openOrCreate) {
    case .success(let descriptor): device = PosixDevice(descriptor: descriptor)
    case .failure(let error): throw StoreError(error, path: lockPath)
    }
    boot = try device.perform(path: lockPath) { _ throws(DeviceError) in try Self.currentBoot() }
    var isForeign = false
    isNew = try device.perform(path: lockPath) { device throws(DeviceError) in
      let size = try device.byteCount()
      isForeign = try !Self.mayBeLockFile(device, size)
      if isForeign { return false }
      // Written, not left as a hole: a full disk shows here and not when the memory is touched.
      if size < SharedLayout.byteCount {
        try device.write(
          [UInt8](repeating: 0, count: SharedLayout.byteCount - size), at: size)
      }
      return size == 0
    }
    if isForeign {
      throw .notAStore(
        path: lockPath, reason: "it has the name of a lock file and is none; give it another name")
    }
    // What small commits have changed lies here, too.
    PosixFiles.shareRights(of: path, with: device.descriptor)
    guard
      let memory = unsafe PosixFiles.mapShared(
        device.descriptor, byteCount: SharedLayout.mappedByteCount, isWritable: true)
    else { throw .addressSpaceExhausted(path: lockPath, byteCount: SharedLayout.mappedByteCount) }
    file = device
    self.path = lockPath
    unsafe base = unsafe memory
  }

  /// Maps the lock file of the data file at `path` for looking at it; nil when there is none that
  /// can be read.
  static func forReading(path: String) -> SharedMemory? {
    let lockPath = Self.path(for: path)
    guard let descriptor = try? PosixFiles.open(lockPath, .read).get() else { return nil }
    return SharedMemory(reading: PosixDevice(descriptor: descriptor), lockPath)
  }

  private init?(reading device: PosixDevice, _ lockPath: String) {
    guard let size = try? device.byteCount(), size >= SharedLayout.byteCount,
      let memory = unsafe PosixFiles.mapShared(
        device.descriptor, byteCount: SharedLayout.mappedByteCount, isWritable: false)
    else { return nil }
    file = device
    path = lockPath
    boot = (try? Self.currentBoot()) ?? Self.unknownBoot
    unsafe base = unsafe memory
    isNew = false
  }

  /// Whether a file holds the memory of users, perhaps a damaged one, or nothing yet, or is what Realm keeps there.
  ///
  /// Whatever else has the name stays: a store, or anything that is longer than Realm's lock files are.
  private static func mayBeLockFile(
    _ device: PosixDevice, _ byteCount: Int
  ) throws(DeviceError) -> Bool {
    let bytes = try beginning(of: device, byteCount)
    if bytes == SharedLayout.magicBytes || bytes.allSatisfy({ $0 == 0 }) { return true }
    if FileLayout.Identity.magicBytes.starts(with: bytes) { return false }
    return byteCount <= 1 << 16
      || [SharedLayout.byteCount, SharedLayout.mappedByteCount].contains(byteCount)
  }

  /// Whether the file at `path` is the lock file of a store.
  static func isLockFile(_ path: String) -> Bool {
    guard case .file = PosixFiles.kind(of: path),
      let descriptor = try? PosixFiles.open(path, .read).get()
    else { return false }
    let device = PosixDevice(descriptor: descriptor)
    return (try? beginning(of: device, device.byteCount())) == SharedLayout.magicBytes
  }

  private static func beginning(
    of device: PosixDevice, _ byteCount: Int
  ) throws(DeviceError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: min(byteCount, SharedLayout.magicBytes.count))
    let result = unsafe bytes.withUnsafeMutableBytes { bytes in
      Result<Int, DeviceError> { () throws(DeviceError) in
        try unsafe device.read(bytes, at: SharedLayout.magic)
      }
    }
    _ = try result.get()
    return bytes
  }

  deinit {
    if file == nil {
      unsafe base.deallocate()
    } else {
      unsafe PosixFiles.unmap(base, byteCount: SharedLayout.mappedByteCount)
    }
  }

  // MARK: Access

  func word(_ offset: Int) -> UnsafeMutablePointer<Atomic<UInt32>> {
    unsafe (base + offset).assumingMemoryBound(to: Atomic<UInt32>.self)
  }

  func longWord(_ offset: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
    unsafe (base + offset).assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  /// Copies `count` bytes from `offset` on, whole words.
  func bytes(_ offset: Int, _ count: Int) -> [UInt8] {
    precondition(offset % 8 == 0 && count % 8 == 0, "Shared memory is read by whole words.")
    var copy = [UInt8](repeating: 0, count: count)
    unsafe copy.withUnsafeMutableBytes { bytes in
      for position in stride(from: 0, to: count, by: 8) {
        let word = unsafe longWord(offset + position).pointee.load(ordering: .relaxed)
        unsafe bytes.storeBytes(of: word, toByteOffset: position, as: UInt64.self)
      }
    }
    return copy
  }

  /// Stores `bytes` from `offset` on, whole words.
  func put(_ bytes: [UInt8], at offset: Int) {
    precondition(
      offset % 8 == 0 && bytes.count % 8 == 0, "Shared memory is written by whole words.")
    unsafe bytes.withUnsafeBytes { bytes in
      for position in stride(from: 0, to: bytes.count, by: 8) {
        let word = unsafe bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self)
        unsafe longWord(offset + position).pointee.store(word, ordering: .relaxed)
      }
    }
  }

  /// Sleeps while the word at `offset` is `seen`, at most `timeoutNanoseconds`.
  func sleep(_ offset: Int, while seen: UInt32, timeoutNanoseconds: Int64) {
    _ = unsafe cambium_futex_wait(
      (base + offset).assumingMemoryBound(to: UInt32.self), seen, timeoutNanoseconds, true)
  }

  /// Raises the word at `offset` and wakes those who sleep on it.
  func raise(_ offset: Int) {
    unsafe word(offset).pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
    unsafe cambium_futex_wake((base + offset).assumingMemoryBound(to: UInt32.self), true)
  }

  // MARK: Identity

  private static let unknownBoot = [UInt8](repeating: 0, count: 16)

  /// The boot this system runs in; zeros where the system does not tell.
  static func currentBoot() throws(DeviceError) -> [UInt8] {
    var identity = unknownBoot
    let code = unsafe cambium_boot_identity(&identity)
    // Without an answer nothing is believed that a process left which was killed. So what passes is an error.
    if PosixFiles.isOfTheMoment(code) {
      throw DeviceError(operation: "find out the boot", code: code)
    }
    return code == 0 ? identity : unknownBoot
  }

  private func signature(_ identity: IdentitySector, _ number: FileNumber) -> [UInt8] {
    StoredBytes(byteCount: SharedLayout.signatureByteCount) { fields in
      fields.store(SharedLayout.magicBytes, at: SharedLayout.magic)
      fields.store(SharedLayout.version, at: SharedLayout.layout)
      fields.store(identity.uuidHigh, at: SharedLayout.uuid)
      fields.store(identity.uuidLow, at: SharedLayout.uuid + 8)
      fields.store(number.device, at: SharedLayout.device)
      fields.store(number.inode, at: SharedLayout.inode)
      fields.store(boot, at: SharedLayout.boot)
      fields.store(file?.fileNumber()?.inode ?? 0, at: SharedLayout.ownInode)
    }.bytes
  }

  /// Whether this memory speaks of that file, in this boot and this layout.
  func matches(_ identity: IdentitySector, _ number: FileNumber) -> Bool {
    boot != Self.unknownBoot
      && bytes(0, SharedLayout.signatureByteCount) == signature(identity, number)
  }

  /// The layout of a lock file that speaks of the file with that identity, whatever its version; nil
  /// for anything else.
  func layoutVersion(_ identity: IdentitySector) -> UInt32? {
    let header = StoredBytes(bytes(0, SharedLayout.signatureByteCount))
    guard bytes(SharedLayout.magic, 8) == SharedLayout.magicBytes,
      header.load(SharedLayout.uuid, as: UInt64.self) == identity.uuidHigh,
      header.load(SharedLayout.uuid + 8, as: UInt64.self) == identity.uuidLow
    else { return nil }
    return header.load(SharedLayout.layout, as: UInt32.self)
  }

  /// Begins anew for the one process that is alone with the file.
  ///
  /// A live head and a durable mark of this file stay until others take their place: this process may
  /// be killed meanwhile, and the versions that were not synced yet hang from them. `condition` is that of the file
  /// from now on: known to whoever may join after such a death.
  func reset(_ identity: IdentitySector, _ number: FileNumber, _ condition: Condition) {
    let isKnown = matches(identity, number)
    if !isKnown {
      clear(from: 0)
      unsafe longWord(SharedLayout.live).pointee.store(.max, ordering: .relaxed)
    }
    self.condition = condition
    clearUsers()
    // Who is alone writes again whatever is not durable.
    syncState = .sure
    if !isKnown { put(signature(identity, number), at: 0) }
  }

  /// Lists no users any more, and nothing of what they hold.
  func clearUsers() {
    // How many wait for commits stays: a thread that waited for an earlier store may count itself out only now. A
    // count that is too high costs a call, and one that is too low the news.
    for offset in [SharedLayout.lastWriter, SharedLayout.pinLimit] {
      unsafe word(offset).pointee.store(0, ordering: .relaxed)
    }
    clear(from: SharedLayout.Process.first)
    for slot in 0..<SharedLayout.Process.count {
      let offset = SharedLayout.Process.offset(slot) + SharedLayout.Process.spaceVersion
      unsafe longWord(offset).pointee.store(.max, ordering: .relaxed)
    }
    for entry in 0..<SharedLayout.Pin.count {
      unsafe longWord(SharedLayout.Pin.offset(entry) + SharedLayout.Pin.low).pointee.store(
        .max, ordering: .relaxed)
    }
  }

  /// Fills with zeros what begins at `offset`, a multiple of eight.
  private func clear(from offset: Int) {
    for position in stride(from: offset, to: SharedLayout.byteCount, by: 8) {
      unsafe longWord(position).pointee.store(0, ordering: .relaxed)
    }
  }

  /// What has to happen before the file may be written.
  var condition: Condition {
    get {
      let raw = unsafe word(SharedLayout.condition).pointee.load(ordering: .acquiring)
      return Condition(rawValue: raw) ?? .poisoned
    }
    set {
      unsafe word(SharedLayout.condition).pointee.store(newValue.rawValue, ordering: .releasing)
    }
  }

  /// How many bytes commits have written since the last sync; about, after a process was killed.
  var unsyncedByteCount: Int {
    let count = unsafe Int64(
      bitPattern: longWord(SharedLayout.unsynced).pointee.load(ordering: .relaxed))
    // No file is that long: a number that is no count stays one that can be added to.
    return Int(min(max(0, count), 1 << 54))
  }

  /// Counts bytes that a commit has written, or takes away those that were synced.
  func addUnsynced(_ byteCount: Int) {
    unsafe longWord(SharedLayout.unsynced).pointee.wrappingAdd(
      UInt64(bitPattern: Int64(byteCount)), ordering: .relaxed)
  }
}
