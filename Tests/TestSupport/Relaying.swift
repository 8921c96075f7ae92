import CambiumCore

/// A store that hands on to another one what it does not answer itself.
///
/// What stores need not answer is not handed on: it is what the contract makes of the rest.
package protocol RelayingStore: PageStore {
  /// The other store.
  var inner: any PageStore { get }
}

extension RelayingStore {
  package var identity: StoreIdentity { inner.identity }
  package func newestHead() throws(StoreError) -> Head { try inner.newestHead() }
  package func pin() throws(StoreError) -> Pin { try inner.pin() }
  package func read(_ reference: PageReference) throws(StoreError) -> Page {
    try inner.read(reference)
  }
  package func beginWrite() throws(StoreError) -> any PageWriter { try inner.beginWrite() }
  package func sync() throws(StoreError) { try inner.sync() }
  package func waitForCommit(after version: Version, timeoutNanoseconds: Int64) -> Version {
    inner.waitForCommit(after: version, timeoutNanoseconds: timeoutNanoseconds)
  }
  package func statistics() throws(StoreError) -> StoreStatistics { try inner.statistics() }
  package func audit() throws(StoreError) -> StoreAudit { try inner.audit() }
  package func close() throws(StoreError) { try inner.close() }
}

/// A writer that hands on to another one what it does not do itself, as ``RelayingStore`` does.
package protocol RelayingWriter: PageWriter {
  /// The other writer.
  var inner: any PageWriter { get }
}

extension RelayingWriter {
  package var base: Head { inner.base }
  package var version: Version { inner.version }
  package func reserve(byteCount: Int) throws(StoreError) {
    try inner.reserve(byteCount: byteCount)
  }
  package func allocate(byteCount: Int) throws(StoreError) -> Extent {
    try inner.allocate(byteCount: byteCount)
  }
  package func write(_ bytes: UnsafeRawBufferPointer, to extent: Extent) throws(StoreError) {
    try inner.write(bytes, to: extent)
  }
  package func free(_ reference: PageReference) { inner.free(reference) }
  package func publish(
    root: TreeRoot, durability: Durability, metadata: [UInt8]
  ) throws(StoreError) -> Pin {
    try inner.publish(root: root, durability: durability, metadata: metadata)
  }
  package func abort() { inner.abort() }
}
