/// Memory that packing a leaf needs for a moment; kept by an editor for all its leaves.
///
/// Pointers: all memory is its own, freed in the deinit. What it gives has room for the columns and rows of
/// the last `prepare(columnCount:rowCount:)`, without which there is none to give, or for the bytes asked
/// for, and is valid until the next one.
@safe final class PackScratch {
  // Memory is taken when a leaf is packed for the first time: most small transactions pack none.
  private var planMemory: UnsafeMutablePointer<ColumnPlan>?
  private var planCapacity = 0
  private var codeMemory: UnsafeMutablePointer<UInt16>?
  private var firstMemory: UnsafeMutablePointer<UInt32>?
  private var cellCapacity = 0
  private var rowCapacity = 1
  /// A hash table of dictionary values: number + 1, or 0 for a vacant place.
  var table: UnsafeMutablePointer<UInt16> { unsafe tableMemory.unsafelyUnwrapped }
  private var tableMemory: UnsafeMutablePointer<UInt16>?
  private var tableCapacity = 0
  /// The plan of each column.
  var plans: UnsafeMutablePointer<ColumnPlan> { unsafe planMemory.unsafelyUnwrapped }
  /// Places of the hash table in use, a power of two; at least half of them stay vacant.
  private(set) var tableCount = 0

  /// For each column whether its values in the leaf packed last were mostly different.
  private var distinct: [Bool] = []

  private var spliced = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)

  deinit {
    unsafe spliced.deallocate()
    unsafe planMemory?.deallocate()
    unsafe codeMemory?.deallocate()
    unsafe firstMemory?.deallocate()
    unsafe tableMemory?.deallocate()
  }

  /// Makes room for the plans and dictionaries of a leaf.
  func prepare(columnCount: Int, rowCount: Int) {
    if unsafe planMemory == nil || columnCount > planCapacity {
      unsafe planMemory?.deallocate()
      planCapacity = columnCount
      unsafe planMemory = .allocate(capacity: columnCount)
    }
    if distinct.count < columnCount {
      distinct += [Bool](repeating: false, count: columnCount - distinct.count)
    }
    rowCapacity = rowCount
    if unsafe codeMemory == nil || columnCount * rowCount > cellCapacity {
      unsafe codeMemory?.deallocate()
      unsafe firstMemory?.deallocate()
      cellCapacity = columnCount * rowCount * 2
      unsafe codeMemory = .allocate(capacity: cellCapacity)
      unsafe firstMemory = .allocate(capacity: cellCapacity)
    }
    tableCount = 64
    while tableCount < rowCount * 2 { tableCount *= 2 }
    if tableCount > tableCapacity {
      unsafe tableMemory?.deallocate()
      unsafe tableMemory = .allocate(capacity: tableCount)
      tableCapacity = tableCount
    }
  }

  /// Zeros in which a page of at most `byteCount` bytes is put together.
  func splicePage(byteCount: Int) -> UnsafeMutableRawPointer {
    let page = unsafe unfilledPage(byteCount: byteCount)
    unsafe spliced.initializeMemory(as: UInt8.self, repeating: 0)
    return unsafe page
  }

  /// The same memory with whatever is in it.
  func unfilledPage(byteCount: Int) -> UnsafeMutableRawPointer {
    if unsafe spliced.count < byteCount {
      unsafe spliced.deallocate()
      unsafe spliced = .allocate(byteCount: byteCount, alignment: 64)
    }
    return unsafe spliced.baseAddress.unsafelyUnwrapped
  }

  /// Whether the values of column `index` were mostly different in the leaf packed last.
  func wasDistinct(_ index: Int) -> Bool { distinct[index] }

  /// Notes for the next leaf whether the values of column `index` are mostly different.
  func noteDistinct(_ index: Int, _ isDistinct: Bool) { distinct[index] = isDistinct }

  /// For each row the number of its value in the dictionary of column `index`.
  func codes(_ index: Int) -> UnsafeMutablePointer<UInt16> {
    unsafe codeMemory.unsafelyUnwrapped + index * rowCapacity
  }

  /// For each value in the dictionary of column `index` the row where it first occurs.
  func firsts(_ index: Int) -> UnsafeMutablePointer<UInt32> {
    unsafe firstMemory.unsafelyUnwrapped + index * rowCapacity
  }
}
