/// Where things lie in the memory that the users of one file share.
///
/// All integers are little-endian.
///
///      0       8        16     32      40      48     64         128     192    256
///     | magic | layout | uuid | device | inode | boot | own inode | words | live | durable | …
///      320          1344           2048                     10240
///     | live heads | durable marks | processes (64 × 128) | pins (1024 × 128) | log (1 MiB) |
///
/// What is before the words identifies the file and the boot this memory speaks of. The log is there once a small
/// commit has needed it.
enum SharedLayout {
  static let magicBytes: [UInt8] = [0x43, 0x6d, 0x62, 0x4c, 0x6f, 0x63, 0x6b, 0x0a]
  static let version: UInt32 = 15

  static let magic = 0
  static let layout = magic + 8
  static let uuid = layout + 8
  static let device = uuid + 16
  static let inode = device + 8
  static let boot = inode + 8
  /// The inode of the lock file itself: a copy of it is not it.
  static let ownInode = boot + 16
  static let signatureByteCount = ownInode + 8

  /// What has to happen before the file may be written; a ``SharedMemory/Condition``.
  static let condition = 128
  /// Rises with each commit, and how many wait for it: the two words of a commit signal.
  static let commits = condition + 4
  /// Rises when the writer lock goes to another process; what polite writers sleep on.
  static let acquisitions = commits + 8
  /// The process slot, plus one, of the last writer.
  static let lastWriter = acquisitions + 4
  /// The number of the last wait for the writer lock.
  static let waits = lastWriter + 4
  /// Rises with each change of a pin.
  static let pinChanges = waits + 4
  /// No pin entry at or behind this index was ever used.
  static let pinLimit = pinChanges + 4
  /// How many bytes commits have written since the last sync.
  static let unsynced = 160
  /// Who writes a head of which the durable mark does not tell yet: twice the process slot plus one, plus
  /// one if that user holds the writer lock; zero for nobody.
  static let headWriter = 168
  /// Rises when a user comes or goes.
  static let userChanges = headWriter + 4
  /// Whether somebody syncs the file; a ``SharedMemory/SyncState``.
  static let syncState = userChanges + 4

  /// The newest version with a count and which of the two live heads it has or follows; all ones for none.
  ///
  /// See ``SharedMemory/LiveWord``.
  static let live = 192
  /// Rises with each change of the durable mark; its lowest bit says which of the two is valid.
  static let durable = 256
  static let liveHeads = 320
  static let durableMarks = liveHeads + 2 * FileLayout.sectorByteCount
  static let durableMarkByteCount = 128

  /// Per process: its state, its number, and who it says it is.
  enum Process {
    static let first = 2048
    static let byteCount = 128
    static let count = 64
    /// Not zero while the slot is used.
    static let state = 0
    static let number = 4
    /// The number of its wait for the writer lock; zero while it does not wait.
    static let waiting = 8
    /// When it began, in nanoseconds since 1970.
    static let since = 16
    /// Up to which version it knows the free space; all ones while it does not.
    static let spaceVersion = 24
    static let label = 32
    static let labelByteCount = byteCount - label

    static func offset(_ slot: Int) -> Int { first + slot * byteCount }
  }

  /// Per pin: who holds which versions.
  ///
  /// The first entries belong to one process slot each, so that
  /// nobody is ever without.
  enum Pin {
    static let first = Process.first + Process.count * Process.byteCount
    static let byteCount = 128
    static let count = 1024
    /// The process slot, plus one; zero while the entry is free.
    static let owner = 0
    /// The versions that it holds, both included; none while `low` is all ones.
    static let low = 8
    static let high = 16
    /// When it began, in nanoseconds since 1970.
    static let since = 24

    static func offset(_ entry: Int) -> Int { first + entry * byteCount }
  }

  /// What is there from the beginning.
  static let byteCount = Pin.first + Pin.count * Pin.byteCount
  /// Where the records of small commits lie.
  static let log = (byteCount + 4095) / 4096 * 4096
  static let logByteCount = 1 << 20
  /// What is mapped, whether or not the log is there.
  static let mappedByteCount = log + logByteCount

  /// The bytes of the data file that are locked, far behind its end.
  ///
  /// Part of the layout.
  enum DataByte {
    private static let base: Int64 = 1 << 62
    /// Held shared by everybody, exclusively by who is alone.
    static let life = base
    /// Held exclusively by the writer; shared by who may read the file but not share memory.
    static let writer = base + 1
    /// Held by who writes slots and syncs.
    static let slots = base + 2
    /// Held by who compacts the file.
    static let compaction = base + 3
  }

  /// The bytes of the lock file that are locked.
  enum LockByte {
    private static let base: Int64 = 1 << 62
    /// Held while a process slot is taken or cleared.
    static let processes = base
    /// One per process slot, held while it is used.
    static let firstProcess = base + 64
  }
}
