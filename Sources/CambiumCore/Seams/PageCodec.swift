/// Transforms pages on their way to and from a store: compression, encryption, or a chain of them.
///
/// A codec works in two steps, because a page's address is known only after its length.
/// ``encode(_:kind:)`` turns a packed page into a body of final length; after room was allocated
/// ``seal(_:context:)`` finishes the body for that place. ``open(_:context:)`` reverses both.
///
/// Every member may be called from any thread, several at once.
public protocol PageCodec: Sendable {
  /// The name that the store records and compares at opening, such as `zstd` or `zstd+aes-256-gcm`.
  var name: String { get }

  /// A body of final length for the packed page `page`; never empty.
  func encode(_ page: UnsafeRawBufferPointer, kind: PageKind) throws(StoreError) -> [UInt8]

  /// Finishes `body` for its place, in place: its length must not change.
  func seal(_ body: inout [UInt8], context: PageContext) throws(StoreError)

  /// The packed page whose sealed body begins at `body`; the stored bytes may carry up to 63 zero
  /// bytes behind the body. Throws ``StoreError/codecFailure(codec:reason:)``, never returns bytes
  /// that did not go in.
  func open(_ body: UnsafeRawBufferPointer, context: PageContext) throws(StoreError) -> PageBuffer
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
