import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CambiumCore

/// Pages that are lent without counting: found under their own reference only, bounded, and there for
/// as long as anybody reads through them.
struct HeldPagesWhiteBoxTests {
  /// References whose searches begin at a few places, so that they meet.
  private static func reference(_ number: Int, born: Version = 1) -> PageReference {
    PageReference(
      checksum: UInt64(number % 7) << 20 | UInt64(number / 7) << 40,
      extent: Extent(address: UInt64(number) * 8, unitCount: 1), kind: .columnLeaf, born: born)
  }

  private static func buffer(_ number: Int, byteCount: Int = 64) -> PageBuffer {
    let buffer = PageBuffer(byteCount: byteCount)
    buffer.bytes.storeBytes(of: number, as: Int.self)
    return buffer
  }

  private static func number(_ page: Page?) -> Int? { page.map { $0.bytes.load(as: Int.self) } }

  @Test func `a page is found under its own reference only`() {
    let held = HeldPages(byteCount: 1 << 20)
    var isHeld: [Bool] = []
    for number in 0..<200 {
      isHeld.append(
        held.insert(Self.buffer(number), for: Self.reference(number), isBranch: false))
    }
    // As many as a search looks at, in each of seven places; the rest has no room there.
    #expect(isHeld.filter { $0 }.count >= 8 && isHeld.contains(false))
    for number in 0..<200 {
      let found = held.page(Self.reference(number))
      #expect(Self.number(found) == (isHeld[number] ? number : nil))
      #expect(found?.owner == nil)
      #expect(held.page(Self.reference(number, born: 2)) == nil, "another version")
    }
    #expect(held.byteCount == isHeld.filter { $0 }.count * 64)
  }

  @Test func `leaves leave room for branches, and neither goes past its limit`() {
    let held = HeldPages(byteCount: 64 << 10)
    var generator = SeededGenerator(seed: 3)
    func random(_ kind: PageKind) -> PageReference {
      PageReference(
        checksum: generator.next(), extent: Extent(address: 1, unitCount: 1), kind: kind, born: 1)
    }
    for _ in 0..<200 {
      held.insert(Self.buffer(0, byteCount: 4096), for: random(.columnLeaf), isBranch: false)
    }
    #expect(held.byteCount <= 64 << 10 && held.byteCount > 48 << 10)
    #expect(held.isOutworn)
    let before = held.byteCount
    for _ in 0..<20 {
      held.insert(Self.buffer(0, byteCount: 4096), for: random(.columnBranch), isBranch: true)
    }
    #expect(held.byteCount > before && held.byteCount <= 72 << 10)
  }

  @Test func `pages stay until the last who reads through them is gone`() {
    weak var page: PageBuffer?
    var held: HeldPages? = HeldPages(byteCount: 1 << 20)
    do {
      let buffer = Self.buffer(7)
      page = buffer
      held?.insert(buffer, for: Self.reference(7), isBranch: false)
    }
    #expect(page != nil)
    #expect(Self.number(held?.page(Self.reference(7))) == 7)
    held = nil
    #expect(page == nil)
  }

