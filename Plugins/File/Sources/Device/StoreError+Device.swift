import CambiumCore

extension StoreError {
  /// Says what a refused operation means for the store at `path`.
  init(_ error: DeviceError, path: String) {
    if PosixFiles.full.contains(error.code) {
      self = .mediumFull(path: path)
    } else if PosixFiles.refused.contains(error.code) {
      self = .permissionDenied(path: path, operation: error.operation)
    } else {
      self = .system(operation: error.operation, path: path, code: error.code)
    }
  }
}

extension Device {
  /// Runs an operation of this device and translates its error.
  func perform<Value>(
    path: String, _ body: (Self) throws(DeviceError) -> Value
  ) throws(StoreError) -> Value {
    do throws(DeviceError) {
      return try body(self)
    } catch {
      throw StoreError(error, path: path)
    }
  }

  /// The `byteCount` bytes at `offset`, followed by 64 zero bytes; throws when the file ends before.
  func readPage(at offset: Int, byteCount: Int, path: String) throws(StoreError) -> PageBuffer {
    let buffer = unsafe PageBuffer(uninitialized: byteCount)
    let count = try perform(path: path) { device throws(DeviceError) in
      try unsafe device.read(
        UnsafeMutableRawBufferPointer(start: buffer.bytes, count: byteCount), at: offset)
    }
    guard count == byteCount else {
      throw .damaged(
        Damage(.reference, "\(byteCount) bytes at byte \(offset) reach behind the end of the file"))
    }
    return buffer
  }

  /// Writes `bytes` at `offset`.
  func write(_ bytes: [UInt8], at offset: Int) throws(DeviceError) {
    try unsafe bytes.withBytes { buffer throws(DeviceError) in
      try unsafe write(buffer, at: offset)
    }
  }
}
