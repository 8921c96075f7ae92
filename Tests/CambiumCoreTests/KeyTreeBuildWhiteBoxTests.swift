import TestSupport
import Testing

@testable import CambiumCore

struct KeyTreeBuildTests {
  @Test(arguments: KeyTreeModelTests.runs)
  func `a tree that is built holds its keys, counts ranges and can be changed`(
    run: KeyTreeModelTests.Run
  ) throws {
    var random = SeededGenerator(seed: run.seed)
    for count in [0, 1, 2, 40, 900] {
      let bench = KeyTreeBench(leaf: run.leaf, branch: run.branch)
      var model = KeyModel()
      for _ in 0..<count {
        let length = [0, 0, 8, 8, 40, 1500][Int.random(in: 0..<6, using: &random)]
        _ = model.set(run.shape.key(&random), [UInt8](repeating: 9, count: length))
      }
      let tree = try bench.write { editor throws in
        try editor.build { builder throws(StoreError) in
          for entry in model.entries {
            try entry.key.withTypedBytes { key throws(StoreError) in
              try entry.value.withTypedBytes { value throws(StoreError) in
                try builder.append(key, value)
              }
            }
          }
        }
        #expect(editor.count == model.entries.count)
      }
      #expect(try tree.entries() == model.entries)
      #expect(try bench.findings(tree) == [])
      for _ in 0..<60 {
        let (lower, upper) = (run.shape.key(&random), run.shape.key(&random))
        let range = KeyRange(from: lower, to: upper)
        let expected = model.keys.count { key in
          !key.lexicographicallyPrecedes(lower) && key.lexicographicallyPrecedes(upper)
        }
        #expect(try tree.count(in: range) == expected)
      }
      let changed = try bench.write { editor throws in
        for _ in 0..<50 {
          let key = run.shape.key(&random)
          #expect(try editor.set(key, [1]) == model.set(key, [1]))
          let gone = run.shape.key(&random)
          #expect(try editor.remove(gone) == model.remove(gone))
        }
      }
      #expect(try changed.entries() == model.entries)
      #expect(try bench.findings(changed) == [])
    }
  }

  @Test func `a built tree has full leaves`() throws {
    let bench = KeyTreeBench()
    let tree = try bench.write { editor throws in
      try editor.build { builder throws(StoreError) in
        for number in 0..<20_000 as Range<UInt64> {
          try withUnsafeBytes(of: number.bigEndian) {
            [UInt8]("a name that is shared/".utf8) + [UInt8]($0)
          }.withTypedBytes { key throws(StoreError) in try builder.append(key) }
        }
      }
    }
    var byteCount = 0
    try tree.walk({ reference, _ in byteCount += reference.byteCount }, damage: { _ in })
    // A slot of 8 bytes and a cell of 2 bytes and the rest of the key.
    #expect(byteCount < 20_000 * 12)
    #expect(tree.count == 20_000)
  }
}

extension [UInt8] {
  func withTypedBytes<Result>(
    _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try withUnsafeBufferPointer { bytes throws(StoreError) in
      try body(UnsafeRawBufferPointer(bytes))
    }
  }
}
