import CambiumCore

/// From a path to a locked file, created when there is none.
enum FilePaths {
  /// What a user of a file is to the others.
  enum Role {
    /// There are no others; the file is locked against them until this user lets them in.
    case alone
    /// Others share the file.
    case joined
    /// This user may not write to the file, and thus not share memory; writers are locked out.
    case onlyReading
  }

  /// Opens the file at `path`, creates it if there is none, and locks it together with others.
  static func openShared(
    path: String, options: FileStoreOptions
  ) throws(StoreError) -> (PosixDevice, FileNumber, Role) {
    let timeout = Timeout()
    while true {
      let (device, isNew, isWritable) = try openForSharing(path: path, options: options)
      let role = try enter(device, isWritable: isWritable, path: path, timeout)
      // The file may have been replaced while it was being opened; the lock is on what was opened.
      guard let role else { continue }
      guard let number = device.fileNumber(),
        case .file(number, let byteCount) = PosixFiles.kind(of: path)
      else {
        if timeout.goOn() { continue }
        throw StoreError(DeviceError(operation: "lock", code: PosixFiles.wouldBlock), path: path)
      }
      if byteCount > 0 { return (device, number, role) }
      // An empty file has no users yet; somebody else who opens it makes a store of it.
      guard role == .alone else {
        if timeout.goOn() { continue }
        throw .notAStore(path: path, reason: "it is empty")
      }
      if options.isReadOnly { throw .notAStore(path: path, reason: "it is empty") }
      let created = try fill(device, isNew: isNew, path: path, codec: options.codec)
      guard let number = created.fileNumber() else { continue }
      return (created, number, .alone)
    }
  }

  /// Opens the file at `path`, which `name` leads to, and locks `bytes` of it against all others; nil when there is
  /// none.
  static func openExclusively(
    _ path: String, named name: String, for operation: String,
    locking bytes: [Int64] = [SharedLayout.DataByte.life]
  ) throws(StoreError) -> (PosixDevice, FileNumber)? {
    for _ in 0..<100 {
      switch PosixFiles.kind(of: path) {
      case .missing: return nil
      case .other(let found): throw .notAFile(path: name, found: found)
      case .failed(let code):
        throw StoreError(DeviceError(operation: operation, code: code), path: name)
      case .file: break
      }
      let device: PosixDevice
      switch PosixFiles.open(path, .readWrite) {
      case .success(let descriptor): device = PosixDevice(descriptor: descriptor)
      case .failure(let error) where error.code == PosixFiles.missing: return nil
      case .failure(let error):
        throw StoreError(DeviceError(operation: operation, code: error.code), path: name)
      }
      for byte in bytes { try lock(device, byte, path, named: name) }
      // It may have been replaced, or deleted, before it was locked.
      if let number = device.fileNumber(), case .file(number, _) = PosixFiles.kind(of: path) {
        return (device, number)
      }
    }
    // Somebody keeps replacing the file, or the file system does not know its own files.
    throw StoreError(DeviceError(operation: "lock", code: PosixFiles.wouldBlock), path: name)
  }

  private static func lock(
    _ device: PosixDevice, _ byte: Int64, _ path: String, named name: String
  ) throws(StoreError) {
    let code = device.lock(byte: byte, .exclusive)
    if code == 0 { return }
    guard code == PosixFiles.wouldBlock else {
      throw StoreError(DeviceError(operation: "lock", code: code), path: name)
    }
    throw .inUse(
      path: name,
      holder: byte == SharedLayout.DataByte.life
        ? holder(path: path) : "somebody who compacts it")
  }

  /// Who only wants to read opens for writing all the same, where that is allowed: sharing takes it.
  private static func openForSharing(
    path: String, options: FileStoreOptions
  ) throws(StoreError) -> (PosixDevice, isNew: Bool, isWritable: Bool) {
    if options.isReadOnly {
      if options.readersShare, case .file = PosixFiles.kind(of: path),
        case .success(let descriptor) = PosixFiles.open(path, .readWrite)
      {
        let device = PosixDevice(descriptor: descriptor)
        // Sharing takes the lock file as well.
        if PosixFiles.canShareMemory(beside: path) { return (device, false, true) }
      }
      let (device, isNew) = try open(path: path, isReadOnly: true)
      return (device, isNew, false)
    }
    let (device, isNew) = try open(path: path, isReadOnly: false)
    return (device, isNew, true)
  }

  /// Locks an opened file; nil when it is better to try again.
  private static func enter(
    _ device: PosixDevice, isWritable: Bool, path: String, _ timeout: Timeout
  ) throws(StoreError) -> Role? {
    typealias Byte = SharedLayout.DataByte
    func attempt(_ byte: Int64, _ mode: PosixDevice.LockMode) throws(StoreError) -> Bool {
      let code = device.lock(byte: byte, mode)
      guard code == 0 || code == PosixFiles.wouldBlock else {
        throw StoreError(DeviceError(operation: "lock", code: code), path: path)
      }
      return code == 0
    }
    if isWritable, try attempt(Byte.life, .exclusive) { return .alone }
    if try attempt(Byte.life, .shared) {
      if isWritable { return .joined }
      if try attempt(Byte.writer, .shared) { return .onlyReading }
    }
    // Opening and closing hold the file alone for a moment; compaction does for as long as it takes.
    if timeout.goOn() { return nil }
    throw .inUse(path: path, holder: holder(path: path))
  }

