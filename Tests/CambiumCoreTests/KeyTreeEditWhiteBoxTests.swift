import TestSupport
import Testing

@testable import CambiumCore

/// Every way to build and take apart a small tree, and what editing promises.
struct KeyTreeEditTests {
  private static func permutations(_ count: Int) -> [[Int]] {
    if count == 0 { return [[]] }
    return permutations(count - 1).flatMap { shorter in
      (0...shorter.count).map { place in
        var longer = shorter
        longer.insert(count - 1, at: place)
        return longer
      }
    }
  }

  private static func key(_ number: Int) -> [UInt8] {
    // Odd keys share a long stem, even ones are short: both fit badly into one node.
    number % 2 == 0 ? [UInt8(number)] : [UInt8(number)] + [UInt8](repeating: 7, count: 20)
  }

  private static func damage(_ tree: KeyTree) throws -> [String] {
    var findings: [String] = []
    try tree.walk({ _, _ in }, damage: { findings.append("\($0)") })
    return findings
  }

  @Test func `all orders of inserting and removing six keys work`() throws {
    let orders = Self.permutations(6)
    try KeyTreeBench(leaf: 64, branch: 128).write { editor throws in
      for (index, order) in orders.enumerated() {
        var present: Set<Int> = []
        for number in order {
          #expect(try editor.set(Self.key(number), [UInt8(number)]))
          present.insert(number)
          #expect(try editor.tree.entries().map(\.value) == present.sorted().map { [UInt8($0)] })
        }
        #expect(try Self.damage(editor.tree) == [])
        if index % 7 == 0 { _ = try editor.flush() }
        // Another permutation for each, so that all meet many.
        for number in orders[(index * 31 + 17) % orders.count] {
          #expect(try editor.remove(Self.key(number)))
          present.remove(number)
          #expect(try Self.damage(editor.tree) == [])
          #expect(try editor.tree.entries().map(\.value) == present.sorted().map { [UInt8($0)] })
        }
        #expect(editor.tree.root == .empty(.key))
      }
    }
  }

  @Test(arguments: [(64, 128), (128, 200)])
  func `one transaction at every place of a tree keeps it whole`(leaf: Int, branch: Int) throws {
    for count in 0..<26 {
      let bench = KeyTreeBench(leaf: leaf, branch: branch)
      var model = KeyModel()
      try bench.write { editor throws in
        for number in 0..<count {
          let key = Self.key(2 * number + 1)
          _ = model.set(key, [UInt8(number)])
          try editor.set(key, [UInt8(number)])
        }
      }
      for number in 0...2 * count {
        let before = try bench.snapshot()
        let key = Self.key(number)
        var changed = model
        let tree = try bench.write { editor throws in
          if number % 2 == 0 {
            #expect(try editor.set(key, [0xee]) == changed.set(key, [0xee]))
          } else {
            #expect(try editor.remove(key) == changed.remove(key))
          }
        }
        #expect(try tree.entries() == changed.entries)
        #expect(try before.entries() == model.entries)
        #expect(try bench.findings(tree) == [])
        // And back again.
        let restored = try bench.write { editor throws in
          if let value = model.value(key) {
            try editor.set(key, value)
          } else {
            try editor.remove(key)
          }
        }
        #expect(try restored.entries() == model.entries)
        #expect(try bench.findings(restored) == [])
      }
    }
  }

  @Test(arguments: [true, false])
  func `loads in order leave full pages`(isAscending: Bool) throws {
    let bench = KeyTreeBench(leaf: 1024, branch: 512)
    let numbers = isAscending ? Array(0..<5000) : (0..<5000).reversed()
    let tree = try bench.write { editor throws in
      for number in numbers {
        let digits = withUnsafeBytes(of: UInt64(number * 3).bigEndian) { [UInt8]($0) }
        try editor.set(digits + digits, [])
      }
    }
    var leaves: [Int] = []
    try tree.walk(
      { reference, kind in if kind == .keyLeaf { leaves.append(reference.byteCount) } },
      damage: { Issue.record("\($0)") })
    #expect(leaves.reduce(0, +) > leaves.count * 900)
    #expect(try tree.count(in: KeyRange()) == 5000)
  }

