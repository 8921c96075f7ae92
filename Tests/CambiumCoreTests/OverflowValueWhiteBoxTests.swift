import TestSupport
import Testing

@testable import CambiumCore

/// Values in pages of their own: shape, form, and refusal of what cannot be.
struct OverflowValueTests {
  private static func inTransaction(_ body: (WriteContext) throws -> Void) throws {
    try KeyTreeBench().write { editor throws in try body(editor.context) }
  }

  @Test func `length alone gives the height`() {
    let chunk = OverflowValue.chunkByteCount
    let list = chunk * OverflowValue.fanOut
    #expect([1, chunk, chunk + 1, list, list + 1].map(OverflowValue.height) == [0, 0, 1, 1, 2])
    #expect(OverflowValue.height(OverflowValue.maximumByteCount) == 3)
    #expect(OverflowValue.fanOut * PageReference.byteCount <= chunk)
  }

  @Test func `the stored form comes back`() {
    let reference = PageReference(
      checksum: 1, extent: Extent(address: 2, unitCount: 3), kind: .overflow, born: 4)
    let value = OverflowValue(byteCount: 5, reference: reference)
    withUnsafeTemporaryAllocation(
      byteCount: OverflowValue.storedByteCount + 1, alignment: 8
    ) { buffer in
      guard let base = buffer.baseAddress else { return }
      value.store(to: base + 1)
      #expect(OverflowValue(loadingFrom: base + 1) == value)
      #expect(base.load(fromByteOffset: 1, as: UInt8.self) == 5)
    }
    #expect(value.isWellFormed)
    #expect(!OverflowValue(byteCount: 0, reference: reference).isWellFormed)
    #expect(!OverflowValue(byteCount: .max, reference: reference).isWellFormed)
    #expect(!OverflowValue(byteCount: 5, reference: .none).isWellFormed)
    let dirty = PageReference(dirty: 0, kind: .overflow)
    #expect(!OverflowValue(byteCount: 5, reference: dirty).isWellFormed)
  }

  @Test func `lists of lists name every chunk in order`() throws {
    // Three gigabytes, of which only the lists are written.
    try Self.inTransaction { context in
      func chunk(_ number: Int) -> PageReference {
        PageReference(
          checksum: UInt64(number),
          extent: Extent(address: UInt64(number) * 4096 + (1 << 30), unitCount: 4096),
          kind: .overflow, born: 1)
      }
      func list(_ references: [PageReference]) throws -> PageReference {
        let bytes = UnsafeMutableRawBufferPointer.allocate(
          byteCount: references.count * PageReference.byteCount, alignment: 8)
        defer { bytes.deallocate() }
        for (index, reference) in references.enumerated() {
          reference.store(to: bytes.baseAddress.unsafelyUnwrapped + index * PageReference.byteCount)
        }
        return try context.write(UnsafeRawBufferPointer(bytes), kind: .overflow)
      }
      let full = OverflowValue.fanOut
      let lists = [try list((0..<full).map(chunk)), try list([chunk(full), chunk(full + 1)])]
      let byteCount = (full + 1) * OverflowValue.chunkByteCount + 77
      let value = OverflowValue(byteCount: UInt64(byteCount), reference: try list(lists))
      var chunks: [UInt64] = []
      var total = 0
      var seen: [PageReference] = []
      try value.forEachPage(in: context.source) { reference, byteCount throws(StoreError) in
        if let byteCount {
          chunks.append(reference.checksum)
          total += byteCount
        } else {
          seen.append(reference)
        }
      }
      #expect(chunks == (0...UInt64(full) + 1).map { $0 })
      #expect(total == byteCount)
      #expect(seen == lists + [value.reference])
    }
  }

  @Test(arguments: [0, 1])
  func `a crafted list that repeats a chunk or a part of one is refused`(shift: UInt64) throws {
    try Self.inTransaction { context in
      let bytes = [UInt8](repeating: 7, count: OverflowValue.chunkByteCount)
      let chunk = try bytes.withUnsafeBytes { try context.write($0, kind: .overflow) }
      let again = PageReference(
        checksum: chunk.checksum,
        extent: Extent(address: chunk.address + shift, unitCount: chunk.unitCount),
        kind: .overflow, born: chunk.born)
      func list(_ children: [PageReference]) throws -> PageReference {
        var page = [UInt8](repeating: 0, count: children.count * PageReference.byteCount)
        page.withUnsafeMutableBytes { page in
          for (index, child) in children.enumerated() {
            child.store(
              to: page.baseAddress.unsafelyUnwrapped + index * PageReference.byteCount)
          }
        }
        return try page.withUnsafeBytes { try context.write($0, kind: .overflow) }
      }
      let full = try list((0..<OverflowValue.fanOut).map { $0 % 2 == 0 ? chunk : again })
      let lists = try list([full, full, full])
      // Gigabytes from one chunk, and from one list.
      for (reference, byteCount) in [
        (full, OverflowValue.coverage(1)), (lists, OverflowValue.coverage(1) * 3),
      ] {
        let value = OverflowValue(byteCount: UInt64(byteCount), reference: reference)
        let error = #expect(throws: StoreError.self) { try value.read(from: context.source) }
        #expect("\(String(describing: error))".contains("the same place"))
        #expect(throws: StoreError.self) { try value.free(in: context) }
      }
    }
  }

  @Test func `a value that names a page twice is not given back`() throws {
    try Self.inTransaction { context in
      let bytes = [UInt8](repeating: 1, count: 300_000)
      let value = try bytes.withUnsafeBytes { try OverflowValue.write($0, to: context) }
      #expect(try value.read(from: context.source) == bytes)
      let pages = try context.source.page(value.reference, .overflow)
      let first = PageReference(loadingFrom: pages.bytes)
      let twice = UnsafeMutableRawBufferPointer.allocate(byteCount: 48, alignment: 8)
      defer { twice.deallocate() }
      for index in 0..<2 {
        first.store(to: twice.baseAddress.unsafelyUnwrapped + index * PageReference.byteCount)
      }
      let list = try context.write(UnsafeRawBufferPointer(twice), kind: .overflow)
      let doubled = OverflowValue(byteCount: 300_000, reference: list)
      #expect(throws: StoreError.self) { try doubled.free(in: context) }
      #expect(try value.read(from: context.source) == bytes)
      try value.free(in: context)
      let store = context.source.store
      #expect(throws: StoreError.self) { try store.read(value.reference, at: store.pin()) }
      context.free(list)
    }
  }
}