  private static func fill(
    _ device: PosixDevice, isNew: Bool, path: String, codec: (any PageCodec)?
  ) throws(StoreError) -> PosixDevice {
    do throws(StoreError) {
      let created = try create(path: path, codec: codec)
      // `device` keeps the lock on the empty file until here, so that nobody else creates.
      withExtendedLifetime(device) {}
      return created
    } catch {
      // Unless the store is there, and only the folder could not be synced.
      if isNew, let number = device.fileNumber(), case .file(number, _) = PosixFiles.kind(of: path)
      {
        PosixFiles.remove(path)
      }
      throw error
    }
  }

  /// Who uses the file at `path`, besides the user in slot `own`, for people.
  static func holder(path: String, besides own: Int? = nil) -> String {
    guard let memory = SharedMemory.forReading(path: path) else { return "another process" }
    let users = ProcessTable(memory: memory).entries.filter { $0.slot != own }.map { entry in
      entry.processNumber == PosixFiles.processNumber
        ? "this process" : "process \(entry.processNumber)"
    }
    var names: [String] = []
    for name in users where !names.contains(name) { names.append(name) }
    return names.isEmpty ? "another process" : names.joined(separator: ", ")
  }

  /// Opens what is at `path`, or makes an empty file there; whether it did.
  static func open(path: String, isReadOnly: Bool) throws(StoreError) -> (PosixDevice, Bool) {
    switch PosixFiles.kind(of: path) {
    case .other(let found): throw .notAFile(path: path, found: found)
    case .failed(let code):
      if code == PosixFiles.notADirectory { throw .parentNotFound(path: path) }
      throw StoreError(DeviceError(operation: "open", code: code), path: path)
    case .missing:
      if isReadOnly { throw .notFound(path: path) }
      switch PosixFiles.open(path, .create) {
      case .success(let descriptor): return (PosixDevice(descriptor: descriptor), true)
      case .failure(let error):
        // Somebody else was quicker.
        if error.code == PosixFiles.exists {
          if case .missing = PosixFiles.kind(of: path) {
            throw .notAFile(path: path, found: "a symbolic link that leads nowhere")
          }
          return try open(path: path, isReadOnly: false)
        }
        if error.code == PosixFiles.missing { throw .parentNotFound(path: path) }
        throw StoreError(DeviceError(operation: "create", code: error.code), path: path)
      }
    case .file:
      switch PosixFiles.open(path, isReadOnly ? .read : .readWrite) {
      case .success(let descriptor): return (PosixDevice(descriptor: descriptor), false)
      case .failure(let error):
        // It was deleted just then.
        if error.code == PosixFiles.missing, case .missing = PosixFiles.kind(of: path) {
          return try open(path: path, isReadOnly: isReadOnly)
        }
        throw StoreError(error, path: path)
      }
    }
  }

  /// Puts a new store in the place of the empty, locked file at `path`: whole, or not at all.
  private static func create(
    path: String, codec: (any PageCodec)?
  ) throws(StoreError) -> PosixDevice {
    let target = PosixFiles.resolved(path)
    let temporary = target + ".creating"
    let device: PosixDevice
    // What a killed creation has left: nobody else creates while `path` is locked.
    PosixFiles.remove(temporary)
    switch PosixFiles.open(temporary, .create) {
    case .success(let descriptor): device = PosixDevice(descriptor: descriptor)
    case .failure(let error):
      throw StoreError(DeviceError(operation: "create", code: error.code), path: path)
    }
    PosixFiles.shareRights(of: target, with: device.descriptor)
    do throws(StoreError) {
      try FileOpening.create(on: device, codec: codec, path: path)
      try lock(device, SharedLayout.DataByte.life, path, named: path)
      try device.perform(path: path) { _ throws(DeviceError) in
        let folder = try PosixFiles.openFolder(of: target)
        try PosixFiles.rename(temporary, to: target)
        try folder.sync()
      }
      return device
    } catch {
      PosixFiles.remove(temporary)
      throw error
    }
  }
}

/// How long opening waits for others who hold the file alone for a moment: two thousand looks, a
/// millisecond apart.
///
/// No clock decides: a process that was stopped, or whose machine was, has waited no longer for that.
final class Timeout {
  private var looksLeft = 2000
  private let pause: () -> Void

  /// `pause` passes the time between two looks.
  init(pause: @escaping () -> Void = { PosixFiles.pause(nanoseconds: 1_000_000) }) {
    self.pause = pause
  }

  /// Waits a moment; false when the time is up.
  func goOn() -> Bool {
    guard looksLeft > 0 else { return false }
    looksLeft -= 1
    pause()
    return true
  }
}
