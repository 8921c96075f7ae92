import TestSupport
import Testing

@testable import CambiumCore

struct PageDeltaTests {
  /// The delta of `page`; nil where it is not worth it.
  private func delta(of page: [UInt8], from former: [UInt8], shift: Int = 0) -> [UInt8]? {
    var isWorth = false
    let bytes = unsafe page.withUnsafeBytes { page in
      unsafe former.withUnsafeBytes { former in
        [UInt8](limit: 3 + page.count / 2) { bytes in
          bytes.append(copying: [1, 2, 3])
          isWorth = unsafe PageDelta.append(of: page, from: former, shift: shift, to: &bytes)
        }
      }
    }
    #expect(Array(bytes[..<3]) == [1, 2, 3])
    return isWorth ? Array(bytes[3...]) : nil
  }

  private func bytes(_ count: Int, _ random: inout SeededGenerator) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
  }

  @Test(arguments: Exhaustive.seeds(200, few: 30))
  func `what was changed, added and taken away anywhere is made again`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var worthCount = 0
    for _ in 0..<50 {
      let former = bytes(Int.random(in: 0...9000, using: &random), &random)
      var page = former
      for _ in 0..<Int.random(in: 0...6, using: &random) where !page.isEmpty {
        let place = Int.random(in: page.indices, using: &random)
        let count = min(Int.random(in: 0...70, using: &random), page.count - place)
        let new = bytes(Int.random(in: 0...70, using: &random), &random)
        page.replaceSubrange(place..<place + count, with: new)
      }
      guard let delta = self.delta(of: page, from: former, shift: former.count - page.count) else {
        continue
      }
      worthCount += 1
      #expect(delta.count <= page.count / 2)
      #expect(PageDelta.page(delta, of: former, byteCount: page.count) == page)
    }
    #expect(worthCount > 0)
  }

  @Test func `words that were put between others cost little more than themselves`() throws {
    var random = SeededGenerator(seed: 1)
    let former = bytes(8000, &random)
    var page = former
    for place in [7000, 5000, 3000, 1000] {
      page.replaceSubrange(place..<place, with: bytes(8, &random))
    }
    let delta = try #require(self.delta(of: page, from: former))
    #expect(delta.count < 5 * (PageDelta.pieceByteCount + 16))
    #expect(PageDelta.page(delta, of: former, byteCount: page.count) == page)
  }

  @Test func `what ends at the end is found where it has moved by any distance`() throws {
    var random = SeededGenerator(seed: 2)
    let former = bytes(4096, &random)
    var page = former
    page.replaceSubrange(100..<100, with: bytes(333, &random))
    let delta = try #require(self.delta(of: page, from: former, shift: -333))
    #expect(delta.count < 333 + 3 * PageDelta.pieceByteCount + 16)
    #expect(PageDelta.page(delta, of: former, byteCount: page.count) == page)
  }

  @Test func `a page that has nothing in common with the former one is not worth a delta`() {
    var random = SeededGenerator(seed: 3)
    #expect(delta(of: bytes(8192, &random), from: bytes(8192, &random)) == nil)
    #expect(delta(of: bytes(64, &random), from: []) == nil)
  }

  @Test(arguments: Exhaustive.seeds(200, few: 30))
  func `pieces that lead outside, or do not add up, make no page`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let former = bytes(2000, &random)
    var page = former
    page.replaceSubrange(500..<508, with: bytes(24, &random))
    let delta = try #require(self.delta(of: page, from: former))
    for _ in 0..<200 {
      var crafted = delta
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let place = Int.random(in: crafted.indices, using: &random)
        crafted[place] = UInt8.random(in: .min ... .max, using: &random)
      }
      if Bool.random(using: &random) {
        crafted.removeLast(Int.random(in: 0...crafted.count, using: &random))
      }
      let made = PageDelta.page(crafted, of: former, byteCount: page.count)
      #expect(made == nil || made?.count == page.count)
    }
    #expect(PageDelta.page(delta, of: former, byteCount: page.count + 8) == nil)
    #expect(PageDelta.page(delta, of: Array(former[..<1000]), byteCount: page.count) == nil)
    #expect(PageDelta.page([], of: former, byteCount: 0) == [])
  }
}