  @Test func `new ones begin when the old are outworn, two at most`() throws {
    let cache = PageCache(byteCount: 128 << 10)
    func wearOut(_ held: HeldPages) {
      var generator = SeededGenerator(seed: 5)
      while !held.isOutworn {
        let reference = PageReference(
          checksum: generator.next(), extent: Extent(address: 1, unitCount: 1), kind: .columnLeaf,
          born: 1)
        held.insert(Self.buffer(1, byteCount: 4096), for: reference, isBranch: false)
      }
    }
    var first = cache.heldPages()
    #expect(cache.heldPages() === first)
    wearOut(try #require(first))
    let second = try #require(cache.heldPages())
    #expect(second !== first && second.byteCount == 0)
    wearOut(second)
    // Somebody still reads through the first.
    #expect(cache.heldPages() === second)
    withExtendedLifetime(first) {}
    first = nil
    let third = try #require(cache.heldPages())
    #expect(third !== second)
    #expect(PageCache(byteCount: 0).heldPages() == nil)
  }

  @Test func `threads that hold and find at once see whole pages`() {
    let held = HeldPages(byteCount: 1 << 20)
    let finished = DispatchSemaphore(value: 0)
    let wrong = WrongPages()
    for thread in 0..<4 {
      Thread.detachNewThread {
        var generator = SeededGenerator(seed: UInt64(thread))
        for _ in 0..<20_000 {
          let number = Int.random(in: 0..<600, using: &generator)
          let reference = PageReference(
            checksum: UInt64(number) &* 0x9E37_79B9_7F4A_7C15,
            extent: Extent(address: UInt64(number), unitCount: 32), kind: .columnLeaf, born: 1)
          if let found = Self.number(held.page(reference)) {
            if found != number { wrong.add("\(found) for \(number)") }
          } else {
            held.insert(Self.buffer(number, byteCount: 2_048), for: reference, isBranch: false)
          }
        }
        finished.signal()
      }
    }
    for _ in 0..<4 { finished.wait() }
    #expect(wrong.list == [])
    #expect(held.byteCount > 512 << 10 && held.byteCount <= 1 << 20)
  }

  /// Snapshots come and go while a writer changes rows and others read, in a cache that is too small:
  /// what is lent is the page that was asked for, at any time.
  @Test(arguments: [0, 64 << 10, 512 << 10])
  func `readers of many versions see their own rows while pages come and go`(cache: Int) throws {
    var options = DatabaseOptions()
    options.pageCacheByteCount = cache
    let codec = MaskCodec()
    let database = try Database(
      store: HeapStore(codec: codec.name), codec: codec, options: options)
    let rows: Int64 = 4_000
    let filling = try database.beginWrite()
    let table = try filling.createTable(
      "rows", columns: [ColumnDescriptor(type: .int, isNullable: false, name: "a")])
    for key in 0..<rows { _ = try table.insert(key: key, values: [(1, .int(-1))]) }
    _ = try filling.commit()
    let finished = DispatchSemaphore(value: 0)
    let wrong = WrongPages()
    for thread in 0..<3 {
      Thread.detachNewThread {
        defer { finished.signal() }
        do {
          var generator = SeededGenerator(seed: UInt64(thread))
          for _ in 0..<20 {
            let snapshot = try database.snapshot()
            guard let tree = try snapshot.table("rows")?.groups[0] else {
              return wrong.add("no table")
            }
            // Each commit sets every hundredth row to its number, and the first one with it.
            var newest: Int64?
            for _ in 0..<100 {
              let key = Int64.random(in: 0..<(rows / 100), using: &generator) * 100
              guard let found = try tree.seek(key), found.key == key, let cell = found.column(1)
              else { return wrong.add("no row \(key)") }
              let value = cell.int(found.row)
              if newest ?? value != value { wrong.add("\(value) beside \(newest ?? 0)") }
              newest = value
            }
            withExtendedLifetime(snapshot) {}
          }
        } catch { wrong.add("\(error)") }
      }
    }
    for round in 1...20 as ClosedRange<Int64> {
      let transaction = try database.beginWrite()
      let editor = try #require(try transaction.editTable("rows"))
      for key in stride(from: Int64(0), to: rows, by: 100) {
        try editor.update(key: key, column: 1, value: .int(round))
      }
      _ = try transaction.commit()
    }
    for _ in 0..<3 { finished.wait() }
    #expect(wrong.list == [])
    try database.close()
  }
}

/// What went wrong, from any thread.
private final class WrongPages: Sendable {
  private let entries = Mutex<[String]>([])

  var list: [String] { entries.withLock { $0 } }
  func add(_ text: String) { entries.withLock { $0.append(text) } }
}
