import CambiumCore
import TestSupport
import Testing

/// Decoded pages that are kept: what is found is what went in, and no more than there is room for.
struct PageCacheTests {
  /// References of a few shards whose searches begin at a few places, so that they meet.
  private static func reference(_ number: Int) -> PageReference {
    PageReference(
      checksum: UInt64(number % 5) &+ UInt64(number / 5) << 32,
      extent: Extent(address: UInt64(number) * 8, unitCount: 1), kind: .columnLeaf, born: 1)
  }

  private static func buffer(_ number: Int, byteCount: Int) -> PageBuffer {
    let buffer = PageBuffer(byteCount: byteCount)
    buffer.bytes.storeBytes(of: number, as: Int.self)
    return buffer
  }

  private static func number(_ buffer: PageBuffer?) -> Int? {
    buffer.map { $0.bytes.load(as: Int.self) }
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `a page is found under its own reference only, whatever was evicted`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let byteCount = 64
    let capacity = 16 * 40 * byteCount
    let cache = PageCache(byteCount: capacity)
    var inserted: Set<Int> = []
    for _ in 0..<20_000 {
      let number = Int.random(in: 0..<2_000, using: &generator)
      if Bool.random(using: &generator) {
        cache.insert(Self.buffer(number, byteCount: byteCount), for: Self.reference(number))
        inserted.insert(number)
        // What has just come in is there.
        #expect(Self.number(cache.page(Self.reference(number))) == number)
      } else if let found = Self.number(cache.page(Self.reference(number))) {
        #expect(found == number && inserted.contains(number))
      }
    }
    let kept = (0..<2_000).filter { cache.page(Self.reference($0)) != nil }
    #expect(kept.count * byteCount <= capacity)
    // Nothing is thrown away before there is need.
    #expect(kept.count * byteCount > capacity / 2)
  }

  @Test func `while there is room every page stays`() {
    let cache = PageCache(byteCount: 16 * 2_000 * 64)
    for number in 0..<1_500 {
      cache.insert(Self.buffer(number, byteCount: 64), for: Self.reference(number))
    }
    for number in 0..<1_500 {
      #expect(Self.number(cache.page(Self.reference(number))) == number)
    }
    #expect(cache.page(Self.reference(1_500)) == nil)
  }

  @Test func `pages that are read again and again outlive those that are not`() {
    let cache = PageCache(byteCount: 16 * 40 * 64)
    let hot = 0..<64
    for number in hot {
      cache.insert(Self.buffer(number, byteCount: 64), for: Self.reference(number))
    }
    for number in 100..<4_000 {
      cache.insert(Self.buffer(number, byteCount: 64), for: Self.reference(number))
      if number % 16 == 0 { for number in hot { _ = cache.page(Self.reference(number)) } }
    }
    #expect(hot.allSatisfy { Self.number(cache.page(Self.reference($0))) == $0 })
  }

  @Test func `a page that is larger than a share of the cache is kept alone`() {
    let cache = PageCache(byteCount: 16 * 128)
    cache.insert(Self.buffer(1, byteCount: 4_096), for: Self.reference(1))
    #expect(Self.number(cache.page(Self.reference(1))) == 1)
  }
}
