@testable import CambiumCore

/// A writer that tells before it makes room for a page, and fails if it is told to.
final class WatchedWriter: PageWriter {
  private let writer: any PageWriter
  private let watch: (Int) -> StoreError?
  private var pageCount = 0

  /// Calls `watch` with the number of pages that there was room for so far.
  init(_ writer: any PageWriter, _ watch: @escaping (Int) -> StoreError?) {
    self.writer = writer
    self.watch = watch
  }

  /// A writer whose medium is full after so many pages.
  convenience init(_ writer: any PageWriter, failingAt count: Int) {
    self.init(writer) { $0 >= count ? .damaged(Damage(.count, "no room")) : nil }
  }

  var base: Head { writer.base }
  var version: Version { writer.version }
  func reserve(byteCount: Int) throws(StoreError) { try writer.reserve(byteCount: byteCount) }
  func allocate(byteCount: Int) throws(StoreError) -> Extent {
    if let error = watch(pageCount) { throw error }
    pageCount += 1
    return try writer.allocate(byteCount: byteCount)
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
  func abort() { writer.abort() }
}
