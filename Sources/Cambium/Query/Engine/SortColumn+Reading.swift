import CambiumCore

extension SortColumn {
  /// Reads the values of the objects with these keys, which exist.
  static func read(
    _ key: SortKey, of keys: [Int64], _ context: QueryContext, _ reader: TableReader
  ) throws(StoreError) -> SortColumn {
    guard let link = key.links.first else {
      let column = SortColumn(key, capacity: keys.count)
      try column.fill(key.column, keys, context, reader)
      return column
    }
    let targets = try context.reader(link.target)
    var inner = key
    inner.links.removeFirst()
    if targets.count <= keys.count * 2 {
      return try ordinals(key, inner, link, keys, context, reader, targets)
    }
    return try followed(key, keys, context, reader)
  }

  /// Few objects with links to many: each link is followed.
  private static func followed(
    _ key: SortKey, _ keys: [Int64], _ context: QueryContext, _ reader: TableReader
  ) throws(StoreError) -> SortColumn {
    let column = SortColumn(key, capacity: keys.count)
    var readers = [reader]
    for link in key.links { readers.append(try context.reader(link.target)) }
    for start in keys {
      var place: Int64? = start
      for (depth, link) in key.links.enumerated() {
        guard let current = place else { break }
        let next = try readers[depth].withValue(link.column, current) { value -> Int64? in
          guard case .int(let target) = value else { return nil }
          return target
        }
        place = nil
        if let next, try readers[depth + 1].contains(next) { place = next }
      }
      if let place {
        try column.append(key.column, of: place, context, readers[key.links.count])
      } else {
        column.appendMissing()
      }
    }
    return column
  }

  /// Many objects with links to fewer: those are sorted once, and their places stand for the values.
  private static func ordinals(
    _ key: SortKey, _ inner: SortKey, _ link: BoundLink, _ keys: [Int64],
    _ context: QueryContext, _ reader: TableReader, _ targets: TableReader
  ) throws(StoreError) -> SortColumn {
    let targetKeys = try ConstantNode(context, targets, true).selectKeys()
    var ascending = inner
    ascending.isAscending = true
    let values = try read(ascending, of: targetKeys, context, targets)
    var ordinals = [Int32](repeating: 0, count: targetKeys.count)
    var ordinal: Int32 = 0
    var previous: Int?
    let sorter = SortColumns([values], count: targetKeys.count)
    for index in try sorter.sorted(limit: nil, context.interruption) {
      if let previous, values.ascendingOrder(previous, index) != 0 { ordinal += 1 }
      ordinals[index] = ordinal
      previous = index
    }
    let links = SortColumn(
      SortKey(links: [], column: link.column, isAscending: true), capacity: keys.count)
    try links.fill(link.column, keys, context, reader)
    let column = SortColumn(key, capacity: keys.count, hasOrdinals: true)
    let places = KeyPlaces(targetKeys)
    for index in keys.indices {
      let target = Int64(bitPattern: links.word(index) ^ 1 << 63)
      if links.rank(index) == Rank.value, let place = places[target], !values.isMissing(place) {
        column.append(ordinal: Int(ordinals[place]), rank: values.rank(place))
      } else {
        column.appendMissing()
      }
    }
    return column
  }

  /// Appends the values of a column for these keys: leaf by leaf where the keys ascend.
  private func fill(
    _ column: BoundColumn, _ keys: [Int64], _ context: QueryContext, _ reader: TableReader
  ) throws(StoreError) {
    if column.isKey {
      for key in keys { append(.int(key)) }
      return
    }
    guard let tree = reader.tree(of: column.id), !column.isEntry, Self.ascends(keys),
      keys.count > 16
    else {
      for key in keys { try append(column, of: key, context, reader) }
      return
    }
    var rows = RowScratch<Int32>()
    var cursor = tree.leafCursor()
    var next = 0
    var isValid = try cursor.seek(toKey: keys[0])
    while isValid, next < keys.count {
      let leaf = cursor.leaf
      let buffer = unsafe rows.room(leaf.rowCount)
      let count = unsafe Self.rows(of: keys, from: next, in: leaf, buffer)
      if count > 0 {
        if let cells = leaf.column(column.id) {
          try unsafe append(cells, rows: UnsafeBufferPointer(start: buffer, count: count), tree)
        } else {
          for _ in 0..<count { append(column.defaultValue) }
        }
      }
      next += count
      guard next < keys.count else { break }
      // The next key is usually on the next leaf, but may be far off.
      isValid = try cursor.next()
      if isValid, keys[next] > cursor.leaf.key(at: cursor.leaf.rowCount - 1) {
        isValid = try cursor.seek(toKey: keys[next])
      }
    }
    guard self.count == keys.count else {
      throw .damaged(Damage(.order, "an object that was found is not found again by its key"))
    }
  }

  /// Appends the value that one object has, of a map that of the key.
  private func append(
    _ column: BoundColumn, of key: Int64, _ context: QueryContext, _ reader: TableReader
  ) throws(StoreError) {
    guard column.isEntry else {
      return try reader.withValue(column, key) { value in append(value) }
    }
    try context.forEachElement(of: column, key, in: reader) { value in
      append(value)
      return true
    }
  }

  private static func ascends(_ keys: [Int64]) -> Bool {
    for index in keys.indices.dropFirst() where keys[index - 1] >= keys[index] { return false }
    return true
  }

  /// Finds the rows of the keys from `first` on that are on the leaf; returns how many there are.
  private static func rows(
    of keys: [Int64], from first: Int, in leaf: ColumnLeaf, _ rows: UnsafeMutablePointer<Int32>
  ) -> Int {
    unsafe keys.withUnsafeBufferPointer { keys in
      var count = 0
      var row = 0
      var next = first
      while next < keys.count, row < leaf.rowCount {
        let key = unsafe keys[next]
        // Neighbours among the keys are mostly neighbours on the leaf.
        if leaf.key(at: row) != key {
          guard let found = leaf.find(key) else { break }
          row = found
        }
        unsafe rows[count] = Int32(truncatingIfNeeded: row)
        count += 1
        row += 1
        next += 1
      }
      return count
    }
  }
}

/// Finds the place of a key in an ascending list; at once where the list has no gaps.
struct KeyPlaces {
  private let keys: [Int64]
  private let isDense: Bool

  init(_ keys: [Int64]) {
    self.keys = keys
    isDense = (keys.last ?? 0) &- (keys.first ?? 0) == Int64(keys.count) - 1
  }

  subscript(key: Int64) -> Int? {
    guard let first = keys.first, let last = keys.last, key >= first, key <= last else {
      return nil
    }
    if isDense { return Int(key - first) }
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < key { low = middle + 1 } else { high = middle }
    }
    return keys[low] == key ? low : nil
  }
}
