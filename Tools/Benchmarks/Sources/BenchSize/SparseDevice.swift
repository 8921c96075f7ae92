import CambiumFile
import Foundation
import Synchronization

/// A file in which zeros behind the end are a hole, and which counts what is written.
final class SparseDevice: Device {
  private let descriptor: Int32
  private let written = Atomic(0)

  init(path: String) throws(DeviceError) {
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    if descriptor < 0 { throw DeviceError(operation: "open", code: errno) }
  }

  deinit { close(descriptor) }

  /// How many bytes were written so far that are not zeros behind the end.
  var writtenByteCount: Int { written.load(ordering: .relaxed) }

  func byteCount() throws(DeviceError) -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw DeviceError(operation: "measure", code: errno)
    }
    return Int(status.st_size)
  }

  func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DeviceError) -> Int {
    var done = 0
    while done < buffer.count {
      let count = pread(
        descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done, off_t(offset + done))
      if count < 0 { throw DeviceError(operation: "read", code: errno) }
      if count == 0 { break }
      done += count
    }
    return done
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(DeviceError) {
    if try offset >= byteCount(), bytes.allSatisfy({ $0 == 0 }) {
      return try truncate(to: offset + bytes.count)
    }
    written.add(bytes.count, ordering: .relaxed)
    var done = 0
    while done < bytes.count {
      let count = pwrite(
        descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(offset + done))
      if count < 0 { throw DeviceError(operation: "write", code: errno) }
      done += count
    }
  }

  func sync() throws(DeviceError) {
    guard fdatasync(descriptor) == 0 else { throw DeviceError(operation: "sync", code: errno) }
  }

  func truncate(to byteCount: Int) throws(DeviceError) {
    guard ftruncate(descriptor, off_t(byteCount)) == 0 else {
      throw DeviceError(operation: "truncate", code: errno)
    }
  }

  func map(byteCount: Int) throws(DeviceError) -> Mapping? { nil }
}
