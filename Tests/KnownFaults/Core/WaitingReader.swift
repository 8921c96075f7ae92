import CambiumCore
import CambiumFile
import Synchronization
import Testing

extension KnownFault {
  static let waitingReader = KnownFault(
    "a reader that begins waits for a writer that reads the free map",
    promise: "readers never wait (`Database`)",
    place: "`FileStore.pin`, which takes the lock under which a turn begins, a commit maps memory "
      + "and what a version held is freed; `LatestSnapshot`, which takes one for each snapshot"
  ) {
    let device = HookedDevice()
    var options = FileStoreOptions()
    options.device = { _ in device }
    let maker = try Database(store: FileStore(path: "simulated", options: options))
    let transaction = try maker.beginWrite()
    try transaction.setValue("name", [1])
    _ = try transaction.commit()
    try maker.close()
    let database = try Database(store: FileStore(path: "simulated", options: options))
    let hasWaited = Mutex(false)
    device.duringReads {
      let reader = WatchedThread { _ = try? database.snapshot() }
      if reader.waitsForSomebody() { hasWaited.withLock { $0 = true } }
    }
    // The first turn of a store reads the free map.
    let writing = try database.beginWrite()
    device.duringReads(nil)
    writing.rollback()
    #expect(!hasWaited.withLock { $0 })
    try database.close()
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
