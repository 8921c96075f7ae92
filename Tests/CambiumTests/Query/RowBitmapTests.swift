import Testing

@testable import Cambium

struct RowBitmapTests {
  @Test(arguments: [0, 1, 63, 64, 100, 130])
  func `positions behind the window are copied as zeros`(start: Int) {
    let bitmap = RowBitmap(0..<131, filled: true)
    var bits = [UInt64](repeating: .max, count: 64)
    bits.withUnsafeMutableBufferPointer { buffer in
      if let first = buffer.baseAddress { bitmap.copy(start..<start + 4096, into: first) }
    }
    for index in 0..<4096 {
      #expect(bits[index >> 6] >> UInt64(index & 63) & 1 == (start + index < 131 ? 1 : 0))
    }
  }
}
