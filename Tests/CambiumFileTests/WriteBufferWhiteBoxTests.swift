import Synchronization
import TestSupport
import Testing

@testable import CambiumCore
@testable import CambiumFile

/// Pages on their way to a file, against a file that is an array.
struct WriteBufferWhiteBoxTests {
  /// What was written where; a second thread writes, too.
  private final class File: Sendable {
    private let bytes = Mutex([UInt8](repeating: 0xee, count: 1 << 18))

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
      self.bytes.withLock { $0.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
    }

    subscript(range: Range<Int>) -> [UInt8] { bytes.withLock { Array($0[range]) } }
  }

  /// The way from the buffer to the file.
  private struct Way {
    let buffer = WriteBuffer(capacity: 1 << 20)
    let behind = WriteBehind(BackgroundLane())
    let file = File()
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `a page is in the buffer, under way or in the file, as a whole`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    func number(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }
    let way = Way()
    let (buffer, behind, file) = (way.buffer, way.behind, way.file)
    var pages: [(reference: PageReference, bytes: [UInt8])] = []
    var end = 4096 * (1 + number(4)) + 64 * number(64)
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
      pages.append((reference, bytes))
      end += bytes.count
      switch number(6) {
      case 0:
        try buffer.pass(to: behind, wholeBlocks: number(4) > 0, endsRun: false) { bytes, offset in
          file.write(bytes, at: offset)
        }
      case 1 where number(4) == 0:
        try behind.finish()
        try buffer.flush(endsRun: false) { file.write($0, at: $1) }
      case 2:
        // A page that is written again.
        let place = max(0, pages.count - 1 - number(3))
        var again = pages[place].bytes
        again[again.count - 1] ^= 0xff
        let offset = pages[place].reference.byteOffset
        let isHere = buffer.page(pages[place].reference) != nil
        if isHere, again.withUnsafeBytes({ buffer.append($0, at: offset) }) {
          pages[place].bytes = again
        }
      default: break
      }
      for page in pages.suffix(5) { expect(page.bytes, at: page.reference, on: way) }
    }
    try behind.finish()
    try buffer.flush(endsRun: true) { file.write($0, at: $1) }
    for page in pages { expect(page.bytes, at: page.reference, on: way) }
  }

  private func expect(_ bytes: [UInt8], at reference: PageReference, on way: Way) {
    // The same order as a reader's: what is not under way any more is in the file.
    if let page = way.buffer.page(reference) ?? way.behind.page(reference) {
      let isSame = bytes.elementsEqual(
        UnsafeRawBufferPointer(start: page.bytes, count: bytes.count))
      #expect(isSame)
    } else {
      let isSame = way.file[reference.byteOffset..<reference.byteOffset + bytes.count] == bytes
      #expect(isSame)
    }
  }

  @Test func `a write that gathers much leaves no memory for it behind`() throws {
    let way = Way()
    let bytes = [UInt8](repeating: 1, count: 60_000)
    for count in [1, 16] {
      for number in 0..<count {
        let isAdded = bytes.withUnsafeBytes { way.buffer.append($0, at: number * bytes.count) }
        #expect(isAdded)
      }
      #expect(way.buffer.reservedByteCount >= count * bytes.count)
      try way.buffer.flush(endsRun: false) { _, _ in }
      // What small writes take they keep.
      #expect((way.buffer.reservedByteCount >= bytes.count) == (count == 1))
    }
  }
}
