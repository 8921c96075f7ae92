import CambiumCore

/// A store of one's own: another one that takes no more than so many bytes, for programs that keep a database
/// for each of their customers.
///
/// Whatever would make it larger is refused as if the medium were full: the transaction is taken back, and
/// nothing is lost. All else is handed on as it is.
final class QuotaStore: RelayingStore {
  let inner: any PageStore
  private let limit: Int

  init(_ inner: any PageStore, limit: Int) {
    self.inner = inner
    self.limit = limit
  }

  func beginWrite() throws(StoreError) -> any PageWriter { limited(try inner.beginWrite()) }

  private func limited(_ writer: any PageWriter) -> any PageWriter {
    let used = (try? inner.statistics()).map { $0.totalByteCount - $0.freeByteCount } ?? 0
    return QuotaWriter(writer, left: limit - used, path: identity.path)
  }

  // What the other store does better than the contract makes of the rest.

  func beginWriteIfFree() throws(StoreError) -> (any PageWriter)? {
    try inner.beginWriteIfFree().map(limited)
  }

  func isNewest(_ pin: Pin) -> Bool { inner.isNewest(pin) }
  func makeDurable(_ version: Version) throws(StoreError) { try inner.makeDurable(version) }
  func makeDurable(_ version: Version, then: @escaping @Sendable (StoreError?) -> Void) {
    inner.makeDurable(version, then: then)
  }

  func metadata(
    from first: Version, through pin: Pin
  ) throws(StoreError) -> [CommitMetadata]? { try inner.metadata(from: first, through: pin) }
}

/// A write that may take so many bytes more.
private final class QuotaWriter: RelayingWriter {
  let inner: any PageWriter
  private var left: Int
  private let path: String

  init(_ inner: any PageWriter, left: Int, path: String) {
    (self.inner, self.left, self.path) = (inner, left, path)
  }

  func allocate(byteCount: Int) throws(StoreError) -> Extent {
    guard byteCount <= left else { throw .mediumFull(path: path) }
    let extent = try inner.allocate(byteCount: byteCount)
    left -= extent.byteCount
    return extent
  }

  var relocation: Relocation? { inner.relocation }
  func expect(_ durability: Durability) { inner.expect(durability) }
}
