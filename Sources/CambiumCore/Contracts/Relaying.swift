/// A store over another one, to which it hands on what it does not answer itself.
///
/// Handed on is what every store has to answer, and the codec. The other members are what the contract makes of
/// these: so whoever answers ``PageStore/beginWrite()`` or ``PageStore/sync()`` himself meets every write and
/// every sync. A store that needs what the other one does better (``PageStore/metadata(from:through:)``,
/// ``PageStore/beginWriteIfFree()``, ``PageStore/makeDurable(_:)`` and with it ``PageWriter/isContended``) hands that on
/// by itself. Called from any thread, as every store.
public protocol RelayingStore: PageStore {
  /// The other store.
  var inner: any PageStore { get }
}

extension RelayingStore {
  /// The codec that the other store bound.
  public var boundCodec: (any PageCodec)? { inner.boundCodec }
  /// What the other store keeps for its codec.
  public var codecParameters: [UInt8] { inner.codecParameters }
  /// The other store's identity; a store of a kind of its own answers with one of its own.
  public var identity: StoreIdentity { inner.identity }
  /// The newest head of the other store.
  public func newestHead() throws(StoreError) -> Head { try inner.newestHead() }
  /// A pin of the newest version, held by the other store.
  public func pin() throws(StoreError) -> Pin { try inner.pin() }
  /// The page as the other store reads it.
  public func read(_ reference: PageReference, at pin: Pin) throws(StoreError) -> Page {
    try inner.read(reference, at: pin)
  }
  /// What the other store likes.
  public var readAheadCount: Int { inner.readAheadCount }
  /// Hands the pages on.
  public func prefetch(_ references: [PageReference], at pin: Pin) {
    inner.prefetch(references, at: pin)
  }
  /// The other store's writer, under its lock.
  public func beginWrite() throws(StoreError) -> any PageWriter { try inner.beginWrite() }
  /// Makes everything that the other store published durable.
  public func sync() throws(StoreError) { try inner.sync() }
  /// Waits at the other store.
  public func waitForCommit(after version: Version, timeoutNanoseconds: Int64) -> Version {
    inner.waitForCommit(after: version, timeoutNanoseconds: timeoutNanoseconds)
  }
  /// The figures of the other store.
  public func statistics() throws(StoreError) -> StoreStatistics { try inner.statistics() }
  /// The audit of the other store.
  public func audit() throws(StoreError) -> StoreAudit { try inner.audit() }
  /// Closes the other store.
  public func close() throws(StoreError) { try inner.close() }
}

/// A write over another one, to which it hands on what it does not do itself, as ``RelayingStore`` does.
///
/// Belongs to one caller at a time. One that is released without an end aborts because the other does.
///
/// Pointers: the bytes of a page are handed on as they come, within the call.
public protocol RelayingWriter: PageWriter {
  /// The other writer.
  var inner: any PageWriter { get }
}

extension RelayingWriter {
  /// The head that the other write began at.
  public var base: Head { inner.base }
  /// The version that the other write makes.
  public var version: Version { inner.version }
  /// Tells the other write.
  public func expect(_ durability: Durability) { inner.expect(durability) }
  /// Reserves room in the other write.
  public func reserve(byteCount: Int) throws(StoreError) {
    try inner.reserve(byteCount: byteCount)
  }
  /// An extent of the other write.
  public func allocate(byteCount: Int) throws(StoreError) -> Extent {
    try inner.allocate(byteCount: byteCount)
  }
  /// Writes the bytes in the other write.
  public func write(
    _ bytes: Span<UInt8>, to extent: Extent, checksum: UInt64
  ) throws(StoreError) {
    try inner.write(bytes, to: extent, checksum: checksum)
  }
  /// Frees the page in the other write.
  public func free(_ reference: PageReference) { inner.free(reference) }
  /// Publishes the other write and returns its pin.
  public func publish(
    root: TreeRoot, durability: Durability, metadata: [UInt8], beforeNext: (Head) -> Void
  ) throws(StoreError) -> Pin {
    try inner.publish(
      root: root, durability: durability, metadata: metadata, beforeNext: beforeNext)
  }
  /// Ends the other write without a trace.
  public func abort() { inner.abort() }
}
