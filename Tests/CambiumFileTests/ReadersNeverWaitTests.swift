import CambiumCore
import Synchronization
import TestSupport
import Testing

@testable import CambiumFile

/// Beginning, going on with and ending a read waits for no writer.
struct ReadersNeverWaitTests {
  private static func options(_ device: any Device) -> FileStoreOptions {
    var options = FileStoreOptions()
    options.device = { _ in device }
    return options
  }

  /// A file with one value, of which nothing is in memory.
  private static func file() throws -> HookedDevice {
    let device = HookedDevice()
    let maker = try Database(store: FileStore(path: "simulated", options: options(device)))
    let transaction = try maker.beginWrite()
    try transaction.setValue("name", [1])
    _ = try transaction.commit()
    try maker.close()
    return device
  }

  @Test func `a reader that begins does not wait for a writer that reads the free map`() throws {
    let device = try Self.file()
    let database = try Database(
      store: FileStore(path: "simulated", options: Self.options(device)))
    let hasWaited = Mutex(false)
    let count = Mutex(0)
    device.duringReads {
      count.withLock { $0 += 1 }
      let reader = WatchedThread { _ = try? database.snapshot() }
      if reader.waitsForSomebody() { hasWaited.withLock { $0 = true } }
    }
    // The first write of a store reads the free map.
    let writing = try database.beginWrite()
    device.duringReads(nil)
    writing.rollback()
    #expect(count.withLock { $0 } > 0)
    #expect(!hasWaited.withLock { $0 })
    try database.close()
  }

  @Test func `reads need nothing of what is known of the free space`() throws {
    let device = try Self.file()
    let store = try FileStore(path: "simulated", options: Self.options(device))
    let result = Mutex<Bool?>(nil)
    // As while an old version is let go that millions of extents wait for.
    let hasWaited = store.books.withLock { _ in
      let reader = WatchedThread {
        guard let pin = try? store.pin(),
          let page = try? store.read(pin.head.root.reference, at: pin)
        else { return }
        let isNewest = store.isNewest(pin)
        result.withLock { $0 = page.byteCount > 0 && isNewest }
      }
      return reader.waitsForSomebody()
    }
    #expect(!hasWaited)
    #expect(result.withLock { $0 } == true)
    try store.close()
  }
}

/// A file in memory that lets a test do something while it is being read.
private final class HookedDevice: Device {
  private struct State {
    var bytes: [UInt8] = []
    var hook: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  /// Calls `hook` during each read; reads during which it runs itself are not told of.
  func duringReads(_ hook: (@Sendable () -> Void)?) { state.withLock { $0.hook = hook } }

  func byteCount() throws(DeviceError) -> Int { state.withLock { $0.bytes.count } }

  func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DeviceError) -> Int {
    let hook = state.withLock { state in state.hook.take() }
    if let hook {
      hook()
      state.withLock { $0.hook = hook }
    }
    return state.withLock { state in
      let part = state.bytes.dropFirst(offset).prefix(buffer.count)
      buffer.copyBytes(from: part)
      return part.count
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(DeviceError) {
    state.withLock { state in
      let end = offset + bytes.count
      if state.bytes.count < end {
        state.bytes += [UInt8](repeating: 0, count: end - state.bytes.count)
      }
      state.bytes.replaceSubrange(offset..<end, with: bytes)
    }
  }

  func sync() throws(DeviceError) {}
  func truncate(to byteCount: Int) throws(DeviceError) {
    state.withLock { $0.bytes.removeLast($0.bytes.count - byteCount) }
  }
  func map(byteCount: Int) throws(DeviceError) -> Mapping? { nil }
}
