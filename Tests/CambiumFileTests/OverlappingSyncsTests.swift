import Foundation
import Synchronization
import Testing

@testable import CambiumFile

/// Whether a sync is believed while others run.
struct OverlappingSyncsTests {
  /// Syncs as it is told to, one call after the other; holds no bytes.
  private final class ToldDevice: Device {
    /// One call; how it fails, or nil.
    typealias Step = @Sendable () -> DeviceError?

    private let steps: Mutex<[Step]>

    init(_ steps: [Step]) { self.steps = Mutex(steps) }

    func sync() throws(DeviceError) {
      let step = steps.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      if let failure = step?() { throw failure }
    }

    func byteCount() throws(DeviceError) -> Int { 0 }
    func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(DeviceError) -> Int {
      0
    }
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(DeviceError) {}
    func truncate(to byteCount: Int) throws(DeviceError) {}
    func map(byteCount: Int) throws(DeviceError) -> Mapping? { nil }
  }

  private static let failure = DeviceError(operation: "sync", code: EIO)

  @Test func `a sync that succeeds beside one that fails has failed`() {
    let (firstRuns, secondRuns) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let (endFirst, endSecond) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let device = ToldDevice([
      {
        firstRuns.signal()
        endFirst.wait()
        return nil
      },
      {
        secondRuns.signal()
        endSecond.wait()
        return Self.failure
      },
    ])
    let syncs = OverlappingSyncs()
    let first = Mutex<Result<Void, DeviceError>?>(nil)
    let hasEnded = DispatchSemaphore(value: 0)
    Thread {
      let result = Result { () throws(DeviceError) in try syncs.runForCertain(device) }
      first.withLock { $0 = result }
      hasEnded.signal()
    }.start()
    firstRuns.wait()
    Thread {
      #expect(throws: Self.failure) { try syncs.run(device) }
      hasEnded.signal()
    }.start()
    secondRuns.wait()
    endFirst.signal()
    #expect(first.withLock { $0 == nil }, "It waits for the other one.")
    endSecond.signal()
    hasEnded.wait()
    hasEnded.wait()
    #expect(throws: Self.failure) { try #require(first.withLock { $0 }).get() }
  }

  @Test func `after a failure no sync is believed`() throws {
    let device = ToldDevice([{ Self.failure }])
    let syncs = OverlappingSyncs()
    #expect(throws: Self.failure) { try syncs.run(device) }
    #expect(throws: Self.failure) { try syncs.runForCertain(device) }
  }

  @Test func `a sync that others join waits for them and succeeds`() throws {
    let syncs = OverlappingSyncs()
    let (innerRuns, endInner) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let device = ToldDevice([
      {
        // The other one begins while this one runs, and ends after it.
        let inner = ToldDevice([
          {
            innerRuns.signal()
            endInner.wait()
            return nil
          }
        ])
        Thread { try? syncs.run(inner) }.start()
        innerRuns.wait()
        Thread { endInner.signal() }.start()
        return nil
      }
    ])
    try syncs.runForCertain(device)
  }
}
