import CambiumCore
import CambiumFile
import TestSupport

/// What processes do with the ring in a file.
extension Ring {
  private static func open(_ path: String, isReadOnly: Bool = false) throws -> Database {
    var options = FileStoreOptions(isReadOnly: isReadOnly)
    options.checkpointAfterRecordCount = 8
    // Already little that is free is given back.
    options.leastRelocatedByteCount = 96 << 10
    options.largestSlackByteCount = 32 << 10
    options.growthByteCount = 64 << 10
    // On a busy machine those who close it may need longer than who opens it waits.
    for _ in 0..<100 {
      do throws(StoreError) {
        return try Database(store: FileStore(path: path, options: options))
      } catch {
        guard case .inUse = error else { throw error }
      }
    }
    return try Database(store: FileStore(path: path, options: options))
  }

  /// Commits `count` times at random, checking each time; now and then it closes the store and opens it
  /// again.
  static func work(_ path: String, seed: UInt64, count: Int) throws {
    var generator = SeededGenerator(seed: seed)
    var left = count
    while left > 0 {
      let turns = min(left, Int.random(in: 1...40, using: &generator))
      try Ring(open(path), hasBallast: true).work(seed: generator.next(), count: turns)
      left -= turns
    }
  }

  /// Reads old and new versions at random, for ever; now and then it opens the store again.
  static func watch(_ path: String, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    while true {
      let database = try open(path, isReadOnly: Bool.random(using: &generator))
      let versions = Version.random(in: 1...60, using: &generator)
      let last = try database.snapshot().version + versions
      try Ring(database).watch(seed: generator.next(), until: last)
      try database.close()
    }
  }
}
