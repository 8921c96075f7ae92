import TestSupport
import Testing

@testable import CambiumCore

/// Long random histories against a sorted array, over many shapes of keys and sizes of nodes.
struct KeyTreeModelTests {
  /// How keys look: what they share, how long they are.
  enum Shape: CaseIterable {
    case numbers, sharedPrefix, short, long, nested, ties

    func key(_ random: inout SeededGenerator) -> [UInt8] {
      switch self {
      case .numbers: Self.bigEndian(UInt64.random(in: 0..<600, using: &random))
      case .sharedPrefix:
        Array("an index of people by name/".utf8)
          + Array(String(Int.random(in: 0..<500, using: &random), radix: 7).utf8)
      case .short:
        (0..<Int.random(in: 0...3, using: &random)).map { _ in
          UInt8.random(in: 0...5, using: &random)
        }
      case .long:
        [UInt8](
          repeating: UInt8.random(in: 1...3, using: &random),
          count: Int.random(in: 0...Self.longest, using: &random))
          + [UInt8.random(in: 0...9, using: &random)]
      case .nested:
        (0..<Int.random(in: 0...6, using: &random)).flatMap { _ in
          [[], [0], [0, 0, 0, 0, 0], [0xff], [7, 7, 7, 7]].randomElement(using: &random) ?? []
        }
      case .ties:
        [1, 2, 3, 4] + Self.bigEndian(UInt64.random(in: 0..<300, using: &random))
          + Self.bigEndian(UInt64.random(in: 0..<3, using: &random))
      }
    }

    private static let longest = 511
    private static func bigEndian(_ number: UInt64) -> [UInt8] {
      withUnsafeBytes(of: number.bigEndian) { [UInt8]($0) }
    }
  }

  private static func value(_ random: inout SeededGenerator) -> [UInt8] {
    let kind = Int.random(in: 0..<200, using: &random)
    let count =
      switch kind {
      case 0: Int.random(in: 1024...300_000, using: &random)
      case 1...4: Int.random(in: 1000...3000, using: &random)
      case 5..<40: 0
      case 40..<60: Int.random(in: 0...300, using: &random)
      default: 8
      }
    return [UInt8](repeating: UInt8.random(in: 0...255, using: &random), count: count)
  }

  struct Run: CustomTestStringConvertible {
    var seed: UInt64
    var shape: Shape
    var leaf: Int
    var branch: Int
    var testDescription: String { "seed \(seed), \(shape), nodes of \(leaf) and \(branch) bytes" }
  }

  static let runs = Shape.allCases.enumerated().flatMap { index, shape in
    [(96, 160), (300, 256), (1024, 512), (8192, 4096)].enumerated().map { size, limits in
      Run(seed: UInt64(index * 10 + size), shape: shape, leaf: limits.0, branch: limits.1)
    }
  }

  @Test(arguments: runs)
  func `a tree holds what a sorted array holds, in every version`(run: Run) throws {
    var random = SeededGenerator(seed: run.seed)
    let bench = KeyTreeBench(leaf: run.leaf, branch: run.branch)
    var model = KeyModel()
    var versions: [(tree: KeyTree, model: KeyModel)] = []
    for round in 0..<14 {
      // Rounds grow, churn, shrink, and empty the tree.
      let removal = [10, 10, 50, 90, 20, 70, 100][round % 7]
      let tree = try bench.write { editor throws in
        for _ in 0..<Int.random(in: 1...160, using: &random) {
          if Int.random(in: 0..<100, using: &random) < removal {
            let isPresent = !model.entries.isEmpty && Bool.random(using: &random)
            let key =
              isPresent
              ? model.keys.randomElement(using: &random) ?? [] : run.shape.key(&random)
            #expect(try editor.remove(key) == model.remove(key))
          } else {
            let (key, value) = (run.shape.key(&random), Self.value(&random))
            #expect(try editor.set(key, value) == model.set(key, value))
          }
          if Int.random(in: 0..<100, using: &random) == 0 { _ = try editor.flush() }
          if Int.random(in: 0..<300, using: &random) == 0 {
            try editor.removeAll()
            model = KeyModel()
          }
        }
        #expect(editor.count == model.entries.count)
        #expect(try editor.tree.entries() == model.entries)
      }
      #expect(try bench.findings(tree) == [])
      versions.append((tree, model))
      if Bool.random(using: &random) {
        versions.remove(at: Int.random(in: 0..<versions.count, using: &random))
      }
      for version in versions {
        #expect(try version.tree.entries() == version.model.entries)
      }
    }
  }
}
