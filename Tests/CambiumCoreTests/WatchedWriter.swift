import TestSupport

@testable import CambiumCore

/// A writer that tells before it makes room for a page, and fails if it is told to.
final class WatchedWriter: RelayingWriter {
  let inner: any PageWriter
  private let watch: (Int) -> StoreError?
  private var pageCount = 0

  /// Calls `watch` with the number of pages that there was room for so far.
  init(_ writer: any PageWriter, _ watch: @escaping (Int) -> StoreError?) {
    inner = writer
    self.watch = watch
  }

  /// A writer whose medium is full after so many pages.
  convenience init(_ writer: any PageWriter, failingAt count: Int) {
    self.init(writer) { $0 >= count ? .damaged(Damage(.count, "no room")) : nil }
  }

  func allocate(byteCount: Int) throws(StoreError) -> Extent {
    if let error = watch(pageCount) { throw error }
    pageCount += 1
    return try inner.allocate(byteCount: byteCount)
  }
}
