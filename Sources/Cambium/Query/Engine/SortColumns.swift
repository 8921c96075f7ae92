import CambiumCore

/// The values of all sort keys for a list of objects, and the arrangements made from them.
///
/// Pointers: sorting makes two buffers with an entry for each object and frees them at its end; what is
/// sorted apart is the same part of both.
struct SortColumns {
  private let columns: [SortColumn]
  private let count: Int

  init(_ columns: [SortColumn], count: Int) {
    self.columns = columns
    self.count = count
  }

  /// Reads the values of the objects with these keys, which exist.
  init(
    _ sortKeys: [SortKey], _ keys: [Int64], _ context: QueryContext, _ reader: TableReader
  ) throws(StoreError) {
    var columns: [SortColumn] = []
    for sortKey in sortKeys {
      columns.append(try SortColumn.read(sortKey, of: keys, context, reader))
    }
    self.init(columns, count: keys.count)
  }

  // MARK: Distinct

  /// The indices of the first object of each combination of values, ascending; objects behind a null
  /// link are left out.
  func distinct(_ interruption: Interruption?) throws(StoreError) -> [Int] {
    var capacity = 64
    var slots = [Int32](repeating: -1, count: capacity)
    var hashes: [UInt64] = []
    var result: [Int] = []
    for index in 0..<count {
      if index & 4095 == 0 { try interruption?.check() }
      var hash: UInt64 = 0
      var isMissing = false
      for column in columns {
        if column.isMissing(index) { isMissing = true }
        column.hash(index, into: &hash)
      }
      if isMissing { continue }
      var slot = Self.slot(hash, capacity)
      while slots[slot] >= 0 {
        let known = Int(slots[slot])
        if hashes[known] == hash, isEqual(index, result[known]) { break }
        slot = (slot + 1) & (capacity - 1)
      }
      guard slots[slot] < 0 else { continue }
      slots[slot] = Int32(result.count)
      result.append(index)
      hashes.append(hash)
      if result.count * 2 > capacity {
        capacity *= 4
        slots = Self.placed(hashes, capacity)
      }
    }
    return result
  }

  private static func slot(_ hash: UInt64, _ capacity: Int) -> Int {
    Int(truncatingIfNeeded: hash &>> 7) & (capacity - 1)
  }

  private static func placed(_ hashes: [UInt64], _ capacity: Int) -> [Int32] {
    var slots = [Int32](repeating: -1, count: capacity)
    for (index, hash) in hashes.enumerated() {
      var slot = slot(hash, capacity)
      while slots[slot] >= 0 { slot = (slot + 1) & (capacity - 1) }
      slots[slot] = Int32(index)
    }
    return slots
  }

  private func isEqual(_ left: Int, _ right: Int) -> Bool {
    for column in columns where column.ascendingOrder(left, right) != 0 { return false }
    return true
  }

  // MARK: Sorting

  /// The indices in the order of the values, ties in the order they came; no more than `limit`.
  func sorted(limit: Int?, _ interruption: Interruption?) throws(StoreError) -> [Int] {
    if let limit, limit < count / 8 { return try smallest(limit, interruption) }
    let order = UnsafeMutableBufferPointer<SortEntry>.allocate(capacity: count)
    let spare = UnsafeMutableBufferPointer<SortEntry>.allocate(capacity: count)
    defer {
      unsafe order.deallocate()
      unsafe spare.deallocate()
    }
    for index in 0..<count { unsafe order[index] = SortEntry(word: 0, index: Int32(index)) }
    try unsafe sort(order, spare, by: 0, depth: 0, interruption)
    return unsafe order.map { Int($0.index) }
  }

  /// Whether one object comes before another.
  private func isBefore(_ left: Int, _ right: Int) -> Bool {
    for column in columns {
      let order = column.order(left, right)
      if order != 0 { return order < 0 }
    }
    return left < right
  }

  /// How many words of seven bytes are sorted by one after the other.
  private static let depthLimit = 16

  /// Sorts entries, which are in the order of their indices, by the columns from `index` on; they are
  /// equal in those before, and in that one up to `depth`.
  private func sort(
    _ entries: UnsafeMutableBufferPointer<SortEntry>,
    _ spare: UnsafeMutableBufferPointer<SortEntry>, by index: Int, depth: Int,
    _ interruption: Interruption?
  ) throws(StoreError) {
    guard entries.count > 1, index < columns.count else { return }
    if entries.count > 4096 { try interruption?.check() }
    // Each depth takes stack: long beginnings that many texts share are compared as a whole.
    if depth == Self.depthLimit {
      var entries = unsafe entries
      return unsafe entries.sort { isBefore(Int($0.index), Int($1.index)) }
    }
    let column = columns[index]
    unsafe EntrySort.sort(entries, spare, by: column, depth: depth)
    var start = 0
    while start < entries.count {
      let word = unsafe entries[start].word
      let rank = unsafe column.rank(Int(entries[start].index))
      var end = start + 1
      while end < entries.count, unsafe entries[end].word == word,
        unsafe column.isUniform || column.rank(Int(entries[end].index)) == rank
      {
        end += 1
      }
      if end - start > 1 {
        let isExact = column.isExact(rank, column.isAscending ? word : ~word, depth: depth)
        try unsafe sort(
          UnsafeMutableBufferPointer(rebasing: entries[start..<end]),
          UnsafeMutableBufferPointer(rebasing: spare[start..<end]),
          by: isExact ? index + 1 : index, depth: isExact ? 0 : depth + 1, interruption)
      }
      start = end
    }
  }

  /// The first objects in order: a heap keeps the best ones seen, the worst of them on top.
  private func smallest(
    _ limit: Int, _ interruption: Interruption?
  ) throws(StoreError) -> [Int] {
    guard limit > 0 else { return [] }
    var heap = Array(0..<limit)
    for root in stride(from: limit / 2 - 1, through: 0, by: -1) { sink(&heap, root) }
    for index in limit..<count {
      if index & 4095 == 0 { try interruption?.check() }
      guard isBefore(index, heap[0]) else { continue }
      heap[0] = index
      sink(&heap, 0)
    }
    return heap.sorted(by: isBefore)
  }

  private func sink(_ heap: inout [Int], _ root: Int) {
    var place = root
    while true {
      var child = 2 * place + 1
      guard child < heap.count else { return }
      if child + 1 < heap.count, isBefore(heap[child], heap[child + 1]) { child += 1 }
      guard isBefore(heap[place], heap[child]) else { return }
      heap.swapAt(place, child)
      place = child
    }
  }
}
