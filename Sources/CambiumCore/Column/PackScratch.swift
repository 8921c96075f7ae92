/// Memory that packing a leaf needs for a moment; kept by an editor for all its leaves.
final class PackScratch {
  private(set) var plans: UnsafeMutablePointer<ColumnPlan> = .allocate(capacity: 1)
  private var planCapacity = 1
  private var codes: UnsafeMutablePointer<UInt16> = .allocate(capacity: 1)
  private var firsts: UnsafeMutablePointer<UInt32> = .allocate(capacity: 1)
  private var cellCapacity = 1
  private var rowCapacity = 1
  /// A hash table of dictionary values: number + 1, or 0 for a vacant place.
  private(set) var table: UnsafeMutablePointer<UInt16> = .allocate(capacity: 1)
  private var tableCapacity = 1
  /// Places of the hash table in use, a power of two; at least half of them stay vacant.
  private(set) var tableCount = 0

  /// For each column whether its values in the leaf packed last were mostly different.
  private var distinct: [Bool] = []

  private var spliced = UnsafeMutableRawBufferPointer(start: nil, count: 0)

  deinit {
    spliced.deallocate()
    plans.deallocate()
    codes.deallocate()
    firsts.deallocate()
    table.deallocate()
  }

  /// Makes room for the plans and dictionaries of a leaf.
  func prepare(columnCount: Int, rowCount: Int) {
    if columnCount > planCapacity {
      plans.deallocate()
      planCapacity = columnCount
      plans = .allocate(capacity: columnCount)
    }
    if distinct.count < columnCount {
      distinct += [Bool](repeating: false, count: columnCount - distinct.count)
    }
    rowCapacity = rowCount
    if columnCount * rowCount > cellCapacity {
      codes.deallocate()
      firsts.deallocate()
      cellCapacity = columnCount * rowCount * 2
      codes = .allocate(capacity: cellCapacity)
      firsts = .allocate(capacity: cellCapacity)
    }
    tableCount = 64
    while tableCount < rowCount * 2 { tableCount *= 2 }
    if tableCount > tableCapacity {
      table.deallocate()
      table = .allocate(capacity: tableCount)
      tableCapacity = tableCount
    }
  }

  /// Zeros in which a page of at most `byteCount` bytes is put together.
  func splicePage(byteCount: Int) -> UnsafeMutableRawPointer {
    if spliced.count < byteCount {
      spliced.deallocate()
      spliced = .allocate(byteCount: byteCount, alignment: 64)
    }
    spliced.initializeMemory(as: UInt8.self, repeating: 0)
    return spliced.baseAddress.unsafelyUnwrapped
  }

  /// Whether the values of column `index` were mostly different in the leaf packed last.
  func wasDistinct(_ index: Int) -> Bool { distinct[index] }

  /// Notes for the next leaf whether the values of column `index` are mostly different.
  func noteDistinct(_ index: Int, _ isDistinct: Bool) { distinct[index] = isDistinct }

  /// For each row the number of its value in the dictionary of column `index`.
  func codes(_ index: Int) -> UnsafeMutablePointer<UInt16> { codes + index * rowCapacity }

  /// For each value in the dictionary of column `index` the row where it first occurs.
  func firsts(_ index: Int) -> UnsafeMutablePointer<UInt32> { firsts + index * rowCapacity }
}
