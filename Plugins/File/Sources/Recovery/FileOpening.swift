import CambiumCore

/// Everything that opening a file finds out, before there is a store.
///
/// Changes nothing but the lock file, and creates the file if there is none.
///
/// Pointers: a sector is read into an array of its length, which is lent to the device for that call.
struct FileOpening {
  let path: String
  let options: FileStoreOptions
  let device: any Device
  let sector: IdentitySector
  /// The codec, bound to the file.
  let codec: (any PageCodec)?
  let memory: SharedMemory
  /// The slot of this user in the shared memory.
  let slot: Int
  let state: FileState
  let notes: [String]
  /// Whether a backup of the file's older form was made just now.
  var hasBackup = false

  static func open(
    path: String, options: FileStoreOptions
  ) throws(StoreError) -> FileOpening {
    if let makeDevice = options.device {
      let device = try makeDevice(path)
      if try device.perform(path: path, { device throws(DeviceError) in try device.byteCount() })
        == 0
      {
        try create(on: device, codec: options.codec, path: path)
      }
      let memory = options.memory ?? SharedMemory()
      if options.joins {
        let number = FileNumber(device: 0, inode: 0)
        let opening = try FileOpening(
          path: path, options: options, joining: device, number, memory)
        guard let opening else { throw .inUse(path: path, holder: "others") }
        return opening
      }
      return try FileOpening(
        path: path, options: options, device: device, memory: memory, lockFile: options.memory)
    }
    // Whoever was there may have left meanwhile; then the next try finds the file free.
    let timeout = Timeout()
    while true {
      let (device, number, role) = try FilePaths.openShared(path: path, options: options)
      switch role {
      case .alone:
        do throws(StoreError) {
          return try FileOpening(path: path, options: options, alone: device, number)
        } catch .mediumFull where options.isReadOnly {
          // There is no room to share what the log of the file has: nobody writes while it is read.
          _ = device.lock(byte: SharedLayout.DataByte.writer, .shared)
          _ = device.lock(byte: SharedLayout.DataByte.life, .shared)
          return try FileOpening(path: path, options: options, onlyReading: device, number)
        }
      case .joined:
        let memory = try SharedMemory(path: path)
        let opening = try FileOpening(
          path: path, options: options, joining: device, number, memory)
        if let opening { return opening }
        // Nobody may share memory who came before: then neither does who only reads.
        let hasReader = device.lockOfOthers(byte: SharedLayout.DataByte.writer) == .shared
        if hasReader, options.isReadOnly,
          device.lock(byte: SharedLayout.DataByte.writer, .shared) == 0
        {
          return try FileOpening(path: path, options: options, onlyReading: device, number)
        }
        _ = device.lock(byte: SharedLayout.DataByte.life, .unlocked)
        if !timeout.goOn() {
          throw .inUse(
            path: path,
            holder: hasReader
              ? WriterLock.reader
              : "a process that opened it by another name, or whose lock file was deleted")
        }
      case .onlyReading:
        return try FileOpening(path: path, options: options, onlyReading: device, number)
      }
    }
  }

  /// Opens a file that nobody writes while this user reads it.
  private init(
    path: String, options: FileStoreOptions, onlyReading device: PosixDevice, _ number: FileNumber
  ) throws(StoreError) {
    try self.init(
      path: path, options: options, device: device, memory: SharedMemory(),
      lockFile: SharedMemory.forReading(path: path), number)
  }

  /// Writes an empty store.
  static func create(
    on device: any Device, codec: (any PageCodec)?, path: String, number: StoreNumber = .random()
  ) throws(StoreError) {
    let (identity, parameters) = try IdentitySector.made(for: codec, number: number)
    let image = StoredBytes(byteCount: identity.firstBlock * FileLayout.blockByteCount) { fields in
      fields.store(identity.stored, at: FileLayout.identityOffset)
      fields.store(parameters, at: FileLayout.initialByteCount)
      for (slot, offset) in FileLayout.headOffsets.enumerated() {
        let head = HeadSector(sequence: UInt64(slot) + 1, identity: identity)
        fields.store(head.stored(in: identity, at: HeadSector.place(atByte: offset)), at: offset)
      }
    }
    try device.perform(path: path) { device throws(DeviceError) in
      try device.write(image.bytes, at: 0)
      try device.sync()
    }
  }

  /// Decides at which version the file opens, for a user who is alone with it or may not share
  /// memory.
  private init(
    path: String, options: FileStoreOptions, device: any Device, memory: SharedMemory,
    lockFile: SharedMemory? = nil, _ number: FileNumber = FileNumber(device: 0, inode: 0)
  ) throws(StoreError) {
    self.path = path
    self.options = options
    self.device = device
    self.memory = memory
    var words = lockFile?.words
    var found = try Found(device, options, knownTo: lockFile, number, path: path)
    // Others may settle or publish a version while the slots and the lock file are read, one after the other.
    for _ in 0..<100 where words != lockFile?.words {
      words = lockFile?.words
      found = try Found(device, options, knownTo: lockFile, number, path: path)
    }
    let recovery = found.recovery
    (sector, codec) = (found.sector, found.codec)
    // What was not settled yet must be known to whoever comes after a crash of this process.
    memory.reset(
      sector, number,
      recovery.recovered == nil
        ? .opened : found.wasPoisoned ? .recoveredAfterFailure : .recovered)
    if let records = found.storedRecords {
      let log = SharedLog(memory: memory)
      guard log.prepare(), log.put(records, at: 0) != nil else {
        throw StoreError(
          DeviceError(operation: "write", code: PosixFiles.noRoom), path: memory.path)
      }
    }
    var mark = recovery.mark
    mark.log = found.tail
    memory.publish(mark)
    memory.publish(recovery.newest, sector, through: found.logged?.head.version)
    slot = try ProcessTable(memory: memory).join(label: options.label, path: path)
    var state = FileState(
      newest: recovery.newest, slots: found.slots, mark: mark, words: memory.words,
      pins: PinBoard(memory: memory, slot: slot), fileByteCount: found.fileByteCount)
    state.recovered = recovery.recovered
    state.logged = found.logged
    for commit in found.smallCommits { state.note(commit) }
    self.state = state
    notes = found.notes
  }

