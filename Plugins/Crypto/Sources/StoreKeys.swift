#if Crypto
  import CambiumCore
  import Crypto
  import Foundation
  import Synchronization

  /// The keys of one store, derived from the user's key and the store's salt.
  ///
  /// No key seals more than what 4096 versions write: random nonces of 96 bits repeat with a chance of
  /// less than 2⁻³² as long as that is fewer than 2³² pages. Keys are derived when they are needed, and
  /// a few hundred are kept. `SymmetricKey` wipes its bytes when it goes.
  ///
  /// Pointers: the bytes of keys are lent for each call by who owns them, and are not kept.
  final class StoreKeys: Sendable {
    /// What a derived key is for.
    enum Purpose: String {
      case page, record, check
    }

    private struct Name: Hashable {
      var purpose: Purpose
      var number: UInt64
    }

    static let versionsPerKey: UInt64 = 4096
    private static let saltByteCount = 32
    private static let largestKeyCount = 512
    private static let formVersion: UInt8 = 1

    let store: StoreNumber
    private let salt: [UInt8]
    private let root: SymmetricKey
    private let keys = Mutex<[Name: SymmetricKey]>([:])

    static func makeSalt() -> [UInt8] {
      var generator = SystemRandomNumberGenerator()
      return (0..<saltByteCount).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
    }

    init(key: CodecKey, salt: [UInt8], store: StoreNumber) {
      self.store = store
      self.salt = salt
      root = key.withBytes { bytes in
        HKDF<SHA256>.deriveKey(
          inputKeyMaterial: unsafe bytes.withUnsafeBytes { unsafe SymmetricKey(data: $0) },
          salt: salt, info: Array("cambium aes-256-gcm root".utf8), outputByteCount: 32)
      }
    }

    // MARK: What the store keeps

    /// Version of the form, salt, and a sealed message by which the key is known.
    var parameters: [UInt8] {
      let key = self.key(for: .check, number: 0)
      return [Self.formVersion] + salt
        + Cipher.seal([UInt8](repeating: 0, count: 16), key, authenticating: checkContext)
    }

    private var checkContext: [UInt8] {
      [UInt8](Purpose.check.rawValue.utf8) + Cipher.bytes(of: store.high, store.low) + salt
    }

    /// Reads what the store keeps; throws when the key is not the one it was made with.
    convenience init(
      key: CodecKey, parameters: [UInt8], store: StoreNumber
    ) throws(StoreError) {
      guard parameters.count > 1 + Self.saltByteCount else {
        throw AESCodec.failure("the store keeps no salt for it; it is damaged")
      }
      guard parameters[0] == Self.formVersion else {
        throw AESCodec.failure("the store is of a newer form; open it with a newer Cambium")
      }
      self.init(key: key, salt: Array(parameters[1...].prefix(Self.saltByteCount)), store: store)
      let message = parameters.dropFirst(1 + Self.saltByteCount)
      let check = self.key(for: .check, number: 0)
      let opened = unsafe message.withUnsafeBytes {
        unsafe Cipher.open($0, check, authenticating: checkContext)
      }
      guard opened != nil else {
        throw AESCodec.failure("the key is not the one with which the store was encrypted")
      }
    }

    // MARK: Derived keys

    /// The number of the key for what `version` writes.
    static func number(of version: Version) -> UInt64 { version / versionsPerKey }

    /// The key of that number for that purpose.
    func key(for purpose: Purpose, number: UInt64) -> SymmetricKey {
      let name = Name(purpose: purpose, number: number)
      if let known = keys.withLock({ $0[name] }) { return known }
      let info = Array("cambium aes-256-gcm \(purpose.rawValue) \(number)".utf8)
      let key = HKDF<SHA256>.expand(pseudoRandomKey: root, info: info, outputByteCount: 32)
      keys.withLock { keys in
        if keys.count >= Self.largestKeyCount { keys.removeAll(keepingCapacity: true) }
        keys[name] = key
      }
      return key
    }
  }
#endif
