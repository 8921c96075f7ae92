import CambiumCore

/// What a file says of itself, read without opening it as a store.
public struct FileInspection: Hashable, Sendable {
  /// What one of the two slots holds.
  public struct Slot: Hashable, Sendable {
    /// The newer slot has the higher number.
    public var sequence: UInt64
    /// The version it names.
    public var head: Head
    /// The newest version that was known to be durable when it was written.
    public var durableVersion: Version
    /// Whether the version itself was known to be durable.
    public var isSettled: Bool
  }

  /// A version that a user of the file holds.
  public struct Pin: Hashable, Sendable {
    /// The number of the process.
    public var processNumber: UInt32
    /// What the user calls itself, as in its ``FileStoreOptions/label``.
    public var label: String
    /// The version; several when a user holds more than there is room to list one by one.
    public var versions: ClosedRange<Version>
    /// When it was pinned, in nanoseconds since 1970.
    public var since: UInt64
  }

  /// What the store is.
  public var identity: StoreIdentity
  /// How long the file is.
  public var fileByteCount: Int
  /// Both slots, which small commits may follow in the log of the file; nil for one that holds no whole head, or a
  /// sealed one when no codec was given.
  public var slots: [Slot?]
  /// Who has the file open, for people; nil when nobody has.
  public var holder: String?
  /// The versions that the users of the file hold, oldest first.
  public var pins: [Pin]
}

extension FileStore {
  /// Reads identity and heads of the file at `path`, even while somebody uses it.
  ///
  /// Changes nothing. With the codec of an encrypted file its heads can be read, too.
  ///
  /// Throws as ``init(path:options:)`` does for files that are not stores of this format.
  public static func inspect(
    path: String, codec: (any PageCodec)? = nil
  ) throws(StoreError) -> FileInspection {
    let (device, _) = try FilePaths.open(path: path, isReadOnly: true)
    var sector = try FileOpening.readIdentity(device, path: path)
    _ = try sector.bind(codec, device, path: path)
    let slots = try FileOpening.readSlots(device, identity: sector, path: path)
    let fileByteCount = try device.perform(path: path) { device throws(DeviceError) in
      try device.byteCount()
    }
    let users = device.lockOfOthers(byte: SharedLayout.DataByte.life)
    let identity = StoreIdentity(
      kind: sector.kind, path: path, uuid: (sector.uuidHigh, sector.uuidLow),
      formatVersion: sector.formatVersion, codec: sector.codec, isReadOnly: true)
    return FileInspection(
      identity: identity, fileByteCount: fileByteCount,
      slots: slots.map { slot in
        slot.map {
          FileInspection.Slot(
            sequence: $0.sequence, head: $0.head, durableVersion: $0.durable,
            isSettled: $0.isSettled)
        }
      },
      holder: users == .unlocked ? nil : FilePaths.holder(path: path),
      pins: users == .unlocked ? [] : pins(path: path, sector, device.fileNumber()))
  }

  private static func pins(
    path: String, _ sector: IdentitySector, _ number: FileNumber?
  ) -> [FileInspection.Pin] {
    guard let memory = SharedMemory.forReading(path: path), let number,
      memory.matches(sector, number)
    else { return [] }
    let users = ProcessTable(memory: memory).entries
    return PinTable(memory: memory).entries().compactMap { pin in
      guard let user = users.first(where: { $0.slot == pin.ownerSlot }) else { return nil }
      return FileInspection.Pin(
        processNumber: user.processNumber, label: user.label, versions: pin.versions,
        since: pin.since)
    }.sorted { $0.versions.lowerBound < $1.versions.lowerBound }
  }

  /// Puts the store at `newPath` in the place of the one at `path`, in one rename that survives
  /// power loss.
  ///
  /// Both must be closed; they may differ in everything but being stores.
  ///
  /// Throws `StoreError.inUse(path:holder:)` when somebody uses one of them, or when the newest head
  /// of the replaced store, whose pages go through `codec`, is no longer `head`, if one is given;
  /// then, and on any other error, both files are as they were. Only when the folder cannot be synced after the
  /// rename, the new one has taken the place, and power loss may bring the old one back.
  public static func replace(
    path: String, with newPath: String, expecting head: Head? = nil,
    codec: (any PageCodec)? = nil
  ) throws(StoreError) {
    let target = PosixFiles.resolved(path)
    let (old, oldNumber) = try lockedForReplacing(target)
    if let head {
      let found = try FileOpening.Found(
        old, FileStoreOptions(isReadOnly: true, codec: codec),
        knownTo: SharedMemory.forReading(path: target), oldNumber, path: target)
      guard found.newestHead == head else {
        throw .inUse(path: path, holder: "another program, which has just changed it")
      }
    }
    let (new, newNumber) = try lockedForReplacing(newPath)
    precondition(oldNumber != newNumber, "A store cannot replace itself; name another file.")
    let folder = try new.perform(path: newPath) { device throws(DeviceError) in
      let folder = try PosixFiles.openFolder(of: target)
      try device.sync()
      try PosixFiles.rename(newPath, to: target)
      return folder
    }
    // Both files are locked until the lock files are gone.
    defer { withExtendedLifetime((old, new)) {} }
    PosixFiles.remove(SharedMemory.path(for: newPath))
    PosixFiles.remove(SharedMemory.path(for: target))
    try folder.perform(path: path) { folder throws(DeviceError) in try folder.sync() }
  }

  private static func lockedForReplacing(
    _ path: String
  ) throws(StoreError) -> (PosixDevice, FileNumber) {
    let held = try FilePaths.openExclusively(path, named: path, for: "replace")
    guard let (device, number) = held else { throw .notFound(path: path) }
    _ = try FileOpening.readIdentity(device, path: path)
    return (device, number)
  }
}
