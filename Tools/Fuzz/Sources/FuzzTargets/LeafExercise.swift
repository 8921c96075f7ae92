@testable import CambiumCore

/// Reads one leaf of rows in every way there is.
struct LeafExercise {
  let leaf: ColumnLeaf
  let tree: ColumnTree
  /// A leaf may claim a million rows in a few bytes; some of them will do for single reads.
  private static let rowLimit = 300

  func run() throws(StoreError) {
    let rows = leaf.rowCount
    _ = leaf.find(0)
    _ = leaf.lowerBound(.max)
    let keys = UnsafeMutablePointer<Int64>.allocate(capacity: max(1, rows))
    defer { keys.deallocate() }
    leaf.copyKeys(into: keys)
    for id in leaf.columnIDs {
      guard let column = leaf.column(id) else { continue }
      leaf.prefetch(id)
      try readCells(column)
      try readWhole(column)
    }
  }

  /// The rows to read one by one: the first and the last ones.
  private var someRows: [Int] {
    let rows = leaf.rowCount
    if rows <= Self.rowLimit { return Array(0..<rows) }
    return Array(0..<Self.rowLimit / 2) + Array((rows - Self.rowLimit / 2)..<rows)
  }

  private func readCells(_ column: LeafColumn) throws(StoreError) {
    for row in someRows {
      _ = column.isNull(row)
      _ = column.int(row)
      _ = column.bool(row)
      let cell = LeafRow(leaf, row).cell(column.id, hint: 0)
      switch column.type {
      case .float: _ = column.float(row)
      case .double: _ = column.double(row)
      case .wide: _ = column.wide(row)
      case .bytes:
        let bytes = column.bytes(row)
        _ = bytes.count
        _ = bytes.array
        _ = bytes.string
        _ = cell?.bytes.array
        if bytes.form == .tree { _ = bytes.tree } else { _ = try? tree.bytes(of: bytes) }
      case .int, .bool: break
      }
      _ = cell?.isNull
      _ = cell?.int
      _ = cell?.wide
      _ = cell?.double
    }
  }

  private func readWhole(_ column: LeafColumn) throws(StoreError) {
    let bitmap = UnsafeMutablePointer<UInt64>.allocate(capacity: max(1, column.bitmapWordCount))
    defer { bitmap.deallocate() }
    column.copyPresence(into: bitmap)
    _ = column.nullCount
    _ = column.countRows(selection: bitmap)
    let words = UnsafeMutablePointer<Int64>.allocate(capacity: max(1, column.rowCount))
    defer { words.deallocate() }
    switch column.type {
    case .int:
      column.copyInts(into: words)
      _ = column.integerBounds
      _ = column.sumInts()
      _ = column.extremeInts(selection: bitmap)
      _ = column.countInts(in: -1...100)
      column.selectInts(in: 0...1 << 40, into: bitmap)
      column.selectInts(anyOf: [0, 1, column.int(0), .max], into: bitmap)
    case .bool:
      column.selectBools(equalTo: true, into: bitmap)
    case .float, .double:
      _ = column.sumDoubles(selection: bitmap)
      _ = column.extremeDoubles()
      column.selectDoubles(from: -1, through: 1e9, into: bitmap)
    case .wide:
      _ = column.wide(0)
    case .bytes:
      try selectBytes(column, bitmap)
    }
  }

  private func selectBytes(
    _ column: LeafColumn, _ bitmap: UnsafeMutablePointer<UInt64>
  ) throws(StoreError) {
    for needle in [column.bytes(0).array, Array("text 3".utf8), [0], []] as [[UInt8]] {
      let result = needle.withUnsafeBytes { needle in
        Result<Void, StoreError> { () throws(StoreError) in
          let source = tree.source
          try column.selectBytes(equalTo: needle, into: bitmap, source: source)
          try column.selectBytes(withPrefix: needle, into: bitmap, source: source)
          try column.selectBytes(withSuffix: needle, into: bitmap, source: source)
          try column.selectBytes(containing: needle, into: bitmap, source: source)
        }
      }
      // A value that cannot be fetched ends the search.
      if case .failure = result { return }
    }
  }
}
