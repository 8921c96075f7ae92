import CambiumCore
import CambiumFile
import TestSupport

/// What processes do with the ring in a file.
extension Ring {
  private static func open(_ path: String, isReadOnly: Bool = false) throws -> Database {
    var options = FileStoreOptions(isReadOnly: isReadOnly)
    options.foldAfterRecordCount = 8
    return try Database(store: FileStore(path: path, options: options))
  }

  /// Commits `count` times at random, checking each time.
  static func work(_ path: String, seed: UInt64, count: Int) throws {
    try Ring(open(path)).work(seed: seed, count: count)
  }

  /// Reads old and new versions at random, for ever.
  static func watch(_ path: String, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    try Ring(open(path, isReadOnly: Bool.random(using: &generator))).watch(seed: seed)
  }
}
