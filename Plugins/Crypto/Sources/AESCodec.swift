#if Crypto
  import CambiumCore

  /// Pages encrypted with AES-256 in Galois/Counter Mode, each under a random nonce.
  ///
  /// ```
  /// FileStoreOptions(codec: try AESCodec(key: key))
  /// ```
  ///
  /// What a store holds is encrypted and authenticated: pages, heads, records of commits, the free map
  /// and what codecs before this one keep. A page is bound to its store, kind, address and birth, so
  /// that neither a changed byte nor a page from elsewhere, or from another time, is taken for it. What
  /// can be seen of a store is its size, its codec's name, when it is written and how much.
  ///
  /// Putting back an older copy of the whole store is not found out.
  ///
  /// May be used from any thread. The key and all that is derived from it are wiped when the last
  /// database, snapshot or configuration that uses the codec goes.
  ///
  /// Pointers: pages and bodies are borrowed from the caller for each call, and are not kept.
  public struct AESCodec: PageCodec {
    /// How long a key is.
    public static let keyByteCount = 64
    static let name = "aes-256-gcm"

    /// `aes-256-gcm`.
    public var name: String { Self.name }
    private let key: CodecKey
    /// What is derived from the key for one store; nil until the codec is bound.
    private let keys: StoreKeys?

    /// Encrypts with `key`, which has 64 bytes.
    ///
    /// Throws `StoreError.codecFailure(codec:reason:)` for a key of another length.
    public init(key: CodecKey) throws(StoreError) {
      guard key.byteCount == Self.keyByteCount else {
        throw Self.failure("its key has \(Self.keyByteCount) bytes, not \(key.byteCount)")
      }
      self.init(key: key, keys: nil)
    }

    private init(key: CodecKey, keys: StoreKeys?) {
      self.key = key
      self.keys = keys
    }

    /// Lets programs find this codec by its name; the object layer does it by itself.
    public static func register() {
      CodecRegistry.register(
        CodecRegistry.Entry(name: name, needsKey: true) { parameter, key throws(StoreError) in
          guard parameter == nil else { throw failure("it takes nothing behind a colon") }
          guard let key else { throw failure("it needs a key, and none was given") }
          return try AESCodec(key: key)
        })
    }

    static func failure(_ reason: String) -> StoreError {
      .codecFailure(codec: name, reason: reason)
    }

    /// True: decrypted pages are left out of core dumps and wiped.
    public var isSecret: Bool { true }

    // MARK: Stores

    /// A new salt, and what tells later whether a key is the right one.
    public func makeParameters(for store: StoreNumber) throws(StoreError) -> [UInt8] {
      StoreKeys(key: key, salt: StoreKeys.makeSalt(), store: store).parameters
    }

    /// The codec with the keys of that store.
    ///
    /// Throws `StoreError.codecFailure(codec:reason:)` when the key is not the store's.
    public func bound(
      to store: StoreNumber, parameters: [UInt8]
    ) throws(StoreError) -> any PageCodec {
      AESCodec(
        key: key, keys: try StoreKeys(key: key, parameters: parameters, store: store))
    }

    private func boundKeys() throws(StoreError) -> StoreKeys {
      guard let keys else {
        throw Self.failure("the store keeps no salt for it; open the store with this codec")
      }
      return keys
    }

    // MARK: Pages

    /// The page with room for nonce and tag, in whole units: not encrypted yet.
    public func encode(
      _ page: Span<UInt8>, kind: PageKind
    ) throws(StoreError) -> [UInt8] {
      unsafe page.withUnsafeBytes { unsafe SealedPage.body(of: $0) }
    }

    /// Encrypts the page for its place.
    public func seal(_ body: inout [UInt8], context: PageContext) throws(StoreError) {
      SealedPage.seal(&body, context, try boundKeys())
    }

    /// The page, if it is the one that was sealed for that place.
    public func open(
      _ body: Span<UInt8>, context: PageContext
    ) throws(StoreError) -> PageBuffer {
      let keys = try boundKeys()
      let page = unsafe body.withUnsafeBytes { unsafe SealedPage.open($0, context, keys) }
      guard let page else {
        throw Self.failure("a page was changed, or is not the one that belongs there")
      }
      return page
    }

    // MARK: Records

    /// Number of the key, nonce and tag.
    public var recordOverhead: Int { SealedRecord.overhead }

    /// Encrypts a record for its place.
    public func sealRecord(_ record: [UInt8], context: RecordContext) -> [UInt8] {
      guard let keys else {
        preconditionFailure("A codec seals records only for the store it is bound to.")
      }
      return SealedRecord.seal(record, context, keys)
    }

    /// The record, if it is one that was sealed for that place.
    public func openRecord(
      _ sealed: [UInt8], context: RecordContext
    ) throws(StoreError) -> [UInt8] {
      guard let record = SealedRecord.open(sealed, context, try boundKeys()) else {
        throw Self.failure("a record of the store was changed, or does not belong there")
      }
      return record
    }
  }
#endif
