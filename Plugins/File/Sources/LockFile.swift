import CPlatform
import CambiumCore
import Synchronization

/// The memory that the users of one file share, in `PATH.lock` beside it.
///
/// It holds the live head (newer than the file's slots while commits are relaxed), who takes part,
/// and room for what several processes need: pins, the order of writers, the signal of commits. All
/// of it survives the death of a process, none of it a boot; it may be deleted while nobody uses the
/// file. Exclusion does not come from here but from locks on the data file itself.
///
/// Unchecked: the mapped memory lives as long as this object. One process uses it at a time, under
/// the store's locks.
final class LockFile: @unchecked Sendable {
  /// Where the fields lie.
  ///
  /// All integers are little-endian.
  ///
  ///      0       8        16     32      40      48     64        68     72
  ///     | magic | layout | uuid | device | inode | boot | poisoned | live | commits | …
  ///      128           640           2048                   8192            32768
  ///     | live head 0 | live head 1 | … | processes (64 × 64) | … | pins (1536 × 16) |
  ///
  enum Field {
    static let magicBytes: [UInt8] = [0x43, 0x6d, 0x62, 0x4c, 0x6f, 0x63, 0x6b, 0x0a]
    static let layoutVersion: UInt32 = 1
    static let magic = 0
    static let layout = magic + 8
    static let uuid = layout + 8
    static let device = uuid + 16
    static let inode = device + 8
    static let boot = inode + 8
    /// Not zero after a failed sync: nobody may write until all have left.
    static let poisoned = boot + 16
    /// Which live head is valid, written last: 1 or 2; 0 for none.
    static let live = poisoned + 4
    /// Rises with each commit; what waiters sleep on.
    static let commits = live + 4
    /// The tickets of waiting writers.
    static let nextTicket = commits + 4
    static let servingTicket = nextTicket + 4
    static let liveHeads = [128, 128 + FileLayout.sectorByteCount]
    /// Per process: its number, whether the slot is used, and room for where its liveness is locked.
    static let processes = 2048
    static let processByteCount = 64
    static let processCount = 64
    /// Per pin: the version, the process slot, and how often.
    static let pins = 8192
    static let pinByteCount = 16
    static let pinCount = 1536
    static let byteCount = pins + pinCount * pinByteCount
  }

  /// The bytes of the data file that are locked, far behind its end.
  ///
  /// Part of the layout.
  enum LockByte {
    private static let base: Int64 = 1 << 62
    /// Held shared by everybody, exclusively by who is alone.
    static let life = base
    /// Held by the writer.
    static let writer = base + 1
    /// One per process slot, held while it is used.
    static let firstProcess = base + 64
  }

  private let memory: UnsafeMutableRawPointer
  private let isWritable: Bool

  static func path(for path: String) -> String { path + ".lock" }

  /// Maps the lock file of the data file at `path`.
  ///
  /// For reading it must exist: nil when it does not or is too short.
  init?(path: String, isWritable: Bool) throws(StoreError) {
    let lockPath = Self.path(for: path)
    let mode: PosixFiles.Mode = isWritable ? .openOrCreate : .read
    let descriptor: Int32
    switch PosixFiles.open(lockPath, mode) {
    case .success(let opened): descriptor = opened
    case .failure(let error):
      if !isWritable { return nil }
      throw StoreError(error, path: lockPath)
    }
    let device = PosixDevice(descriptor: descriptor)
    let size = try device.perform(path: lockPath) { device throws(DeviceError) in
      try device.byteCount()
    }
    if size < Field.byteCount {
      if !isWritable { return nil }
      try device.perform(path: lockPath) { device throws(DeviceError) in
        // Written, not left as a hole: a full disk shows here and not when the memory is touched.
        try device.write([UInt8](repeating: 0, count: Field.byteCount), at: 0)
      }
    }
    guard
      let memory = PosixFiles.mapShared(
        descriptor, byteCount: Field.byteCount, isWritable: isWritable)
    else {
      if !isWritable { return nil }
      throw .addressSpaceExhausted(path: lockPath, byteCount: Field.byteCount)
    }
    self.memory = memory
    self.isWritable = isWritable
  }

  deinit { PosixFiles.unmap(memory, byteCount: Field.byteCount) }

