import CambiumCore

/// Everything that opening a file finds out, before there is a store.
///
/// Changes nothing but the lock file, and creates the file if there is none.
struct FileOpening {
  let path: String
  let options: FileStoreOptions
  let device: any Device
  let sector: IdentitySector
  let lockFile: LockFile?
  let state: FileState
  let notes: [String]

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
      return try FileOpening(path: path, options: options, device: device, file: nil)
    }
    let (device, file) = try FilePaths.openLocked(path: path, options: options)
    return try FileOpening(path: path, options: options, device: device, file: file)
  }

  /// Writes an empty store.
  static func create(
    on device: any Device, codec: String, path: String
  ) throws(StoreError) {
    let limit = FileLayout.Identity.codecByteCount
    guard codec.utf8.count <= limit else {
      throw .tooLarge(what: "A codec's name", byteCount: codec.utf8.count, limit: limit)
    }
    let identity = IdentitySector(codec: codec)
    var image = StoredBytes(byteCount: FileLayout.initialByteCount)
    image.store(identity.stored, at: FileLayout.identityOffset)
    for (slot, offset) in FileLayout.headOffsets.enumerated() {
      let head = HeadSector(sequence: UInt64(slot) + 1, identity: identity)
      image.store(head.stored, at: offset)
    }
    try device.perform(path: path) { device throws(DeviceError) in
      try device.write(image.bytes, at: 0)
      try device.sync()
    }
  }

  private init(
    path: String, options: FileStoreOptions, device: any Device, file: FileNumber?
  ) throws(StoreError) {
    self.path = path
    self.options = options
    self.device = device
    sector = try Self.readIdentity(device, path: path)
    try sector.check(path: path, codec: options.codec, isReadOnly: options.isReadOnly)
    let slots = try Self.readSlots(device, identity: sector, path: path)
    let fileByteCount = try device.perform(path: path) { device throws(DeviceError) in
      try device.byteCount()
    }
    guard fileByteCount >= FileLayout.initialByteCount else {
      throw .truncated(
        path: path, byteCount: fileByteCount, expected: FileLayout.initialByteCount)
    }
    var live: HeadSector?
    var wasPoisoned = false
    if let file {
      lockFile = try LockFile(path: path, isWritable: !options.isReadOnly)
      if let lockFile, lockFile.matches(sector, file) {
        live = lockFile.liveHead(sector)
        wasPoisoned = lockFile.isPoisoned
      }
    } else {
      lockFile = nil
    }
    let recovery = try Recovery(
      slots: slots, live: live, wasPoisoned: wasPoisoned, identity: sector, device: device,
      path: path, fileByteCount: fileByteCount)
    state = recovery.state
    notes = recovery.notes
    if let lockFile, let file, !options.isReadOnly {
      lockFile.reset(sector, file)
      lockFile.publish(state.newest)
      // What was not settled yet must be known to whoever comes after a crash of this process.
      if wasPoisoned { lockFile.poison() }
    }
  }

  /// The identity of the file behind `device`.
  static func readIdentity(_ device: any Device, path: String) throws(StoreError) -> IdentitySector
  {
    try IdentitySector(
      stored: readSector(device, at: FileLayout.identityOffset, path: path), path: path)
  }

  /// Both slots; nil for one that holds no whole head of this file.
  static func readSlots(
    _ device: any Device, identity: IdentitySector, path: String
  ) throws(StoreError) -> [HeadSector?] {
    var slots: [HeadSector?] = []
    for offset in FileLayout.headOffsets {
      let stored = try readSector(device, at: offset, path: path)
      slots.append(HeadSector(stored: stored, identity: identity))
    }
    return slots
  }

  private static func readSector(
    _ device: any Device, at offset: Int, path: String
  ) throws(StoreError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: FileLayout.sectorByteCount)
    let result = bytes.withUnsafeMutableBytes { buffer in
      Result<Int, DeviceError> { () throws(DeviceError) in try device.read(buffer, at: offset) }
    }
    do throws(DeviceError) {
      return Array(bytes[..<(try result.get())])
    } catch {
      throw StoreError(error, path: path)
    }
  }
}
