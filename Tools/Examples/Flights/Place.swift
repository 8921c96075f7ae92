import Cambium
import CambiumCore
import CambiumFile
import CambiumRocksDB
import Foundation

/// Where the example keeps its store.
struct Place {
  let configuration: Realm.Configuration
  /// The file's path; nil for a store in memory.
  let path: String?
  private let temporaryFolder: URL?
  private let chain: String
  private let key: Data?

  /// The codec that encrypts.
  static let cipher = "aes-256-gcm"

  /// What ``init(store:codec:path:)`` knows.
  static var stores: [String] {
    #if RocksDB
      ["file", "memory", "rocksdb"]
    #else
      ["file", "memory"]
    #endif
  }

  /// A place for a store of that kind, whose pages go through `codec`, a chain of names or `none`.
  ///
  /// A codec that encrypts gets a key of its own, which nobody keeps.
  init(store: String, codec: String, path: String?) throws {
    chain = codec
    key = codec.hasSuffix(Self.cipher) ? Data((0..<64).map { _ in UInt8.random(in: 0...255) }) : nil
    var configuration: Realm.Configuration
    if store == "memory" {
      configuration = try Realm.Configuration(location: "memory:flights")
      self.path = nil
      temporaryFolder = nil
    } else {
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
      configuration = try Realm.Configuration(location: "\(store):\(url.path)")
      self.path = url.path
    }
    let rest = codec.split(separator: "+").filter { $0 != Self.cipher }.joined(separator: "+")
    if !rest.isEmpty, rest != "none" { configuration.codec = .named(rest) }
    configuration.encryptionKey = key
    self.configuration = configuration
  }

  /// Rewrites a store that nobody has open as small as it can be; its sizes before and after.
  func compact(_ path: String) throws -> (before: Int, after: Int) {
    let codec = try CodecRegistry.codec(
      chain, key: key.map { $0.withUnsafeBytes { CodecKey(copying: $0) } })
    #if RocksDB
      if configuration.store.kind == RocksDBStore.kind {
        let store = try RocksDBStore(path: path, options: RocksDBOptions(codec: codec))
        let before = try store.statistics().totalByteCount
        try store.compact()
        let after = try store.statistics().totalByteCount
        try store.close()
        return (before, after)
      }
    #endif
    let report = try FileStore.compact(path: path, codec: codec)
    return (report.byteCountBefore, report.byteCountAfter)
  }

  /// Removes what nobody asked to keep.
  func remove() {
    if let temporaryFolder { try? FileManager.default.removeItem(at: temporaryFolder) }
  }
}