  /// Opens a file of which this user is the only one, and lets others in.
  private init(
    path: String, options: FileStoreOptions, alone device: PosixDevice, _ number: FileNumber
  ) throws(StoreError) {
    // Looked at before there is one to write to: a file that cannot be opened gets no lock file.
    let (sector, _) = try Self.readIdentity(device, options, path: path)
    var lockFile = try SharedMemory(path: path)
    if !lockFile.matches(sector, number), !ProcessTable(memory: lockFile).entries.isEmpty {
      // Their file had this name. They go on with a lock file that has no name any more.
      PosixFiles.remove(SharedMemory.path(for: path))
      lockFile = try SharedMemory(path: path)
    }
    do throws(StoreError) {
      try self.init(
        path: path, options: options, device: device, memory: lockFile, lockFile: lockFile, number)
    } catch {
      // Nobody else has it: who wants to would have to be let in first.
      if lockFile.isNew { PosixFiles.remove(SharedMemory.path(for: path)) }
      throw error
    }
    _ = device.lock(byte: SharedLayout.DataByte.life, .shared)
  }

  /// Opens a file that others use; nil when the lock file is not theirs.
  private init?(
    path: String, options: FileStoreOptions, joining device: any Device, _ number: FileNumber,
    _ memory: SharedMemory
  ) throws(StoreError) {
    self.path = path
    self.options = options
    self.device = device
    self.memory = memory
    (sector, codec) = try Self.readIdentity(device, options, path: path)
    let words = memory.words
    guard memory.matches(sector, number), let live = memory.live(sector),
      let mark = memory.durableMark
    else {
      if let layout = memory.layoutVersion(sector), layout != SharedLayout.version {
        throw .unsupportedFormat(
          path: SharedMemory.path(for: path), version: Int(layout),
          supported: Int(SharedLayout.version))
      }
      return nil
    }
    slot = try ProcessTable(memory: memory).join(label: options.label, path: path)
    var state = FileState(
      newest: live.head, slots: try Self.readSlots(device, identity: sector, path: path),
      mark: mark,
      words: words, pins: PinBoard(memory: memory, slot: slot),
      fileByteCount: try Self.fileByteCount(device, path: path))
    // The log is looked at with the first read.
    if live.isLogged { state.seenLive = .max }
    self.state = state
    notes = []
  }

  /// The length of the file in whole blocks, in bytes.
  static func fileByteCount(_ device: any Device, path: String) throws(StoreError) -> Int {
    let count = try device.perform(path: path) { device throws(DeviceError) in
      try device.byteCount()
    }
    guard count >= FileLayout.initialByteCount else {
      throw .truncated(path: path, byteCount: count, expected: FileLayout.initialByteCount)
    }
    return count / FileLayout.blockByteCount * FileLayout.blockByteCount
  }

  /// The identity of the file behind `device`.
  static func readIdentity(_ device: any Device, path: String) throws(StoreError) -> IdentitySector
  {
    let stored = try readSector(device, at: FileLayout.identityOffset, path: path)
    do throws(StoreError) {
      return try IdentitySector(stored: stored, path: path)
    } catch {
      guard case .damaged = error,
        let copy = try? IdentitySector(
          stored: readSector(device, at: FileLayout.identityCopyOffset, path: path), path: path)
      else { throw error }
      var identity = copy
      identity.isCopy = true
      return identity
    }
  }

  /// The identity of the file behind `device`, if this library can use it as `options` say, with its
  /// codec bound to it.
  static func readIdentity(
    _ device: any Device, _ options: FileStoreOptions, path: String
  ) throws(StoreError) -> (IdentitySector, (any PageCodec)?) {
    var sector = try readIdentity(device, path: path)
    try sector.check(
      path: path, codec: options.codec?.name ?? "", isReadOnly: options.isReadOnly)
    let codec = try sector.bind(options.codec, device, path: path)
    return (sector, codec)
  }

  /// Both slots; nil for one that holds no whole head of this file.
  static func readSlots(
    _ device: any Device, identity: IdentitySector, path: String
  ) throws(StoreError) -> [HeadSector?] {
    var slots: [HeadSector?] = []
    for offset in FileLayout.headOffsets {
      let stored = try readSector(device, at: offset, path: path)
      let place = HeadSector.place(atByte: offset)
      slots.append(HeadSector(stored: stored, identity: identity, at: place))
    }
    return slots
  }

  /// The sector at `offset`, or what there is of it.
  static func readSector(
    _ device: any Device, at offset: Int, path: String
  ) throws(StoreError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: FileLayout.sectorByteCount)
    let result = unsafe bytes.withUnsafeMutableBytes { buffer in
      Result<Int, DeviceError> { () throws(DeviceError) in
        try unsafe device.read(buffer, at: offset)
      }
    }
    do throws(DeviceError) {
      return Array(bytes[..<(try result.get())])
    } catch {
      throw StoreError(error, path: path)
    }
  }
}
