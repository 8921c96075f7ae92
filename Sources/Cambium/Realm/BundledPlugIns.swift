import CambiumCore
import Foundation

#if Crypto
  internal import CambiumCrypto
#endif
#if RADOS
  internal import CambiumRADOS
#endif
#if RocksDB
  internal import CambiumRocksDB
#endif
#if Zstd
  internal import CambiumZstd
#endif

/// The stores and codecs of this package.
///
/// Those that it was built with join `StoreRegistry` and `CodecRegistry`; of the others the registries
/// know which trait brings them.
public enum BundledPlugIns {
  /// Lets them join, once; what the program has registered under one of their names stays.
  ///
  /// Configurations do it by themselves. Call it before you use the registries directly.
  public static func register() { joined }

  private static let joined: Void = {
    let kinds = StoreRegistry.kinds
    if !kinds.contains("memory") { StoreRegistry.register(.memory) }
    if !kinds.contains(BackupHead.kind) {
      StoreRegistry.register(.backup, recognizes: BackupHead.isBackup)
    }
    if !kinds.contains("file") { StoreRegistry.register(.file, recognizes: isFile) }
    #if RocksDB
      if !kinds.contains("rocksdb") { RocksDBStore.register() }
    #else
      StoreRegistry.register(missing: "rocksdb", advice: advice(trait: "RocksDB"))
    #endif
    #if RADOS
      if !kinds.contains("rados") { RADOSStore.register() }
    #else
      StoreRegistry.register(missing: "rados", advice: advice(trait: "RADOS"))
    #endif
    let codecs = CodecRegistry.names
    #if Zstd
      if !codecs.contains("zstd") { ZstdCodec.register() }
    #else
      CodecRegistry.register(missing: "zstd", advice: advice(trait: "Zstd"))
    #endif
    #if Crypto
      if !codecs.contains(cipher) { AESCodec.register() }
    #else
      CodecRegistry.register(missing: cipher, advice: advice(trait: "Crypto"))
    #endif
  }()

  /// The codec that an encryption key asks for.
  static let cipher = "aes-256-gcm"

  private static func advice(trait: String) -> String {
    "Enable the package's trait: .package(url: …, traits: [\"\(trait)\"]), or swift build --traits \(trait)"
  }

  /// Pointers: to a local variable, for the length of a call.
  @Sendable private static func isFile(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
      && !isFolder.boolValue
  }
}
