import CambiumCore
import CambiumFile
import Foundation
import Synchronization

/// A device in memory whose syncs can be counted, held up and made to fail.
final class CountingDevice: Device {
  private struct State {
    var syncCount = 0
    var startCount = 0
    var failsSyncs = false
  }

  private let inner = SimulatedDevice([])
  private let state = Mutex(State())
  /// Each sync passes through it.
  private let gate = Mutex(())

  /// A store on it that syncs only when it is asked to.
  func makeStore() throws -> FileStore {
    var options = FileStoreOptions()
    options.device = { _ in self }
    options.stopTimers()
    return try FileStore(path: "simulated", options: options)
  }

  /// Such a store with an empty version, and the database in it.
  func makeDatabase() throws -> (store: FileStore, database: Database) {
    let store = try makeStore()
    let database = try Database(store: store)
    _ = try database.beginWrite().commit()
    return (store, database)
  }

  var syncCount: Int { state.withLock { $0.syncCount } }
  /// How often a range was to start on its way to the medium.
  var startCount: Int { state.withLock { $0.startCount } }
  var failsSyncs: Bool {
    get { state.withLock { $0.failsSyncs } }
    set { state.withLock { $0.failsSyncs = newValue } }
  }

  /// Runs `body`; syncs of other threads wait until it has ended.
  func holdingSyncs(_ body: () throws -> Void) rethrows { try gate.withLock { _ in try body() } }

  func byteCount() throws(DeviceError) -> Int { try inner.byteCount() }
  func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DeviceError) -> Int {
    try inner.read(buffer, at: offset)
  }
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(DeviceError) {
    try inner.write(bytes, at: offset)
  }
  func startWriting(byteCount: Int, at offset: Int) { state.withLock { $0.startCount += 1 } }
  func truncate(to byteCount: Int) throws(DeviceError) { try inner.truncate(to: byteCount) }
  func map(byteCount: Int) throws(DeviceError) -> Mapping? { try inner.map(byteCount: byteCount) }
  func sync() throws(DeviceError) {
    gate.withLock { _ in }
    if failsSyncs { throw DeviceError(operation: "sync", code: EIO) }
    try inner.sync()
    state.withLock { $0.syncCount += 1 }
  }
}
