import Cambium
import CambiumCore

#if Zstd
  import CambiumZstd
#endif
#if Crypto
  import CambiumCrypto
#endif

/// What the pages of a golden file went through; the name is the file's.
enum GoldenForm: String, CaseIterable, Sendable {
  case plain = "format-1"
  /// Not transformed, with backlinks in groups and packed words, which the others had not yet.
  case packed = "format-1-packed"
  case zstd = "format-1-zstd"
  case aes = "format-1-aes"
  case both = "format-1-zstd-aes"
  case dictionary = "format-1-dictionary"
  /// With the free map as a tree of small pages, several of them.
  case mapped = "format-2"
  case mappedBoth = "format-2-zstd-aes"
  /// As a crash leaves them, with small commits in the log that no page has.
  case logged = "format-2-log"
  case loggedBoth = "format-2-log-zstd-aes"

  /// The version of the format that the file has.
  var formatVersion: Int {
    switch self {
    case .plain, .packed, .zstd, .aes, .both, .dictionary: 1
    case .mapped, .mappedBoth, .logged, .loggedBoth: 2
    }
  }

  /// Whether the newest version is in the log of the file.
  var hasSmallCommits: Bool { self == .logged || self == .loggedBoth }

  /// What this build can read.
  static let available = allCases.filter {
    [.plain, .packed, .mapped, .logged].contains($0) || $0.codec != nil
  }

  /// What opens the file; nil for nothing, or what this build does not have.
  ///
  /// A dictionary is in the file.
  var codec: Realm.Codec? {
    switch self {
    case .plain, .packed, .mapped, .logged: nil
    case .zstd, .dictionary: Self.small
    case .aes: Self.sealing(key: 1)
    case .both, .mappedBoth, .loggedBoth: Self.smallSealing(key: 1)
    }
  }

  /// What does not open it.
  var others: [Realm.Codec?] {
    switch self {
    case .plain, .packed, .mapped, .logged: [Self.small, Self.sealing(key: 1)].filter { $0 != nil }
    case .zstd, .dictionary: [nil] + [Self.smallSealing(key: 1)].filter { $0 != nil }
    case .aes: [nil, Self.sealing(key: 2)]
    case .both, .mappedBoth, .loggedBoth:
      [nil, Self.small, Self.sealing(key: 1), Self.smallSealing(key: 2)]
    }
  }

  private static var small: Realm.Codec? {
    #if Zstd
      Realm.Codec(name: "zstd") { () throws(StoreError) in try ZstdCodec() }
    #else
      nil
    #endif
  }

  #if Crypto
    private static func cipher(key: UInt8) throws(StoreError) -> AESCodec {
      // Not a secret.
      let bytes = [UInt8](repeating: key, count: AESCodec.keyByteCount)
      return try AESCodec(key: CodecKey(copying: bytes.span))
    }
  #endif

  private static func sealing(key: UInt8) -> Realm.Codec? {
    #if Crypto
      Realm.Codec(name: "aes-256-gcm") { () throws(StoreError) in try cipher(key: key) }
    #else
      nil
    #endif
  }

  private static func smallSealing(key: UInt8) -> Realm.Codec? {
    #if Crypto && Zstd
      Realm.Codec(name: "zstd+aes-256-gcm") { () throws(StoreError) in
        CodecChain([try ZstdCodec(), try cipher(key: key)])
      }
    #else
      nil
    #endif
  }

  /// Whether the store keeps a dictionary.
  func hasDictionary(_ store: any PageStore) -> Bool {
    #if Zstd
      (store.boundCodec as? ZstdCodec)?.dictionary != nil
    #else
      false
    #endif
  }
}
