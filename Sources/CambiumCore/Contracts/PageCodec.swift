/// Transforms pages on their way to and from a store: compression, encryption, or a chain of them.
///
/// A codec works in two steps, because a page's address is known only after its length.
/// ``encode(_:kind:)`` turns a packed page into a body of final length; after room was allocated
/// ``seal(_:context:)`` finishes the body for that place. ``open(_:context:)`` reverses both.
///
/// A codec that has something to keep, a salt or a dictionary, makes it when a store is made
/// (``makeParameters(for:)``). Whoever opens the store shows it again, and works with what
/// ``bound(to:parameters:)`` gives.
///
/// Every member may be called from any thread, several at once. Beyond the first four members all
/// have defaults, for codecs that keep nothing and leave the store's own records alone.
public protocol PageCodec: Sendable {
  /// The name that the store records and compares at opening, such as `zstd` or `zstd+aes-256-gcm`;
  /// at most 64 bytes of UTF-8.
  var name: String { get }

  /// A body of final length for the packed page `page`; never empty.
  func encode(_ page: Span<UInt8>, kind: PageKind) throws(StoreError) -> [UInt8]

  /// Finishes `body` for its place, in place: its length must not change.
  func seal(_ body: inout [UInt8], context: PageContext) throws(StoreError)

  /// The packed page whose sealed body begins at `body`; the stored bytes may carry up to 63 zero
  /// bytes behind the body. Throws ``StoreError/codecFailure(codec:reason:)``, never returns bytes
  /// that did not go in.
  func open(_ body: Span<UInt8>, context: PageContext) throws(StoreError) -> PageBuffer

  /// Whether what it opens is secret. Other codecs of its chain see that in
  /// ``PageContext/isSecret``, and take a ``PageBuffer`` that is secret, too.
  var isSecret: Bool { get }

  /// Whether ``seal(_:context:)`` does anything; such a codec can only be the last of a chain.
  var needsPlace: Bool { get }

  /// What a store that is being made for this codec shall keep for it; at most 1 MiB.
  ///
  /// A codec that is bound to a store passes on what belongs to its pages, a dictionary, and makes
  /// anew what belongs to the store, a salt.
  func makeParameters(for store: StoreNumber) throws(StoreError) -> [UInt8]

  /// The codec for the pages of `store`, which keeps `parameters`.
  ///
  /// Throws ``StoreError/codecFailure(codec:reason:)`` when they are damaged, or of another key.
  func bound(to store: StoreNumber, parameters: [UInt8]) throws(StoreError) -> any PageCodec

  /// How many bytes ``sealRecord(_:context:)`` adds, at most 64; zero when the store's own records
  /// are to stay as they are.
  ///
  /// What small commits change of pages is among those records: of a codec that may be there to keep pages secret
  /// (``isSecret``, ``needsPlace``), but leaves records alone, a store writes pages instead.
  var recordOverhead: Int { get }

  /// A record of the store itself, such as a head, in the form in which it is stored.
  ///
  /// Called only when ``recordOverhead`` is not zero, and on a codec that is bound; it cannot fail then.
  func sealRecord(_ record: [UInt8], context: RecordContext) -> [UInt8]

  /// Reverses ``sealRecord(_:context:)``; throws ``StoreError/codecFailure(codec:reason:)`` for bytes
  /// that it did not make for that context. The context's version is not known then, and zero.
  func openRecord(_ sealed: [UInt8], context: RecordContext) throws(StoreError) -> [UInt8]
}

extension PageCodec {
  /// True, to be on the safe side.
  public var needsPlace: Bool { true }
  /// False.
  public var isSecret: Bool { false }
  /// Nothing.
  public func makeParameters(for store: StoreNumber) throws(StoreError) -> [UInt8] { [] }
  /// The codec itself.
  public func bound(
    to store: StoreNumber, parameters: [UInt8]
  ) throws(StoreError) -> any PageCodec { self }
  /// Zero: records stay as they are.
  public var recordOverhead: Int { 0 }
  /// The record as it is.
  public func sealRecord(_ record: [UInt8], context: RecordContext) -> [UInt8] { record }
  /// The record as it is.
  public func openRecord(
    _ sealed: [UInt8], context: RecordContext
  ) throws(StoreError) -> [UInt8] { sealed }
}

/// The identity of a store, which is never the same for two of them.
public struct StoreNumber: Hashable, Sendable {
  /// The high half.
  public var high: UInt64
  /// The low half.
  public var low: UInt64

  /// The identity with those halves.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The identity of a new store.
  package static func random() -> StoreNumber {
    StoreNumber(high: .random(in: 1 ... .max), low: .random(in: 1 ... .max))
  }
}

/// What binds a page to its place.
public struct PageContext: Hashable, Sendable {
  /// The store's identity, both halves.
  public var storeHigh: UInt64
  /// The low half of the store's identity.
  public var storeLow: UInt64
  /// The page's kind.
  public var kind: PageKind
  /// Its address, in units of 64 bytes.
  public var address: UInt64
  /// The version that wrote it.
  public var born: Version
  /// Whether the page was encrypted, so that its buffer is to be secret.
  public var isSecret = false

  /// The place of a page in the store of that identity.
  public init(
    storeHigh: UInt64, storeLow: UInt64, kind: PageKind, address: UInt64, born: Version
  ) {
    self.storeHigh = storeHigh
    self.storeLow = storeLow
    self.kind = kind
    self.address = address
    self.born = born
  }
}

extension PageContext {
  /// The place of a page of `kind` in the store of that identity.
  package init(_ kind: PageKind, at address: UInt64, born: Version, in store: (UInt64, UInt64)) {
    self.init(
      storeHigh: store.0, storeLow: store.1, kind: kind, address: address, born: born)
  }
}

/// What binds a store's own record to its place.
public struct RecordContext: Hashable, Sendable {
  /// What the record is; each store numbers its own from 16 on, as page kinds are numbered up to 15.
  public var role: UInt8
  /// Where it is, in any way that tells the store's places apart.
  public var place: UInt64
  /// The version that writes it; zero when it is opened.
  public var version: Version

  /// What the parameters of other codecs are, which a ``CodecChain`` seals.
  public static let parametersRole: UInt8 = 255

  /// The place of a record; `role` is not ``parametersRole``.
  public init(role: UInt8, place: UInt64, version: Version = 0) {
    self.role = role
    self.place = place
    self.version = version
  }
}
