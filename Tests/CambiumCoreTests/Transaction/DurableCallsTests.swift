import Synchronization
import Testing

@testable import CambiumCore

struct DurableCallsTests {
  /// What was called, in order: a name, and whether it failed.
  private final class Heard: Sendable {
    private let calls = Mutex<[String]>([])
    var all: [String] { calls.withLock { $0 } }

    func call(_ name: String) -> @Sendable (StoreError?) -> Void {
      { [self] failure in calls.withLock { $0.append(failure == nil ? name : name + " failed") } }
    }
  }

  @Test func `who fails forgets itself and not the next one with the same version`() {
    let (calls, heard) = (DurableCalls(), Heard())
    let failed = calls.expect(5, heard.call("first"))
    // The writer lock is free before the first one says that it has failed.
    _ = calls.expect(5, heard.call("second"))
    calls.forget(failed)
    calls.end(5, nil)
    #expect(heard.all == ["second"])
  }

  @Test func `a durable version is not that of one who failed to make it`() {
    let (calls, heard) = (DurableCalls(), Heard())
    let failed = calls.expect(5, heard.call("first"))
    _ = calls.expect(5, heard.call("second"))
    _ = calls.expect(6, heard.call("third"))
    calls.end(6, nil)
    #expect(heard.all == ["second", "third"])
    calls.forget(failed)
    #expect(heard.all == ["second", "third"])
  }

  @Test func `versions are told in their order`() {
    let (calls, heard) = (DurableCalls(), Heard())
    _ = calls.expect(5, heard.call("five"))
    let failed = calls.expect(6, heard.call("six"))
    calls.forget(failed)
    _ = calls.expect(6, heard.call("another six"))
    _ = calls.expect(7, heard.call("seven"))
    calls.end(7, .closed(path: "somewhere"))
    #expect(heard.all == [])
    calls.end(6, nil)
    #expect(heard.all == ["five", "another six", "seven failed"])
  }
}
