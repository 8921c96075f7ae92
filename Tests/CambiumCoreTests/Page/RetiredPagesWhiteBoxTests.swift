import TestSupport
import Testing

@testable import CambiumCore

/// Pages that the newest version does not have any more, in the cache.
struct RetiredPagesWhiteBoxTests {
  private static func reference(_ number: Int) -> PageReference {
    PageReference(
      checksum: UInt64(number) &* 0x9E37_79B9_7F4A_7C15,
      extent: Extent(address: UInt64(number), unitCount: 1), kind: .columnLeaf, born: 1)
  }

  @Test func `pages that were replaced push out none of those that replace them`() {
    // Shards do not fill evenly.
    let cache = PageCache(byteCount: 2 * 16 * 40 * 64)
    var live = Array(0..<400)
    for number in live {
      cache.insert(PageBuffer(byteCount: 64), for: Self.reference(number))
    }
    var generator = SeededGenerator(seed: 1)
    for number in 400..<20_000 {
      let place = Int.random(in: live.indices, using: &generator)
      cache.insert(PageBuffer(byteCount: 64), for: Self.reference(number))
      cache.retire([Self.reference(live[place])])
      live[place] = number
    }
    #expect(live.allSatisfy { cache.contains(Self.reference($0)) })
  }

  @Test func `those that were replaced last are there for older versions`() {
    let cache = PageCache(byteCount: 16 * 40 * 64)
    for number in 0..<40 {
      cache.insert(PageBuffer(byteCount: 64), for: Self.reference(number))
    }
    cache.retire((0..<20).map(Self.reference))
    cache.retire((20..<40).map(Self.reference))
    #expect((0..<40).allSatisfy { cache.contains(Self.reference($0)) })
    // A sixteenth of the room, twice.
    for number in 40..<200 {
      cache.insert(PageBuffer(byteCount: 64), for: Self.reference(number))
      cache.retire([Self.reference(number)])
    }
    #expect(!(0..<40).contains { cache.contains(Self.reference($0)) })
    #expect((190..<200).allSatisfy { cache.contains(Self.reference($0)) })
  }

  @Test func `many small changes of what the cache has room for read nothing again`() throws {
    let heap = HeapStore()
    let store = DistantStore(heap, readAheadCount: 32)
    var options = DatabaseOptions()
    options.pageCacheByteCount = 4 << 20
    let database = try Database(store: store, options: options)
    let filling = try database.beginWrite()
    let table = try filling.createTable(
      "table", columns: [ColumnDescriptor(type: .int, isNullable: false, name: "number")])
    for key in 0..<Int64(50_000) {
      _ = try table.insert(key: key, values: [(1, .int(key &* 0x9E37_79B9))])
    }
    _ = try filling.commit()
    var generator = SeededGenerator(seed: 2)
    func change(_ count: Int) throws {
      for _ in 0..<count {
        let transaction = try database.beginWrite()
        let key = Int64.random(in: 0..<50_000, using: &generator)
        let table = try #require(try transaction.editTable("table"))
        try table.update(key: key, column: 1, value: .int(.random(in: 0...9, using: &generator)))
        _ = try transaction.commit()
      }
    }
    try change(500)
    // Four times what the cache holds, or more.
    let (_, oneByOne, _) = try store.time { try change(4000) }
    #expect(oneByOne == 0)
  }
}