  // MARK: Fields

  private func bytes(_ offset: Int, _ count: Int) -> [UInt8] {
    Array(UnsafeRawBufferPointer(start: memory + offset, count: count))
  }

  private func put(_ bytes: [UInt8], at offset: Int) {
    UnsafeMutableRawBufferPointer(start: memory + offset, count: bytes.count).copyBytes(from: bytes)
  }

  private func load(_ offset: Int) -> UInt32 {
    UInt32(littleEndian: (memory + offset).load(as: UInt32.self))
  }

  private func word(_ offset: Int) -> UnsafeMutablePointer<Atomic<UInt32>> {
    (memory + offset).assumingMemoryBound(to: Atomic<UInt32>.self)
  }

  /// What identifies the file and the boot this memory speaks of.
  private static func signature(_ identity: IdentitySector, _ file: FileNumber) -> [UInt8] {
    var bytes = StoredBytes(byteCount: Field.poisoned)
    bytes.store(Field.magicBytes, at: Field.magic)
    bytes.store(Field.layoutVersion, at: Field.layout)
    bytes.store(identity.uuidHigh, at: Field.uuid)
    bytes.store(identity.uuidLow, at: Field.uuid + 8)
    bytes.store(file.device, at: Field.device)
    bytes.store(file.inode, at: Field.inode)
    bytes.store(bootIdentity, at: Field.boot)
    return bytes.bytes
  }

  /// The boot this system runs in; zeros where that is unknown.
  static let bootIdentity: [UInt8] = {
    var identity = [UInt8](repeating: 0, count: 16)
    return cambium_boot_identity(&identity) ? identity : [UInt8](repeating: 0, count: 16)
  }()

  /// Whether this memory speaks of that file, in this boot.
  func matches(_ identity: IdentitySector, _ file: FileNumber) -> Bool {
    Self.bootIdentity.contains { $0 != 0 }
      && bytes(0, Field.poisoned) == Self.signature(identity, file)
  }

  /// Whether a sync failed before everybody left.
  var isPoisoned: Bool { load(Field.poisoned) != 0 }

  /// Refuses writes until everybody has left.
  func poison() { word(Field.poisoned).pointee.store(1, ordering: .releasing) }

  /// Allows writes again, after everything was written anew.
  func clearPoison() { word(Field.poisoned).pointee.store(0, ordering: .releasing) }

  /// The newest head, if there is a whole one.
  func liveHead(_ identity: IdentitySector) -> HeadSector? {
    let index = Int(load(Field.live))
    guard index == 1 || index == 2 else { return nil }
    let stored = bytes(Field.liveHeads[index - 1], FileLayout.sectorByteCount)
    return HeadSector(stored: stored, identity: identity)
  }

  /// Makes `head` the live one and counts the commit.
  ///
  /// Nobody sleeps on the count as long as one
  /// process uses a file at a time.
  func publish(_ head: HeadSector) {
    let index = load(Field.live) == 1 ? 2 : 1
    put(head.stored, at: Field.liveHeads[index - 1])
    word(Field.live).pointee.store(UInt32(index), ordering: .releasing)
    word(Field.commits).pointee.wrappingAdd(1, ordering: .releasing)
  }

  /// Begins anew for the one process that is alone with the file.
  func reset(_ identity: IdentitySector, _ file: FileNumber) {
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: Field.byteCount)
    var process = StoredBytes(byteCount: 8)
    process.store(PosixFiles.processNumber, at: 0)
    process.store(UInt32(1), at: 4)
    put(process.bytes, at: Field.processes)
    put(Self.signature(identity, file), at: 0)
  }

  /// Says that this process has left; a poisoned store stays poisoned.
  func leave() { if isWritable { put([UInt8](repeating: 0, count: 8), at: Field.processes) } }

  /// Who holds the file, for people.
  static func holder(path: String) -> String {
    guard let file = try? LockFile(path: path, isWritable: false),
      file.bytes(Field.magic, 8) == Field.magicBytes, file.load(Field.processes) != 0
    else { return "another process" }
    let number = file.load(Field.processes)
    return number == PosixFiles.processNumber ? "this process" : "process \(number)"
  }
}
