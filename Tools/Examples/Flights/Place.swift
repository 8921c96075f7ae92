import Cambium
import CambiumFile
import Foundation

#if RocksDB
  import CambiumRocksDB
#endif

/// Where the example keeps its store.
struct Place {
  let configuration: Realm.Configuration
  /// The file's path; nil for a store in memory.
  let path: String?
  private let temporaryFolder: URL?

  /// What ``init(store:path:)`` knows.
  static var stores: [String] {
    #if RocksDB
      ["file", "memory", "rocksdb"]
    #else
      ["file", "memory"]
    #endif
  }

  init(store: String, path: String?) throws {
    if store == "memory" {
      configuration = Realm.Configuration(inMemoryIdentifier: "flights")
      self.path = nil
      temporaryFolder = nil
      return
    }
    let url: URL
    if let path {
      url = URL(fileURLWithPath: path)
      temporaryFolder = nil
    } else {
      let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("flights-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      url = folder.appendingPathComponent("flights.cambium")
      temporaryFolder = folder
    }
    var configuration = Realm.Configuration(fileURL: url)
    #if RocksDB
      if store == "rocksdb" { configuration.store = .rocksDB() }
    #endif
    self.configuration = configuration
    self.path = url.path
  }

  /// Rewrites a store that nobody has open as small as it can be; its sizes before and after.
  func compact(_ path: String) throws -> (before: Int, after: Int) {
    #if RocksDB
      if configuration.store.kind == RocksDBStore.kind {
        let store = try RocksDBStore(path: path)
        let before = try store.statistics().totalByteCount
        try store.compact()
        let after = try store.statistics().totalByteCount
        try store.close()
        return (before, after)
      }
    #endif
    let report = try FileStore.compact(path: path)
    return (report.byteCountBefore, report.byteCountAfter)
  }

  /// Removes what nobody asked to keep.
  func remove() {
    if let temporaryFolder { try? FileManager.default.removeItem(at: temporaryFolder) }
  }
}
