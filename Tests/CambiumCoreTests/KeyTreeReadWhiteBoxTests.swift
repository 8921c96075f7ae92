import TestSupport
import Testing

@testable import CambiumCore

/// Cursors, ranks and ranges against a sorted array.
struct KeyTreeReadTests {
  /// A tree of random keys of all lengths with room between them, and its model.
  private static func forest(_ seed: UInt64, leaf: Int, branch: Int) throws -> (KeyTree, KeyModel) {
    var random = SeededGenerator(seed: seed)
    let bench = KeyTreeBench(leaf: leaf, branch: branch)
    var model = KeyModel()
    for _ in 0..<400 {
      let stem: [UInt8] = [[], [9], Array("common stem ".utf8)].randomElement(using: &random) ?? []
      let key: [UInt8] =
        stem
        + (0..<Int.random(in: 0...20, using: &random)).map { _ in
          [0, 1, 0xff, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random) ?? 0
        }
      _ = model.set(key, [UInt8](key.reversed()))
    }
    let tree = try bench.write { editor throws in
      for entry in model.entries.shuffled(using: &random) { try editor.set(entry.key, entry.value) }
    }
    return (tree, model)
  }

  /// Keys of the model, and keys beside them.
  private static func probes(_ model: KeyModel) -> [[UInt8]] {
    [[], [0xff, 0xff, 0xff]]
      + model.keys.flatMap { key in
        [key, key + [0], Array(key.dropLast()), key.dropLast() + [0x80]]
      }
  }

  @Test(arguments: [(1, 96, 160), (2, 512, 256), (3, 8192, 4096)] as [(UInt64, Int, Int)])
  func `reads agree with a sorted array`(seed: UInt64, leaf: Int, branch: Int) throws {
    let (tree, model) = try Self.forest(seed, leaf: leaf, branch: branch)
    var cursor = tree.cursor()
    #expect(!cursor.isValid)
    for probe in Self.probes(model) {
      let rank = model.lowerBound(probe)
      #expect(try tree.rank(of: probe) == rank)
      #expect(try tree.value(for: probe) == model.value(probe))
      #expect(try tree.contains(probe) == (model.value(probe) != nil))
      #expect(try cursor.seek(to: probe) == (rank < model.entries.count))
      if cursor.isValid {
        #expect(cursor.key == model.keys[rank])
        #expect(cursor.rank == rank)
      }
      #expect(try cursor.seek(below: probe) == (rank > 0))
      if cursor.isValid {
        #expect(cursor.key == model.keys[rank - 1])
      }
    }
  }

  @Test(arguments: [(4, 96, 160), (5, 8192, 4096)] as [(UInt64, Int, Int)])
  func `a cursor steps through all keys in both directions`(
    seed: UInt64, leaf: Int, branch: Int
  ) throws {
    let (tree, model) = try Self.forest(seed, leaf: leaf, branch: branch)
    var forward = tree.cursor()
    var backward = tree.cursor()
    #expect(try forward.seekFirst())
    #expect(try backward.seekLast())
    for index in model.entries.indices {
      let mirrored = model.entries.count - 1 - index
      #expect(forward.key == model.keys[index])
      #expect(backward.key == model.keys[mirrored])
      #expect([UInt8](try forward.value) == model.entries[index].value)
      #expect(forward.keyByteCount == model.keys[index].count)
      var chosen = tree.cursor()
      #expect(try chosen.seek(toRank: index))
      #expect(chosen.key == model.keys[index] && chosen.rank == index)
      // A copy goes its own way.
      let copy = forward
      #expect(try forward.next() == (mirrored > 0))
      #expect(copy.key == model.keys[index])
      #expect(try backward.previous() == (mirrored > 0))
    }
    #expect(!forward.isValid && !backward.isValid)
    #expect(try !forward.next())
    #expect(try !backward.seek(toRank: model.entries.count))
    #expect(try !backward.seek(toRank: -1))
  }

  @Test func `an empty tree has nothing to read`() throws {
    let tree = try KeyTreeBench().snapshot()
    var cursor = tree.cursor()
    #expect(try !cursor.seekFirst())
    #expect(try !cursor.seekLast())
    #expect(try !cursor.seek(to: []))
    #expect(try !cursor.seek(below: [1]))
    #expect(try !cursor.next())
    #expect(try !cursor.previous())
    #expect(try tree.value(for: []) == nil)
    #expect(try tree.rank(of: [1]) == 0)
    #expect(try tree.count(in: KeyRange()) == 0)
    #expect(tree.isEmpty && tree.root == .empty(.key))
  }

  @Test(arguments: [(6, 96, 160), (7, 8192, 4096)] as [(UInt64, Int, Int)])
  func `ranges hold the keys between their bounds, in both orders`(
    seed: UInt64, leaf: Int, branch: Int
  ) throws {
    let (tree, model) = try Self.forest(seed, leaf: leaf, branch: branch)
    var random = SeededGenerator(seed: seed)
    let bounds = Self.probes(model).shuffled(using: &random).prefix(40)
    var ranges = [KeyRange()]
    for bound in bounds {
      ranges.append(KeyRange(prefix: bound))
      ranges.append(KeyRange(from: bound, to: bounds.randomElement(using: &random)))
    }
    for range in ranges {
      let expected = model.keys.filter { key in
        !key.lexicographicallyPrecedes(range.lower)
          && range.upper.map { key.lexicographicallyPrecedes($0) } ?? true
      }
      var found: [[UInt8]] = []
      try tree.forEach(in: range) { cursor throws(StoreError) in
        found.append(cursor.key)
        return true
      }
      #expect(found == expected)
      #expect(try tree.count(in: range) == expected.count)
    }
  }

  @Test func `a prefix of only high bytes has no upper bound`() {
    #expect(KeyRange(prefix: [0xff, 0xff]).upper == nil)
    #expect(KeyRange(prefix: [1, 0xff]).upper == [2])
    #expect(KeyRange(prefix: []).upper == nil)
  }

  @Test(arguments: [0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 20])
  func `a cursor reads prefixes and tails wherever the key is cut`(shared: Int) throws {
    // The part that keys share ends before, in and behind their last eight bytes.
    let stem = (0..<shared).map { UInt8($0 + 1) }
    for suffix in 8..<22 {
      let keys = (0..<9).map { number in
        stem + (0..<suffix).map { UInt8(truncatingIfNeeded: ($0 + 1) * 37 + number * 11) }
      }
      let tree = try KeyTreeBench().write { editor throws in
        for key in keys { try editor.set(key, []) }
      }
      var cursor = tree.cursor()
      for key in keys {
        #expect(try cursor.seek(to: key))
        #expect(cursor.keyTail == key.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
        for length in 0...key.count {
          let prefix = Array(key.prefix(length))
          #expect(cursor.hasPrefix(prefix))
          if let last = prefix.last {
            #expect(!cursor.hasPrefix(prefix.dropLast() + [last ^ 0x40]))
          }
        }
        #expect(!cursor.hasPrefix(key + [0]))
      }
    }
  }
}
