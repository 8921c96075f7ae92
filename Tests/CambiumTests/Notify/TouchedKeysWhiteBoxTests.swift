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
}
