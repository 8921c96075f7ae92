import TestSupport
import Testing

@testable import CambiumCore
@testable import CambiumFile

/// Pages on their way to a file, against a file that is an array.
struct WriteBufferWhiteBoxTests {
  /// What was written where.
  private struct Model {
    var file = [UInt8](repeating: 0xee, count: 1 << 18)
    var pages: [(reference: PageReference, bytes: [UInt8])] = []

    mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
      file.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `a page is in the buffer or in the file, as a whole`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    func number(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
    let buffer = WriteBuffer(capacity: 1 << 20)
    var model = Model()
    var end = 4096 * (1 + number(4)) + 64 * number(64)
    if number(2) == 0 { buffer.begin(withBlockAt: 0) }
    while end < 200_000 {
      let unitCount = [1, 3, 40, 64, 124, 200][number(6)]
      if number(12) == 0 { end = (end + 4095) / 4096 * 4096 }
      let reference = PageReference(
        checksum: 0, extent: Extent(address: UInt64(end / 64), unitCount: UInt64(unitCount)),
        kind: .columnLeaf, born: 1)
      // Each unit says to which page it belongs, and which of its units it is.
      var bytes = [UInt8](repeating: UInt8(number(256)), count: unitCount * 64)
      for unit in 0..<unitCount { bytes[unit * 64] = UInt8(truncatingIfNeeded: unit) }
      let isAdded = bytes.withUnsafeBytes { buffer.append($0, at: end) }
      #expect(isAdded)
      model.pages.append((reference, bytes))
      end += bytes.count
      switch number(6) {
      case 0: try buffer.flushBlocks { model.write($0, at: $1) }
      case 1 where number(4) == 0:
        try buffer.flush(endsRun: false, endsCommit: false) { model.write($0, at: $1) }
      case 2:
        // A page that is written again.
        let place = max(0, model.pages.count - 1 - number(3))
        var again = model.pages[place].bytes
        again[again.count - 1] ^= 0xff
        let offset = model.pages[place].reference.byteOffset
        if again.withUnsafeBytes({ buffer.replace($0, at: offset) }) {
          model.pages[place].bytes = again
        }
      default: break
      }
      for page in model.pages.suffix(5) { expect(page.bytes, at: page.reference, buffer, model) }
    }
    try buffer.flush(endsRun: true, endsCommit: true) { model.write($0, at: $1) }
    for page in model.pages { expect(page.bytes, at: page.reference, buffer, model) }
  }

  private func expect(
    _ bytes: [UInt8], at reference: PageReference, _ buffer: WriteBuffer, _ model: Model
  ) {
    if let page = buffer.page(reference) {
      let isSame = bytes.elementsEqual(
        UnsafeRawBufferPointer(start: page.bytes, count: bytes.count))
      #expect(isSame)
    } else {
      let stored = model.file[reference.byteOffset..<reference.byteOffset + bytes.count]
      let isSame = stored == bytes[...]
      #expect(isSame)
    }
  }
}
