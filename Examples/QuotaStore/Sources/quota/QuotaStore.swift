import CambiumCore

/// A store of one's own: another one that takes no more than so many bytes, for programs that keep a database
/// for each of their customers.
///
/// Whatever would make it larger is refused as if the medium were full: the transaction is taken back, and
/// nothing is lost. All else is handed on as it is.
final class QuotaStore: PageStore {
  private let store: any PageStore
  private let limit: Int

  init(_ store: any PageStore, limit: Int) {
    self.store = store
    self.limit = limit
  }

  var identity: StoreIdentity { store.identity }
  var boundCodec: (any PageCodec)? { store.boundCodec }
  var codecParameters: [UInt8] { store.codecParameters }

  // Reading.
  func newestHead() throws(StoreError) -> Head { try store.newestHead() }
  func pin() throws(StoreError) -> Pin { try store.pin() }
  func isNewest(_ pin: Pin) -> Bool { store.isNewest(pin) }
  func read(_ reference: PageReference) throws(StoreError) -> Page { try store.read(reference) }

  func metadata(
    from first: Version, through pin: Pin
  ) throws(StoreError) -> [CommitMetadata]? { try store.metadata(from: first, through: pin) }

  func waitForCommit(after version: Version, timeoutNanoseconds: Int64) -> Version {
    store.waitForCommit(after: version, timeoutNanoseconds: timeoutNanoseconds)
  }

  // Writing.
  func beginWrite() throws(StoreError) -> any PageWriter { limited(try store.beginWrite()) }

  func beginWriteIfFree() throws(StoreError) -> (any PageWriter)? {
    try store.beginWriteIfFree().map(limited)
  }

  private func limited(_ writer: any PageWriter) -> any PageWriter {
    let used = (try? store.statistics()).map { $0.totalByteCount - $0.freeByteCount } ?? 0
    return QuotaWriter(writer, left: limit - used, path: identity.path)
  }

  // Durability and the rest.
  func sync() throws(StoreError) { try store.sync() }
  func makeDurable(_ version: Version) throws(StoreError) { try store.makeDurable(version) }
  func makeDurable(_ version: Version, then: @escaping @Sendable (StoreError?) -> Void) {
    store.makeDurable(version, then: then)
  }
  func statistics() throws(StoreError) -> StoreStatistics { try store.statistics() }
  func audit() throws(StoreError) -> StoreAudit { try store.audit() }
  func close() throws(StoreError) { try store.close() }
}

/// A write that may take so many bytes more.
private final class QuotaWriter: PageWriter {
  private let writer: any PageWriter
  private var left: Int
  private let path: String

  init(_ writer: any PageWriter, left: Int, path: String) {
    (self.writer, self.left, self.path) = (writer, left, path)
  }

  var base: Head { writer.base }
  var version: Version { writer.version }
  var relocation: Relocation? { writer.relocation }

  func expect(_ durability: Durability) { writer.expect(durability) }
  func reserve(byteCount: Int) throws(StoreError) { try writer.reserve(byteCount: byteCount) }

  func allocate(byteCount: Int) throws(StoreError) -> Extent {
    guard byteCount <= left else { throw .mediumFull(path: path) }
    let extent = try writer.allocate(byteCount: byteCount)
    left -= extent.byteCount
    return extent
  }

  func write(_ bytes: UnsafeRawBufferPointer, to extent: Extent) throws(StoreError) {
    try writer.write(bytes, to: extent)
  }

  func write(
    _ bytes: UnsafeRawBufferPointer, to extent: Extent, checksum: UInt64
  ) throws(StoreError) {
    try writer.write(bytes, to: extent, checksum: checksum)
  }

  func free(_ reference: PageReference) { writer.free(reference) }

  func publish(
    root: TreeRoot, durability: Durability, metadata: [UInt8]
  ) throws(StoreError) -> Pin {
    try writer.publish(root: root, durability: durability, metadata: metadata)
  }

  func publish(
    root: TreeRoot, durability: Durability, metadata: [UInt8], beforeNext: (Head) -> Void
  ) throws(StoreError) -> Pin {
    try writer.publish(
      root: root, durability: durability, metadata: metadata, beforeNext: beforeNext)
  }

  func abort() { writer.abort() }
}
