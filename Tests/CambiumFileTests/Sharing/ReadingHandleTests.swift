import CambiumCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CambiumFile

/// A store that was opened for reading only writes nothing, whatever it is asked.
struct ReadingHandleTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("a.cambium") }

  init() throws { folder = try TemporaryFolder() }

  @Test func `who only reads makes nobody's version durable, and says so`() throws {
    let options = FileStoreOptions.withoutTimers
    let writer = try FileStore(path: path, options: options)
    let durable = try writer.commitChanges(3, seed: 1, .full).version
    let reader = try FileStore(path: path, options: FileStoreOptions(isReadOnly: true))
    let version = try writer.commitChanges(3, seed: 2, .relaxed).version
    let slots = try FileStore.inspect(path: path).slots
    try reader.makeDurable(durable)
    #expect(throws: StoreError.readOnly(path: path)) { try reader.makeDurable(version) }
    let failure = Mutex<StoreError?>(nil)
    let called = DispatchSemaphore(value: 0)
    reader.makeDurable(version) { error in
      failure.withLock { $0 = error }
      called.signal()
    }
    called.wait()
    #expect(failure.withLock { $0 } == .readOnly(path: path))
    #expect(try FileStore.inspect(path: path).slots == slots)
    try writer.makeDurable(version)
    try reader.makeDurable(version)
    try reader.close()
    try writer.close()
  }
}
