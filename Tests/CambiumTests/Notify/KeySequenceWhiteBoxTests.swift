import TestSupport
import Testing

@testable import Cambium

@Suite struct KeySequenceWhiteBoxTests {
  @Test(arguments: [0, 1, 1023, 1024, 1025, 5000])
  func `a sequence holds what it was made of`(count: Int) {
    let keys = (0..<Int64(count)).map { $0 * 3 }
    let sequence = KeySequence(keys)
    #expect(sequence.count == count)
    #expect(sequence.array == keys)
    #expect((0..<count).map { sequence[$0] } == keys)
  }

  @Test(arguments: 0..<20)
  func `edits do to a sequence what they do to an array`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var array = (0..<Int64.random(in: 0..<4000, using: &random)).map { $0 * 10 }
    var sequence = KeySequence(array)
    for _ in 0..<40 {
      let old = sequence
      let before = array
      let share = Int.random(in: 1...100, using: &random)
      let gone = array.indices.filter { _ in Int.random(in: 0..<share, using: &random) == 0 }
      sequence.remove(at: gone)
      for position in gone.reversed() { array.remove(at: position) }
      #expect(sequence.array == array, "seed \(seed)")

      let places = (0..<Int.random(in: 0..<3000, using: &random))
        .map { _ in Int.random(in: 0...array.count, using: &random) }.sorted()
      let new = places.map { ($0, Int64.random(in: 0..<1_000_000, using: &random)) }
      sequence.insert(new)
      for (position, key) in new.reversed() { array.insert(key, at: position) }
      #expect(sequence.array == array, "seed \(seed)")
      #expect(sequence.count == array.count)
      for _ in 0..<20 where !array.isEmpty {
        let position = Int.random(in: array.indices, using: &random)
        #expect(sequence[position] == array[position], "seed \(seed)")
      }
      let sought = Set((0..<4).map { _ in array.randomElement(using: &random) ?? -1 })
      #expect(
        sequence.positions(of: sought) == array.indices.filter { sought.contains(array[$0]) },
        "seed \(seed)")
      #expect(old.array == before, "seed \(seed): the earlier version stays")
    }
  }

  @Test(arguments: [0, 1, 2, 1024, 1025, 2500])
  func `a partition is found wherever it is`(count: Int) {
    let sequence = KeySequence((0..<Int64(count)).map { $0 * 2 })
    let step = max(1, count / 97)
    for place in stride(from: 0, through: count, by: step) {
      #expect(sequence.partition { $0 < Int64(place) * 2 } == place)
    }
  }
}
