import Cambium
import Foundation

/// Where the example keeps its store.
struct Place {
  let configuration: Realm.Configuration
  /// The file's path; nil for a store in memory.
  let path: String?
  private let temporaryFolder: URL?

  /// The codec that encrypts.
  static let cipher = "aes-256-gcm"

  /// What ``init(store:codec:path:)`` knows.
  static var stores: [String] {
    var stores = ["file", "memory"]
    #if RocksDB
      stores.append("rocksdb")
    #endif
    #if RADOS
      stores.append("rados")
    #endif
    return stores
  }

  /// A place for a store of that kind, whose pages go through `codec`, a chain of names or `none`.
  ///
  /// A codec that encrypts gets a key of its own, which nobody keeps.
  init(store: String, codec: String, path: String?) throws {
    let key =
      codec.hasSuffix(Self.cipher) ? Data((0..<64).map { _ in UInt8.random(in: 0...255) }) : nil
    var configuration: Realm.Configuration
    if store == "memory" {
      configuration = try Realm.Configuration(location: "memory:flights")
      self.path = nil
      temporaryFolder = nil
    } else if store == "rados" {
      let place = path ?? "db/flights"
      configuration = try Realm.Configuration(location: "rados:\(place)")
      self.path = place
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

  /// The same configuration, which compacts a file that nobody has open before it is opened.
  var compacting: Realm.Configuration {
    var configuration = configuration
    configuration.shouldCompactOnLaunch = { totalBytes, _ in
      print("bytes before compaction: \(totalBytes)")
      return true
    }
    return configuration
  }

  /// Removes what nobody asked to keep.
  func remove() {
    if let temporaryFolder { try? FileManager.default.removeItem(at: temporaryFolder) }
  }
}
