import Testing

@testable import CambiumFile

/// Waiting for somebody who holds a file alone.
struct PatienceWhiteBoxTests {
  @Test func `patience is a number of looks, however long they take`() {
    var pauseCount = 0
    let patience = Patience { pauseCount += 1 }
    var lookCount = 0
    while lookCount < 5000, patience.goOn() { lookCount += 1 }
    #expect(lookCount == 2000)
    #expect(pauseCount == 2000)
    #expect(!patience.goOn())
  }
}
