@testable import CambiumCore

/// A writer whose medium is full after so many pages.
final class FailingWriter: PageWriter {
  private let writer: any PageWriter
  private var rest: Int

  init(_ writer: any PageWriter, failingAt count: Int) {
    self.writer = writer
    rest = count
  }

  var base: Head { writer.base }
  var version: Version { writer.version }
  func reserve(byteCount: Int) throws(StoreError) { try writer.reserve(byteCount: byteCount) }
  func allocate(byteCount: Int) throws(StoreError) -> Extent {
    rest -= 1
    if rest < 0 { throw .damaged(Damage(.count, "no room")) }
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
