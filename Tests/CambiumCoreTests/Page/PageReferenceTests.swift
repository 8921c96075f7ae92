import CambiumCore
import Testing

@Suite struct PageReferenceTests {
  @Test func `the stored form is 24 bytes in the documented order`() {
    let reference = PageReference(
      checksum: 0x0102_0304_0506_0708, extent: Extent(address: 0xA1A2_A3A4_A5A6, unitCount: 0xB1B2),
      kind: .columnLeaf, born: 0xC1C2_C3C4_C5C6)
    var bytes = [UInt8](repeating: 0, count: 24)
    bytes.withUnsafeMutableBytes { buffer in
      if let base = buffer.baseAddress { reference.store(to: base) }
    }
    #expect(
      bytes == [
        8, 7, 6, 5, 4, 3, 2, 1, 0xB2, 0xB1, 0xA6, 0xA5, 0xA4, 0xA3, 0xA2, 0xA1, 3, 0, 0xC6, 0xC5,
        0xC4, 0xC3, 0xC2, 0xC1,
      ])
    let loaded = bytes.withUnsafeBytes { $0.baseAddress.map { PageReference(loadingFrom: $0) } }
    #expect(loaded == reference)
    #expect(reference.born == 0xC1C2_C3C4_C5C6)
    #expect(reference.address == 0xA1A2_A3A4_A5A6)
    #expect(reference.byteCount == 0xB1B2 * 64)
  }

  @Test func `a dirty reference names a page number and is never none`() {
    let reference = PageReference(dirty: 12_345, kind: .keyLeaf)
    #expect(reference.isDirty)
    #expect(!reference.isNone)
    #expect(reference.dirtyIndex == 12_345)
    #expect(!PageReference.none.isDirty)
  }

  @Test func `a root that breaks the format is refused`() {
    let root = TreeRoot(
      reference: PageReference(
        checksum: 1, extent: Extent(address: 64, unitCount: 1), kind: .keyLeaf, born: 1),
      height: 1, kind: .key, rowCount: 3)
    let stored = root.storedBytes
    #expect(stored.count == TreeRoot.byteCount)
    #expect(stored.withUnsafeBytes { TreeRoot(loadingFrom: $0) } == root)
    for (index, value) in [(24, 1), (30, 33), (30, 0), (31, 0), (31, 4)] as [(Int, UInt8)] {
      var broken = stored
      broken[index] = value
      #expect(broken.withUnsafeBytes { TreeRoot(loadingFrom: $0) } == nil, "byte \(index)")
    }
  }
}
