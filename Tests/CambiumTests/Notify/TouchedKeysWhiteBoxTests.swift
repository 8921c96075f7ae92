import CambiumCore
import TestSupport
import Testing

@testable import Cambium

/// Keys that a transaction touches, beside a set.
@Suite struct TouchedKeysWhiteBoxTests {
  @Test(arguments: 0..<30 as Range<UInt64>)
  func `keys are those of a set, however they come`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var (keys, model) = (TouchedKeys(), Set<Int64>())
    var next: Int64 = 0
    for _ in 0..<200 {
      switch Int.random(in: 0..<8, using: &random) {
      case 0: next = .random(in: -50...50, using: &random)
      case 1: keys.keepSet()
      case 2: keys.compact()
      case 3:
        var others = TouchedKeys()
        for _ in 0..<5 {
          let key = Int64.random(in: -20...80, using: &random)
          others.append(key)
          model.insert(key)
        }
        keys.append(contentsOf: others)
      default: next += Int64.random(in: 0...2, using: &random)
      }
      keys.append(next)
      model.insert(next)
      #expect(keys.sorted == model.sorted(), "seed \(seed)")
      #expect(keys.set == model, "seed \(seed)")
      #expect(!keys.isEmpty)
    }
  }

  @Test func `rows are many once too many were touched, not when few were touched often`() {
    var rows = TouchedRows(limit: 10)
    for _ in 0..<1000 {
      for key in [3, 1, 2] as [Int64] {
        rows.assign(1, key)
        rows.assign(2, key)
      }
    }
    #expect(!rows.isMany && rows.count == 6)
    #expect(rows.assigned == [1, 2, 3] && rows.assigned(2) == [1, 2, 3] && rows.assigned(3) == [])
    for key in 10..<14 as Range<Int64> { rows.insert(key) }
    #expect(!rows.isMany && rows.count == 10)
    rows.delete(10)
    // It is looked again once as many were noted as there were.
    for key in 20..<40 as Range<Int64> { rows.delete(key) }
    #expect(rows.isMany && rows.inserted.isEmpty && rows.count == 0)
  }

  @Test func `of a map too many keys are none, and are found by comparing`() {
    let map = TouchedRows.CollectionKey(column: 1, owner: 7)
    var rows = TouchedRows()
    rows.assign((0..<4096).map { "key \($0)" }, of: map)
    #expect(rows.entries[map]?.count == 4096)
    rows.assign("one more", of: map)
    #expect(rows.entries[map] == nil && rows.assigned == [7])
  }

  @Test func `the latest thousand transactions are remembered, or as many as have so many keys`() {
    let history = TouchHistory()
    for version in 1...3000 as ClosedRange<Version> { history.add(version, TransactionTouches()) }
    let found = history.touches(after: 0, through: 3000)
    #expect(512...1024 ~= found.count && found[3000] != nil && found[1] == nil)
    var touches = TransactionTouches()
    touches.change(1) { rows in for key in 0..<60_000 as Range<Int64> { rows.insert(key) } }
    for version in 3001...3010 as ClosedRange<Version> { history.add(version, touches) }
    let large = history.touches(after: 0, through: 3010)
    #expect(1...4 ~= large.count && large[3010] != nil)
  }
}
