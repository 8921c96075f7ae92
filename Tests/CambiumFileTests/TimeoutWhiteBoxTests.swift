import Testing

@testable import CambiumFile

/// Waiting for somebody who holds a file alone.
struct TimeoutWhiteBoxTests {
  @Test func `a timeout is a number of looks, however long they take`() {
    var pauseCount = 0
    let timeout = Timeout { pauseCount += 1 }
    var lookCount = 0
    while lookCount < 5000, timeout.goOn() { lookCount += 1 }
    #expect(lookCount == 2000)
    #expect(pauseCount == 2000)
    #expect(!timeout.goOn())
  }
}
