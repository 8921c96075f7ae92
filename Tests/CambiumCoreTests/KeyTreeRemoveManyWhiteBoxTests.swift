import TestSupport
import Testing

@testable import CambiumCore

/// Removing many keys of a tree at once, leaf by leaf.
struct KeyTreeRemoveManyTests {
  private static func damage(_ tree: KeyTree) throws -> [String] {
    var findings: [String] = []
    try tree.walk({ _, _ in }, damage: { findings.append("\($0)") })
    return findings
  }

  private static func key(_ number: Int, _ random: inout SeededGenerator) -> [UInt8] {
    [UInt8(number >> 8), UInt8(number & 255)]
      + [UInt8](repeating: 7, count: Int.random(in: 0...12, using: &random))
  }

  @Test(arguments: 1...24 as ClosedRange<UInt64>)
  func `what is left is what removing one by one leaves`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let sizes = [(64, 128), (128, 200), (512, 256), (8192, 4096)]
    let (leaf, branch) = sizes[Int(seed) % sizes.count]
    let bench = KeyTreeBench(leaf: leaf, branch: branch)
    var model: [[UInt8]: [UInt8]] = [:]
    for _ in 0..<6 {
      let tree = try bench.write { editor throws in
        for _ in 0..<Int.random(in: 0...700, using: &random) {
          let key = Self.key(Int.random(in: 0..<1500, using: &random), &random)
          // Some values lie in pages of their own.
          let length = Int.random(in: 0..<60, using: &random) == 0 ? 3000 : 3
          let value = [UInt8](repeating: key[1], count: length)
          try editor.set(key, value)
          model[key] = value
        }
        if Bool.random(using: &random) { _ = try editor.flush() }
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let sorter = KeySorter()
          let start = Int.random(in: 0..<1500, using: &random)
          let range = start..<start + Int.random(in: 0...1500, using: &random)
          let share = Int.random(in: 1...4, using: &random)
          for key in model.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let number = Int(key[0]) << 8 + Int(key[1])
            guard range.contains(number), Int.random(in: 0..<share, using: &random) == 0 else {
              continue
            }
            key.withUnsafeBytes { sorter.add($0, 0) }
            model[key] = nil
          }
          // Some that are not there, and some twice.
          for _ in 0..<Int.random(in: 0...20, using: &random) {
            let key = Self.key(Int.random(in: range.lowerBound...1600, using: &random), &random)
            if model[key] == nil { key.withUnsafeBytes { sorter.add($0, 0) } }
          }
          sorter.sort()
          try editor.remove(sorter)
          #expect(try Self.damage(editor.tree) == [], "seed \(seed)")
          #expect(editor.count == model.count)
        }
      }
      let expected = model.sorted { $0.key.lexicographicallyPrecedes($1.key) }
      let found = try tree.entries()
      #expect(found.map(\.key) == expected.map(\.key), "seed \(seed)")
      #expect(found.map(\.value) == expected.map(\.value), "seed \(seed)")
      #expect(try bench.findings(tree) == [], "seed \(seed)")
    }
  }

  @Test func `a tree of which all keys are removed is empty, and gives all pages back`() throws {
    let bench = KeyTreeBench(leaf: 128, branch: 200)
    let tree = try bench.write { editor throws in
      let sorter = KeySorter()
      for number in 0..<900 {
        let key = [UInt8(number >> 8), UInt8(number & 255)]
        try editor.set(key, [UInt8](repeating: 1, count: number % 90 == 0 ? 2000 : 4))
        key.withUnsafeBytes { sorter.add($0, 0) }
      }
      _ = try editor.flush()
      sorter.sort()
      try editor.remove(sorter)
      #expect(editor.tree.root == .empty(.key))
    }
    #expect(try bench.findings(tree) == [])
  }
}
