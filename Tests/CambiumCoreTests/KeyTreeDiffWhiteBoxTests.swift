import TestSupport
import Testing

@testable import CambiumCore

/// Differences between versions against those between sorted arrays.
struct KeyTreeDiffTests {
  private struct Difference: Hashable {
    enum Kind { case inserted, removed, changed }
    var kind: Kind
    var key: [UInt8]
  }

  private static func differences(_ old: KeyTree, _ new: KeyTree) throws -> [Difference] {
    var found: [Difference] = []
    try KeyTree.diff(old: old, new: new) { difference throws(StoreError) in
      let kind: Difference.Kind =
        switch difference {
        case .inserted: .inserted
        case .removed: .removed
        case .modified: .changed
        }
      found.append(Difference(kind: kind, key: [UInt8](difference.element)))
    }
    return found
  }

  private static func differences(_ old: KeyModel, _ new: KeyModel) -> [Difference] {
    let keys = Set(old.keys).union(new.keys).sorted { $0.lexicographicallyPrecedes($1) }
    return keys.compactMap { key in
      switch (old.value(key), new.value(key)) {
      case (nil, _): Difference(kind: .inserted, key: key)
      case (_, nil): Difference(kind: .removed, key: key)
      case (let before, let after):
        before == after ? nil : Difference(kind: .changed, key: key)
      }
    }
  }

  @Test(arguments: [(1, 96, 160), (2, 300, 256), (3, 8192, 4096)] as [(UInt64, Int, Int)])
  func `a diff lists what a comparison of all keys lists`(
    seed: UInt64, leaf: Int, branch: Int
  ) throws {
    var random = SeededGenerator(seed: seed)
    let bench = KeyTreeBench(leaf: leaf, branch: branch)
    var model = KeyModel()
    var versions: [(KeyTree, KeyModel)] = [(try bench.snapshot(), model)]
    for round in 0..<12 {
      let tree = try bench.write { editor throws in
        for _ in 0..<[1, 400, 3, 30, 1, 200][round % 6] {
          let number = UInt64.random(in: 0..<500, using: &random)
          let key = withUnsafeBytes(of: (number * number).bigEndian) { [UInt8]($0) }
          if Int.random(in: 0..<10, using: &random) < (round % 4 == 3 ? 8 : 3) {
            #expect(try editor.remove(key) == model.remove(key))
          } else {
            let size = number % 97 == 0 ? 2000 : 3
            let value = [UInt8](repeating: UInt8.random(in: 0...3, using: &random), count: size)
            if model.value(key) == value { continue }
            #expect(try editor.set(key, value) == model.set(key, value))
          }
        }
        if round == 8 {
          try editor.removeAll()
          model = KeyModel()
        }
      }
      versions.append((tree, model))
    }
    for (oldTree, oldModel) in versions {
      for (newTree, newModel) in versions {
        let found = try Self.differences(oldTree, newTree)
        // A value that left and came back is stored elsewhere; with overflow pages that counts.
        let isLoose = found.filter {
          $0.kind == .changed && oldModel.value($0.key) == newModel.value($0.key)
        }
        #expect(isLoose.allSatisfy { (oldModel.value($0.key)?.count ?? 0) > 1024 })
        #expect(found.filter { !isLoose.contains($0) } == Self.differences(oldModel, newModel))
      }
    }
  }

  @Test func `a diff reads what changed and nothing else`() throws {
    let store = ObservedStore()
    let bench = KeyTreeBench(store: store, leaf: 512, branch: 512)
    func key(_ number: Int) -> [UInt8] {
      withUnsafeBytes(of: UInt64(number &* 7919).bigEndian) { [UInt8]($0) }
    }
    let old = try bench.write { editor throws in
      for number in 0..<20_000 { try editor.set(key(number), [1]) }
    }
    let height = Int(old.root.height)
    let new = try bench.write { editor throws in
      try editor.set(key(12_345), [2])
      try editor.set(key(500) + [0], [3])
      try editor.remove(key(19_000))
    }
    store.readCount = 0
    let found = try Self.differences(bench.reopened(old), bench.reopened(new))
    #expect(found.map(\.key) == [key(500) + [0], key(12_345), key(19_000)])
    #expect(found.map(\.kind) == [.inserted, .changed, .removed])
    // Both sides of three paths, and what a split or merge moved beside them.
    #expect(store.readCount <= 2 * 3 * (height + 3))
    store.readCount = 0
    #expect(try Self.differences(new, bench.reopened(new)) == [])
    #expect(store.readCount == 0)
  }
}
