import CPlatform
import TestSupport
import Testing

/// The loops that take the texts of a leaf apart, against one text after the other.
struct TextKernelTests {
  private struct Texts {
    var lengths: [UInt8] = []
    var heap: [UInt8] = []
    var values: [[UInt8]] = []

    init(seed: UInt64) {
      var generator = SeededGenerator(seed: seed)
      for _ in 0..<Int.random(in: 1...90, using: &generator) {
        let longest = [0, 3, 8, 40, 255][Int.random(in: 0..<5, using: &generator)]
        let count = Int.random(in: 0...longest, using: &generator)
        let value = (0..<count).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
        lengths.append(UInt8(count))
        heap += value
        values.append(value)
      }
    }
  }

  private func bytes(_ slot: UInt64, base: Int, in memory: [UInt8]) -> [UInt8] {
    let start = Int(slot & 0xffff_ffff) - base
    return Array(memory[start..<(start + Int(slot >> 32))])
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `slots name the values one after another, up to the end of the heap`(seed: UInt64) {
    let texts = Texts(seed: seed)
    let rows = texts.values.count
    for limit in [texts.heap.count, texts.heap.count / 2, 0] {
      var slots = [UInt64](repeating: 7, count: rows)
      var end = 0
      let loaded = cambium_load_slots(texts.lengths, rows, 1000, limit, &slots, &end)
      var expected = 0
      var sum = 0
      while expected < rows, sum + texts.values[expected].count <= limit {
        sum += texts.values[expected].count
        expected += 1
      }
      #expect(loaded == expected)
      #expect(end == sum)
      for row in 0..<loaded {
        #expect(bytes(slots[row], base: 1000, in: texts.heap) == texts.values[row])
      }
      #expect(slots[loaded...].allSatisfy { $0 == 7 })
    }
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `values that stay are put between what all share`(seed: UInt64) {
    let texts = Texts(seed: seed)
    let rows = texts.values.count
    var generator = SeededGenerator(seed: seed)
    let prefix = [UInt8](repeating: 1, count: Int.random(in: 0...20, using: &generator))
    let suffix = [UInt8](repeating: 2, count: Int.random(in: 0...20, using: &generator))
    let removed = (0..<rows).map { _ in UInt8.random(in: 0...1, using: &generator) }
    let room = texts.heap.count + rows * (prefix.count + suffix.count) + 1
    for (flags, limit) in [(removed, texts.heap.count), ([], texts.heap.count / 2)] {
      var slots = [UInt64](repeating: 7, count: rows)
      var target = [UInt8](repeating: 9, count: room)
      var end = 0
      let loaded = flags.withUnsafeBufferPointer { flags in
        target.withUnsafeMutableBytes { target in
          texts.heap.withUnsafeBytes { heap in
            (prefix + suffix).withUnsafeBytes { affixes in
              cambium_load_values(
                texts.lengths, flags.isEmpty ? nil : flags.baseAddress, rows,
                heap.baseAddress?.assumingMemoryBound(to: CChar.self), limit,
                affixes.baseAddress?.assumingMemoryBound(to: CChar.self), prefix.count,
                suffix.count, 50, target.baseAddress?.assumingMemoryBound(to: CChar.self),
                &slots, &end)
            }
          }
        }
      }
      var written = 0
      var sum = 0
      for row in 0..<loaded {
        sum += texts.values[row].count
        if !flags.isEmpty, flags[row] != 0 {
          #expect(slots[row] == 0)
          continue
        }
        let expected = prefix + texts.values[row] + suffix
        #expect(bytes(slots[row], base: 50, in: target) == expected)
        written += expected.count
      }
      #expect(end == written)
      #expect(sum <= limit)
      #expect(loaded == rows || sum + texts.values[loaded].count > limit)
      #expect(target[written...].allSatisfy { $0 == 9 })
    }
  }
}
