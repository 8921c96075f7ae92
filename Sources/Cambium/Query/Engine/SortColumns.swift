import CambiumCore

/// The values of all sort keys for a list of objects, and the arrangements made from them.
struct SortColumns {
  private var columns: [SortColumn]
  private let count: Int

  /// Reads the values of the objects with these keys.
  init(
    _ sortKeys: [SortKey], _ keys: [Int64], _ context: QueryContext, _ reader: TableReader
  ) throws(StoreError) {
    count = keys.count
    columns = []
    for sortKey in sortKeys {
      var column = SortColumn(sortKey, capacity: keys.count)
      var readers = [reader]
      for link in sortKey.links { readers.append(try context.reader(link.target)) }
      for key in keys {
        try Self.read(sortKey, 0, key, readers) { value in
          if let value { column.append(value) } else { column.appendMissing() }
        }
      }
      columns.append(column)
    }
  }

  /// Follows the links from `depth` on; nil when one of them is null.
  private static func read(
    _ sortKey: SortKey, _ depth: Int, _ key: Int64, _ readers: [TableReader],
    _ body: (ColumnValue?) -> Void
  ) throws(StoreError) {
    guard depth < sortKey.links.count else {
      return try readers[depth].withValue(sortKey.column, key) { value in body(value) }
    }
    let next = try readers[depth].withValue(sortKey.links[depth].column, key) { value -> Int64? in
      guard case .int(let target) = value else { return nil }
      return target
    }
    guard let next, try readers[depth + 1].contains(next) else { return body(nil) }
    try read(sortKey, depth + 1, next, readers, body)
  }

  // MARK: Distinct

  /// The indices of the first object of each combination of values, ascending; objects behind a null
  /// link are left out.
  func distinct() -> [Int] {
    var capacity = 16
    while capacity < count * 2 { capacity *= 2 }
    var slots = [Int32](repeating: -1, count: capacity)
    var result: [Int] = []
    for index in 0..<count where !columns.contains(where: { $0.isMissing(index) }) {
      var hash: UInt64 = 0
      for column in columns { column.hash(index, into: &hash) }
      var slot = Int(truncatingIfNeeded: hash &>> 7) & (capacity - 1)
      while slots[slot] >= 0, !isEqual(index, Int(slots[slot])) {
        slot = (slot + 1) & (capacity - 1)
      }
      guard slots[slot] < 0 else { continue }
      slots[slot] = Int32(index)
      result.append(index)
    }
    return result
  }

  private func isEqual(_ left: Int, _ right: Int) -> Bool {
    for column in columns where !column.isEqual(left, right) { return false }
    return true
  }

  // MARK: Sorting

  /// The indices in the order of the values, ties in the order they came; no more than `limit`.
  func sorted(limit: Int?) -> [Int] {
    if let limit, limit < count / 8 { return smallest(limit) }
    guard count > 1 else { return Array(0..<count) }
    var order = RadixSort.sorted(columns[0])
    if columns.count > 1 || !columns[0].isExact { breakTies(&order) }
    return order.map { Int($0) }
  }

  /// Whether one object comes before another.
  private func isBefore(_ left: Int, _ right: Int) -> Bool {
    for column in columns {
      let order = column.order(left, right)
      if order != 0 { return order < 0 }
    }
    return left < right
  }

  /// Sorts each run of objects that the first column's words leave equal.
  private func breakTies(_ order: inout [Int32]) {
    let (ranks, words) = (columns[0].ranks, columns[0].words)
    var start = 0
    while start < order.count {
      let first = Int(order[start])
      var end = start + 1
      while end < order.count, words[Int(order[end])] == words[first],
        ranks[Int(order[end])] == ranks[first]
      {
        end += 1
      }
      if end - start > 1 {
        order[start..<end].sort { isBefore(Int($0), Int($1)) }
      }
      start = end
    }
  }

  /// The first objects in order: a heap keeps the best ones seen, the worst of them on top.
  private func smallest(_ limit: Int) -> [Int] {
    guard limit > 0 else { return [] }
    var heap = Array(0..<limit)
    for root in stride(from: limit / 2 - 1, through: 0, by: -1) { sink(&heap, root) }
    for index in limit..<count where isBefore(index, heap[0]) {
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

/// Sorts by words, byte after byte from the last one; bytes that all words share are skipped.
enum RadixSort {
  private struct Entry {
    var word: UInt64
    var index: Int32
  }

  /// The indices in the column's direction by rank and word; equal ones keep their order.
  static func sorted(_ column: SortColumn) -> [Int32] {
    let mask: UInt64 = column.isAscending ? 0 : .max
    var entries = column.words.enumerated().map { index, word in
      Entry(word: word ^ mask, index: Int32(index))
    }
    var spare = entries
    var (all, any): (UInt64, UInt64) = (.max, 0)
    for entry in entries {
      all &= entry.word
      any |= entry.word
    }
    for byte in 0..<8 where (all ^ any) >> UInt64(byte * 8) & 0xFF != 0 {
      pass(&entries, &spare) { entry in Int(entry.word >> UInt64(byte * 8) & 0xFF) }
      swap(&entries, &spare)
    }
    if !column.isUniform {
      let ranks = column.ranks
      let isAscending = column.isAscending
      pass(&entries, &spare) { entry in
        let rank = Int(ranks[Int(entry.index)])
        return isAscending ? rank : 255 - rank
      }
      swap(&entries, &spare)
    }
    return entries.map(\.index)
  }

  /// Distributes entries over 256 digits into `target`, keeping the order within each.
  @inline(__always)
  private static func pass(
    _ source: inout [Entry], _ target: inout [Entry], _ digit: (Entry) -> Int
  ) {
    withUnsafeTemporaryAllocation(of: Int.self, capacity: 256) { places in
      places.initialize(repeating: 0)
      source.withUnsafeBufferPointer { source in
        target.withUnsafeMutableBufferPointer { target in
          for entry in source { places[digit(entry)] += 1 }
          var sum = 0
          for value in 0..<256 {
            let count = places[value]
            places[value] = sum
            sum += count
          }
          for entry in source {
            let value = digit(entry)
            target[places[value]] = entry
            places[value] += 1
          }
        }
      }
    }
  }
}
