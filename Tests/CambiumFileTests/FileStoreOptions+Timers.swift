@testable import CambiumFile

extension FileStoreOptions {
  /// Nothing is stored or synced in the background: what happens is up to the test.
  mutating func stopTimers() {
    relaxedDelayNanoseconds = 3_600_000_000_000
    settleDelayNanoseconds = 3_600_000_000_000
  }

  /// Options of a store that does nothing in the background.
  static var withoutTimers: FileStoreOptions {
    var options = FileStoreOptions()
    options.stopTimers()
    return options
  }
}
