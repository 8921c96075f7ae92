import CambiumFile
import Synchronization

/// A file that is bytes in memory.
final class MemoryDevice: Device {
  private let content: Mutex<[UInt8]>

  init(_ bytes: [UInt8] = []) { content = Mutex(bytes) }

  var bytes: [UInt8] { content.withLock { $0 } }

  func byteCount() throws(DeviceError) -> Int { content.withLock { $0.count } }

  func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DeviceError) -> Int {
    // Only carried into the lock.
    nonisolated(unsafe) let buffer = buffer
    return content.withLock { bytes in
      let found = bytes.dropFirst(offset).prefix(buffer.count)
      buffer.copyBytes(from: found)
      return found.count
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(DeviceError) {
    let added = Array(bytes)
    content.withLock { content in
      let end = offset + added.count
      if content.count < end {
        content += [UInt8](repeating: 0, count: end - content.count)
      }
      content.replaceSubrange(offset..<end, with: added)
    }
  }

  func sync() throws(DeviceError) {}

  func truncate(to byteCount: Int) throws(DeviceError) {
    content.withLock { bytes in
      if byteCount < bytes.count { bytes.removeLast(bytes.count - byteCount) }
    }
  }

  func map(byteCount: Int) throws(DeviceError) -> Mapping? { nil }
}
