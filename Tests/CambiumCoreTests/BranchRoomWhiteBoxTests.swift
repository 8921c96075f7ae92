import TestSupport
import Testing

@testable import CambiumCore

/// Branches with room for no more children than they have, as a record of another process may bring them.
struct BranchRoomWhiteBoxTests {
  private let columns = [
    ColumnSpec(id: 1, type: .int, isNullable: false),
    ColumnSpec(id: 2, type: .bytes, isNullable: false),
  ]

  private func row(_ key: Int64) -> [ModelValue] { [.int(key * 7), .bytes(Array("v\(key)".utf8))] }

  /// Makes all branches at level 1 dirty ones without room for another child, as a crafted record may have them.
  private func fillBranches(_ editor: ColumnTreeEditor, _ context: WriteContext) throws {
    let old = editor.root.reference
    let top = DirtyBranch(
      copying: ColumnBranch(try context.source.page(old, .columnBranch)), isPositional: false,
      room: 8)
    for index in 0..<top.count {
      let stored = top[index].reference
      let children = DirtyBranch(
        copying: ColumnBranch(try context.source.page(stored, .columnBranch)),
        isPositional: false, room: 8
      ).children
      let full = DirtyBranch(level: 1, isPositional: false, room: children.count)
      full.setChildren(children[...])
      top.setReference(context.dirty.insert(full), at: index)
      context.free(stored)
    }
    editor.root.reference = context.dirty.insert(top)
    context.free(old)
  }

  /// A tree of height 3 whose branches are neither full nor small, and its keys.
  private func benchForFullBranches(seed: UInt64) throws -> (ColumnWorkbench, [Int64]) {
    let bench = ColumnWorkbench(columns, options: smallShape(rows: 6, room: 8))
    let keys = Array(0..<120 as Range<Int64>)
    var random = SeededGenerator(seed: seed)
    for key in keys.shuffled(using: &random) {
      try bench.write { editor, _ in
        try lendRow(row(key)) { _ = try editor.insert(key: key, values: $0) }
      }
    }
    try #require(bench.root.height == 3)
    return (bench, keys)
  }

  @Test func `a branch that has no room for the pieces of a leaf is laid out anew`() throws {
    let (bench, keys) = try benchForFullBranches(seed: 1)
    // So leaves are too large, which shows when they are written.
    bench.options.maximumRowCount = 2
    try bench.write { editor, context in
      try fillBranches(editor, context)
      for key in keys { try editor.update(key: key, column: 1, value: .int(key * 7)) }
    }
    try bench.expectRows(keys, row)
  }

  @Test(arguments: 1...5 as ClosedRange<UInt64>)
  func `a branch that is laid out anew as one takes the place of the former one`(
    seed: UInt64
  ) throws {
    let (bench, keys) = try benchForFullBranches(seed: seed)
    // So each leaf of three rows or more becomes two or three.
    bench.options.maximumRowCount = 2
    let tree = try bench.snapshot().tree
    let top = ColumnBranch(try tree.source.page(tree.root.reference, .columnBranch))
    let leaves = try (0..<top.count).compactMap { index -> ColumnLeaf? in
      let branch = ColumnBranch(try tree.source.page(top.reference(index), .columnBranch))
      let leaf = ColumnLeaf(try tree.source.page(branch.reference(0), .columnLeaf))
      // With the pieces it still is one branch.
      let pieceCount = (leaf.rowCount + 1) / 2
      return pieceCount > 1 && branch.count + pieceCount - 1 <= 8 ? leaf : nil
    }
    let first = try #require(leaves.first)
    try bench.write { editor, context in
      try fillBranches(editor, context)
      for row in 0..<first.rowCount {
        let key = first.key(at: row)
        try editor.update(key: key, column: 1, value: .int(key * 7))
      }
    }
    try bench.expectRows(keys, row)
  }

  @Test(arguments: 1...5 as ClosedRange<UInt64>)
  func `a branch is not joined into one that has no room for its children`(seed: UInt64) throws {
    let (bench, keys) = try benchForFullBranches(seed: seed)
    let tree = try bench.snapshot().tree
    let top = ColumnBranch(try tree.source.page(tree.root.reference, .columnBranch))
    let first = ColumnBranch(try tree.source.page(top.reference(0), .columnBranch))
    // Of the first branch one leaf is left.
    let removed = first.separator(1)..<top.separator(1)
    try bench.write { editor, context in
      try fillBranches(editor, context)
      for key in removed { try editor.remove(key: key) }
    }
    try bench.expectRows(keys.filter { !removed.contains($0) }, row)
  }
}
