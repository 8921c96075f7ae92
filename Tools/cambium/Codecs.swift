import CambiumCore
import CambiumFile
import CambiumToolKit

/// The codecs of files, found by what a file says of itself, and chains of them.
enum Codecs {
  /// The codec that the store at `path` names; nil when it names none.
  static func codec(ofStoreAt path: String, key: CodecKey?) throws(StoreError) -> (any PageCodec)? {
    let name = try FileStore.inspect(path: path).identity.codec
    do throws(StoreError) {
      return try CodecRegistry.codec(name, key: key)
    } catch .codecFailure(let codec, _) where key == nil {
      throw KeyFile.missing(codec, path)
    }
  }

  /// The chain that `--codec` names for the pages of a store that has `current`, or `current`.
  ///
  /// What is encrypted becomes plain by the name `none` alone; whoever names a new key wants encryption, whatever
  /// else pages go through.
  static func chain(
    _ named: String?, insteadOf current: String, hasNewKey: Bool, path: String
  ) throws(TransferError) -> String {
    let chain = named ?? current
    if hasNewKey { return encrypted(chain) }
    guard chain != "none", chain != encrypted(chain), current == encrypted(current)
    else { return chain }
    throw TransferError(
      "The store at '\(path)' is encrypted, and what goes through \(chain) is not: "
        + "'--codec \(encrypted(chain))' keeps it encrypted, '--codec none' takes that away.")
  }

  /// The chain with a cipher at its end, if it has none.
  static func encrypted(_ chain: String) -> String {
    let parts = parts(chain)
    return parts.contains("aes-256-gcm") ? chain : (parts + ["aes-256-gcm"]).joined(separator: "+")
  }

  /// The chain with zstd at its beginning, if it has none.
  static func compressed(_ chain: String) -> String {
    let parts = parts(chain)
    let isCompressed = parts.contains { $0 == "zstd" || $0.hasPrefix("zstd:") }
    return isCompressed ? chain : (["zstd"] + parts).joined(separator: "+")
  }

  private static func parts(_ chain: String) -> [String] {
    chain == "none" ? [] : chain.split(separator: "+").map(String.init)
  }
}
