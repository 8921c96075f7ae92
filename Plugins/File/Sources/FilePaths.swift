import CambiumCore

/// From a path to a locked file, created when there is none.
enum FilePaths {
  /// Opens the file at `path` and locks it for this user: exclusively, or together with others who
  /// only read.
  static func openLocked(
    path: String, options: FileStoreOptions
  ) throws(StoreError) -> (PosixDevice, FileNumber) {
    for _ in 0..<100 {
      let (device, isNew) = try open(path: path, isReadOnly: options.isReadOnly)
      try lock(device, path: path, options.isReadOnly ? .shared : .exclusive)
      // The file may have been replaced while it was being opened; the lock is on what was opened.
      guard let number = device.fileNumber(),
        case .file(number, let byteCount) = PosixFiles.kind(of: path)
      else { continue }
      if byteCount > 0 { return (device, number) }
      if options.isReadOnly { throw .notAStore(path: path, reason: "it is empty") }
      do throws(StoreError) {
        let created = try create(path: path, codec: options.codec)
        guard let number = created.fileNumber() else { continue }
        // `device` keeps the lock on the empty file until here, so that nobody else creates.
        withExtendedLifetime(device) {}
        return (created, number)
      } catch {
        if isNew { PosixFiles.remove(path) }
        throw error
      }
    }
    // Somebody keeps replacing the file, or the file system does not know its own files.
    throw StoreError(DeviceError(operation: "lock", code: PosixFiles.wouldBlock), path: path)
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
        if error.code == PosixFiles.exists { return try open(path: path, isReadOnly: false) }
        if error.code == PosixFiles.missing { throw .parentNotFound(path: path) }
        throw StoreError(DeviceError(operation: "create", code: error.code), path: path)
      }
    case .file:
      switch PosixFiles.open(path, isReadOnly ? .read : .readWrite) {
      case .success(let descriptor): return (PosixDevice(descriptor: descriptor), false)
      case .failure(let error): throw StoreError(error, path: path)
      }
    }
  }

  private static func lock(
    _ device: PosixDevice, path: String, _ mode: PosixDevice.LockMode
  ) throws(StoreError) {
    let code = device.lock(byte: LockFile.LockByte.life, mode)
    if code == 0 { return }
    if code == PosixFiles.wouldBlock {
      throw .inUse(path: path, holder: LockFile.holder(path: path))
    }
    throw StoreError(DeviceError(operation: "lock", code: code), path: path)
  }

  /// Puts a new store in the place of the empty, locked file at `path`: whole, or not at all.
  private static func create(path: String, codec: String) throws(StoreError) -> PosixDevice {
    let target = PosixFiles.resolved(path)
    let temporary = target + ".creating"
    let device: PosixDevice
    switch PosixFiles.open(temporary, .replace) {
    case .success(let descriptor): device = PosixDevice(descriptor: descriptor)
    case .failure(let error):
      throw StoreError(DeviceError(operation: "create", code: error.code), path: path)
    }
    do throws(StoreError) {
      try FileOpening.create(on: device, codec: codec, path: path)
      try lock(device, path: path, .exclusive)
      try device.perform(path: path) { _ throws(DeviceError) in
        try PosixFiles.rename(temporary, to: target)
        try PosixFiles.syncFolder(of: target)
      }
      return device
    } catch {
      PosixFiles.remove(temporary)
      throw error
    }
  }
}
