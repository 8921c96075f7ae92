import CambiumFile
import Synchronization

/// A file in memory.
final class MemoryDevice: Device {
  private let content: Mutex<[UInt8]>

  init(_ bytes: [UInt8] = []) { content = Mutex(bytes) }

  /// What it holds.
  var bytes: [UInt8] { content.withLock { $0 } }

  func byteCount() throws(DeviceError) -> Int { content.withLock { $0.count } }

  func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DeviceError) -> Int {
    content.withLock { content in
      guard offset >= 0, offset < content.count else { return 0 }
      let end = min(content.count, offset + buffer.count)
      content.withUnsafeBytes { bytes in
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<end]))
      }
      return end - offset
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(DeviceError) {
    try content.withLock { content throws(DeviceError) in
      // A damaged file may make its store write far behind its end; a disk would be full then.
      guard offset + bytes.count <= 64 << 20 else {
        throw DeviceError(operation: "write", code: 28)
      }
      let missing = offset + bytes.count - content.count
      if missing > 0 { content.append(contentsOf: repeatElement(0, count: missing)) }
      content.withUnsafeMutableBytes { content in
        UnsafeMutableRawBufferPointer(rebasing: content[offset..<(offset + bytes.count)])
          .copyMemory(from: bytes)
      }
    }
  }

  func sync() throws(DeviceError) {}

  func truncate(to byteCount: Int) throws(DeviceError) {
    content.withLock { content in
      if byteCount < content.count { content.removeLast(content.count - byteCount) }
    }
  }

  func map(byteCount: Int) throws(DeviceError) -> Mapping? { nil }
}