  @Test func `a tree that shrinks gives its pages back`() throws {
    let bench = KeyTreeBench(leaf: 512, branch: 512)
    var random = SeededGenerator(seed: 3)
    let keys = (0..<3000).map { _ in withUnsafeBytes(of: random.next()) { [UInt8]($0) } }
    func pageCount(_ tree: KeyTree) throws -> Int {
      var count = 0
      try tree.walk({ _, _ in count += 1 }, damage: { Issue.record("\($0)") })
      return count
    }
    let full = try bench.write { editor throws in for key in keys { try editor.set(key, [1, 2]) } }
    let fullCount = try pageCount(full)
    #expect(fullCount < 3000 * 24 * 2 / 512)
    let thin = try bench.write { editor throws in
      for key in keys.dropFirst(100) { try editor.remove(key) }
    }
    #expect(try pageCount(thin) < fullCount / 8)
    let empty = try bench.write { editor throws in try editor.removeAll() }
    #expect(empty.root == .empty(.key))
    #expect(try bench.findings(empty) == [])
  }

  @Test func `storing an equal value changes nothing`() throws {
    let bench = KeyTreeBench()
    let tree = try bench.write { editor throws in
      for number in 0..<1000 { try editor.set(Array("\(number)".utf8), [UInt8(number % 251)]) }
    }
    try bench.write { editor throws in
      #expect(try !editor.set(Array("77".utf8), [77]))
      #expect(try !editor.remove(Array("none".utf8)))
      #expect(try editor.flush() == tree.root)
    }
  }

  @Test func `keys have a limit and values have none`() throws {
    let bench = KeyTreeBench()
    let longest = [UInt8](repeating: 9, count: 512)
    let sizes = [0, 1, 1023, 1024, 1025, 262_143, 262_144, 262_145, 600_000]
    let values = sizes.map { size in (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 131 >> 3) } }
    let tree = try bench.write { editor throws in
      #expect(throws: StoreError.tooLarge(what: "A key", byteCount: 513, limit: 512)) {
        try editor.set(longest + [1], [])
      }
      #expect(try editor.set(longest, [1]))
      #expect(try editor.set([], [2]))
      for (index, value) in values.enumerated() { try editor.set([1, UInt8(index)], value) }
    }
    #expect(try tree.value(for: longest) == [1])
    #expect(try tree.value(for: []) == [2])
    #expect(try !tree.contains(longest + [1]))
    var cursor = tree.cursor()
    for (index, value) in values.enumerated() {
      #expect(try tree.value(for: [1, UInt8(index)]) == value)
      #expect(try cursor.seek(to: [1, UInt8(index)]))
      #expect([UInt8](try cursor.value) == value)
    }
    #expect(try bench.findings(tree) == [])
    // Every size in the place of every other.
    for shift in 1..<values.count {
      let tree = try bench.write { editor throws in
        for index in values.indices {
          try editor.set([1, UInt8(index)], values[(index + shift) % values.count])
        }
      }
      #expect(try bench.findings(tree) == [])
      for index in values.indices {
        let value = try tree.value(for: [1, UInt8(index)])
        #expect(value == values[(index + shift) % values.count])
      }
    }
  }

  @Test func `a copy of a tree has the same content in fewer pages`() throws {
    let source = KeyTreeBench(leaf: 512, branch: 512)
    var random = SeededGenerator(seed: 8)
    let tree = try source.write { editor throws in
      for _ in 0..<9000 {
        let key = withUnsafeBytes(of: random.next() % 100_000) { [UInt8]($0.prefix(4)) }
        try editor.set(key, [UInt8](repeating: key[0], count: key[1] == 0 ? 3000 : 5))
      }
    }
    let copy = KeyTreeBench(leaf: 512, branch: 512)
    var steps: [Int] = []
    let copied = try copy.write { editor throws in
      try editor.append(contentsOf: tree) { steps.append($0) }
    }
    #expect(try copied.entries() == tree.entries())
    #expect(try copy.findings(copied) == [])
    #expect(steps.last == tree.count && steps == steps.sorted())
    let sizes = try [source, copy].map { try $0.store.statistics().totalByteCount }
    #expect(sizes[1] < sizes[0])
  }
}
