import CambiumCore
import TestSupport
import Testing

@testable import Cambium

/// The keys of indexes, one by one and many at once.
@Suite struct IndexKeyTests {
  @Test(arguments: Exhaustive.seeds(20, few: 4))
  func `keys that are sorted in bulk are those that are made one by one, in the order of bytes`(
    seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    let sorter = KeySorter()
    var expected: [[UInt8]] = []
    func add(_ cell: ColumnValue, _ key: Int64, isSigned: Bool = false) {
      IndexKey.add(cell, isSigned: isSigned, key, to: sorter)
      if let form = IndexKey.form(of: cell, isSigned: isSigned) {
        expected.append(IndexKey.key(form, key))
      }
    }
    for _ in 0..<300 {
      let key = Int64(number(-5...5)) << Int64(number(0...60))
      switch number(0...6) {
      case 0: add(.null, key)
      case 1: add(.int(Int64(number(-3...3)) << Int64(number(0...60))), key)
      case 2: add(.bool(key > 0), key)
      case 3: add(.wide(low: UInt64(number(0...9)), high: UInt64.max), key, isSigned: key > 0)
      case 4: add(.double(1), key)
      default:
        let count = [0, 1, 3, 20, 511, 512, 513, 700][number(0...7)]
        let bytes = (0..<count).map { _ in UInt8(number(0...(count > 20 ? 255 : 3))) }
        bytes.withUnsafeBytes { add(.bytes($0), key) }
      }
    }
    sorter.sort()
    var sorted: [[UInt8]] = []
    sorter.forEach { bytes, _ in sorted.append(Array(bytes)) }
    #expect(sorted == expected.sorted { $0.lexicographicallyPrecedes($1) })
  }
}
