import CambiumCore
import TestSupport
import Testing

struct KeySorterTests {
  @Test(arguments: 1...6 as ClosedRange<UInt64>, [0, 1, 2, 100, 511, 3000])
  func `strings come out as a sorted array has them`(seed: UInt64, count: Int) {
    var random = SeededGenerator(seed: seed)
    let shared = [UInt8](repeating: 7, count: Int.random(in: 0...20, using: &random))
    let longest = [0, 3, 8, 9, 30, 200][Int(seed) - 1]
    let bound = UInt8.random(in: 0...3, using: &random)
    let sorter = KeySorter()
    var model: [(string: [UInt8], number: Int64)] = []
    for _ in 0..<count {
      let length = Int.random(in: 0...longest, using: &random)
      let string =
        shared + (0..<length).map { _ in UInt8.random(in: 0...bound, using: &random) &* 85 }
      let number = Int64.random(in: -3...3, using: &random)
      string.withUnsafeBytes { sorter.add($0, number) }
      model.append((string, number))
    }
    model.sort { left, right in
      left.string == right.string
        ? left.number < right.number
        : left.string.lexicographicallyPrecedes(right.string)
    }
    sorter.sort()
    var found: [(string: [UInt8], number: Int64)] = []
    sorter.forEach { found.append(([UInt8]($0), $1)) }
    #expect(found.count == sorter.count)
    #expect(found.elementsEqual(model, by: ==))
  }

  @Test func `many strings are in order, and all are there`() {
    var random = SeededGenerator(seed: 7)
    let sorter = KeySorter()
    for number in 0..<70_000 as Range<Int64> {
      withUnsafeBytes(of: UInt64.random(in: 0..<1 << 40, using: &random).bigEndian) {
        sorter.add($0, number)
      }
    }
    sorter.sort()
    var last: UInt64 = 0
    var isOrdered = true
    var numbers = Set<Int64>()
    sorter.forEach { string, number in
      let value = UInt64(bigEndian: string.loadUnaligned(as: UInt64.self))
      if value < last { isOrdered = false }
      last = value
      numbers.insert(number)
    }
    #expect(isOrdered)
    #expect(numbers.count == 70_000)
  }

  @Test func `strings that come after sorting join the next order`() {
    let sorter = KeySorter(capacity: 2, byteCount: 2)
    for (number, string) in ["b", "c"].enumerated() { sorter.add(string, Int64(number)) }
    sorter.sort()
    sorter.add("a", 9)
    sorter.sort()
    var numbers: [Int64] = []
    sorter.forEach { numbers.append($1) }
    #expect(numbers == [9, 0, 1])
  }
}

extension KeySorter {
  fileprivate func add(_ string: String, _ number: Int64) {
    Array(string.utf8).withUnsafeBytes { add($0, number) }
  }
}
