import TestSupport
import Testing

@testable import CambiumCore
@testable import CambiumFile

/// A file whose pages share their bytes, which no honest one does.
@Suite struct SharedBytesTests {
  @Test func `pages that share bytes are not read for ever`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("crafted")
    let store = try FileStore(path: path)
    let writer = try store.beginWrite()
    let context = WriteContext(
      source: PageSource(
        pin: try store.pin(), store: store, codec: nil, trust: TrustTable(bitCount: 8),
        cache: PageCache(byteCount: 0)),
      writer: writer, codec: nil, store: store.identity)
    let zeros = [UInt8](repeating: 0, count: OverflowValue.chunkByteCount)
    let page = try zeros.withUnsafeBytes { try context.write($0, kind: .overflow) }
    // All zeros hash alike, wherever a page of them begins.
    let part = Array(zeros[..<(zeros.count / 2)])
    let checksum = part.withUnsafeBytes { Checksum.hash($0) }
    let entries = KeyEntryList(isLeaf: true)
    let valueCount = 1_000
    for number in 0..<valueCount {
      let reference = PageReference(
        checksum: checksum,
        extent: Extent(
          address: page.address + UInt64(number), unitCount: UInt64(part.count / 64)),
        kind: .overflow, born: page.born)
      let value = OverflowValue(byteCount: UInt64(part.count), reference: reference)
      let size = OverflowValue.storedByteCount
      let form = [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
        value.store(to: bytes.baseAddress.unsafelyUnwrapped)
        count = size
      }
      [UInt8(number >> 8), UInt8(number & 0xff)].withUnsafeBytes { key in
        form.withUnsafeBytes { entries.append(key, StoredValue(bytes: $0, isOverflow: true)) }
      }
    }
    let leaf = KeyPage(kind: .keyLeaf, capacity: KeyNode.maximumByteCount)
    try entries.fill(leaf, 0..<valueCount)
    let byteCount = leaf.tighten()
    let root = TreeRoot(
      reference: try context.write(
        UnsafeRawBufferPointer(start: leaf.bytes, count: byteCount), kind: .keyLeaf),
      height: 1, kind: .key, rowCount: UInt64(valueCount))
    let catalog = KeyTreeEditor(root: .empty(.key), context: context)
    _ = try catalog.set(Catalog.key("crafted"), CatalogEntry.keyTree(root).bytes)
    _ = try writer.publish(root: try catalog.flush(), durability: .full, metadata: [])
    let database = try Database(store: store)
    let report = try database.verify()
    #expect(report.findings.contains { $0.contains("pages share bytes") })
    // All of them would be 128 MB.
    #expect(report.reachableByteCount <= (try store.statistics().totalByteCount))
    try database.close()
  }
}
