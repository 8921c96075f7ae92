import CambiumCore
import Synchronization
import TestSupport
import Testing

@testable import CambiumMemory

struct ReadersWhiteBoxTests {
  @Test func `reads need nothing of what is known of the free space`() throws {
    let content = MemoryContent()
    let isNewest = Mutex<Bool?>(nil)
    // As while an old version is let go that millions of extents wait for.
    let hasWaited = try content.withSpace(path: "") { _, _ in
      let reader = WatchedThread {
        let pin = content.pin()
        isNewest.withLock { $0 = content.isNewest(pin.head.version) }
      }
      return reader.waitsForSomebody()
    }
    #expect(!hasWaited)
    #expect(isNewest.withLock { $0 } == true)
  }
}
