import TestSupport

@testable import CambiumCore

/// Packs rows into one leaf, without a tree or store around it.
enum ColumnLeafMaker {
  /// A page of exactly the packed bytes, so that a sanitizer sees reads past it.
  final class Packed {
    let bytes: UnsafeMutableRawPointer
    let byteCount: Int

    init(_ page: DirtyPage) {
      byteCount = page.byteCount
      bytes = .allocate(byteCount: byteCount, alignment: 64)
      bytes.copyMemory(from: page.bytes, byteCount: byteCount)
    }

    deinit { bytes.deallocate() }

    var page: Page { Page(bytes: bytes, byteCount: byteCount, owner: self) }
    var leaf: ColumnLeaf { ColumnLeaf(page) }
  }

  static func pack(
    _ columns: [ColumnSpec], keys: [Int64]?, rows: [[ModelValue]]
  ) throws -> Packed {
    let layout = ColumnLayout(columns)
    let builder = LeafBuilder(layout: layout, isPositional: keys == nil)
    for (index, row) in rows.enumerated() {
      try lendRow(row) {
        builder.insert(at: index, key: keys?[index] ?? 0, values: $0, overflow: nil)
      }
    }
    let page = DirtyPage(kind: .columnLeaf, capacity: 64)
    LeafPacker(builder, scratch: PackScratch()).pack(into: page)
    let packed = Packed(page)
    try ColumnLeaf.validate(packed.page, .none)
    return packed
  }

  /// A leaf with one column.
  static func column(_ spec: ColumnSpec, _ cells: [ModelValue]) throws -> Packed {
    try pack([spec], keys: cells.indices.map { Int64($0) }, rows: cells.map { [$0] })
  }
}

extension LeafColumn {
  /// The rows that `select` marks.
  func selected(_ select: (UnsafeMutablePointer<UInt64>) throws -> Void) rethrows -> [Int] {
    // Words start out wrong: a selection overwrites them all.
    var words = [UInt64](repeating: 0xdead_beef_dead_beef, count: bitmapWordCount)
    try words.withUnsafeMutableBufferPointer { try select($0.baseAddress.unsafelyUnwrapped) }
    return (0..<(words.count * 64)).filter { words[$0 >> 6] >> UInt64($0 & 63) & 1 != 0 }
  }
}
