import Cambium
import CambiumToolKit
import Foundation
import TestSupport

/// Databases of each kind that is backed up, in a folder of their own.
struct BackupFixture {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  static func text(_ realm: Realm) throws -> String {
    var bytes: [UInt8] = []
    try Export(realm, classes: []) { bytes += $0 }.writeJSON()
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The kinds of databases that are backed up.
  static var kinds: [String] {
    var kinds = ["file"]
    #if Zstd
      kinds.append("file+zstd")
    #endif
    #if Crypto
      kinds.append("file+key")
    #endif
    #if RocksDB
      kinds.append("rocksdb")
      #if Crypto
        kinds.append("rocksdb+key")
      #endif
    #endif
    return kinds
  }

  static let key = Data((0..<64).map { UInt8($0) })

  func configuration(_ kind: String, _ name: String) throws -> Realm.Configuration {
    let path = folder.file(name)
    var configuration = try Realm.Configuration(
      location: kind.hasPrefix("rocksdb") ? "rocksdb:\(path)" : path)
    configuration.objectTypes = DocumentModels.types
    if kind == "file+zstd" { configuration.codec = .named("zstd:3") }
    if kind.hasSuffix("key") { configuration.encryptionKey = Self.key }
    return configuration
  }
}
