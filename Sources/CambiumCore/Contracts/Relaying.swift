/// A store over another one, to which it hands on what it does not answer itself.
///
/// Handed on is what every store has to answer, and the codec. The other members are what the contract makes of
/// these: so whoever answers ``PageStore/beginWrite()`` or ``PageStore/sync()`` himself meets every write and
/// every sync. A store that needs what the other one does better (``PageStore/metadata(from:through:)``,
/// ``PageStore/beginWriteIfFree()``, ``PageStore/makeDurable(_:)``) hands that on by itself. Called from any thread,
/// as every store.
public protocol RelayingStore: PageStore {
  /// The other store.
  var inner: any PageStore { get }
}

extension RelayingStore {
  public var boundCodec: (any PageCodec)? { inner.boundCodec }
  public var codecParameters: [UInt8] { inner.codecParameters }
  public var identity: StoreIdentity { inner.identity }
  public func newestHead() throws(StoreError) -> Head { try inner.newestHead() }
  public func pin() throws(StoreError) -> Pin { try inner.pin() }
  public func read(_ reference: PageReference) throws(StoreError) -> Page {
    try inner.read(reference)
  }
  public func beginWrite() throws(StoreError) -> any PageWriter { try inner.beginWrite() }
  public func sync() throws(StoreError) { try inner.sync() }
  public func waitForCommit(after version: Version, timeoutNanoseconds: Int64) -> Version {
    inner.waitForCommit(after: version, timeoutNanoseconds: timeoutNanoseconds)
  }
  public func statistics() throws(StoreError) -> StoreStatistics { try inner.statistics() }
  public func audit() throws(StoreError) -> StoreAudit { try inner.audit() }
  public func close() throws(StoreError) { try inner.close() }
}

/// A write over another one, to which it hands on what it does not do itself, as ``RelayingStore`` does.
///
/// Belongs to one caller at a time. One that is released without an end aborts because the other does.
public protocol RelayingWriter: PageWriter {
  /// The other writer.
  var inner: any PageWriter { get }
}

extension RelayingWriter {
  public var base: Head { inner.base }
  public var version: Version { inner.version }
  public func reserve(byteCount: Int) throws(StoreError) {
    try inner.reserve(byteCount: byteCount)
  }
  public func allocate(byteCount: Int) throws(StoreError) -> Extent {
    try inner.allocate(byteCount: byteCount)
  }
  public func write(_ bytes: UnsafeRawBufferPointer, to extent: Extent) throws(StoreError) {
    try inner.write(bytes, to: extent)
  }
  public func free(_ reference: PageReference) { inner.free(reference) }
  public func publish(
    root: TreeRoot, durability: Durability, metadata: [UInt8]
  ) throws(StoreError) -> Pin {
    try inner.publish(root: root, durability: durability, metadata: metadata)
  }
  public func abort() { inner.abort() }
}
