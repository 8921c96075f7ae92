import CambiumCore
import TestSupport
import Testing

/// Bytes of pages in memory of their own.
@Suite struct PageBufferTests {
  @Test func `behind a page there are 64 zero bytes, whatever was there before`() {
    for byteCount in [0, 1, 64, 8192, 1 << 20] {
      do {
        let used = (0..<20).map { PageBuffer(byteCount: byteCount, isSecret: $0 % 2 == 0) }
        for page in used {
          unsafe page.bytes.initializeMemory(as: UInt8.self, repeating: 0xFF, count: byteCount + 64)
        }
      }
      let pages = [
        PageBuffer(byteCount: byteCount),
        PageBuffer(copying: [UInt8](repeating: 0xAA, count: byteCount).span),
        unsafe PageBuffer(uninitialized: byteCount),
        PageBuffer(byteCount: byteCount, isSecret: true),
      ]
      for page in pages {
        let end = unsafe UnsafeRawBufferPointer(start: page.bytes + page.byteCount, count: 64)
        #expect(page.byteCount == byteCount && end.allSatisfy { $0 == 0 })
      }
      #expect(pages[0].withBytes { [UInt8](copying: $0) }.allSatisfy { $0 == 0 })
      #expect(pages[1].withBytes { [UInt8](copying: $0) }.allSatisfy { $0 == 0xAA })
      #expect(pages[3].withBytes { [UInt8](copying: $0) }.allSatisfy { $0 == 0 })
    }
  }
}
