import CPlatform

/// Rows that come out of order are gathered and sorted, and go into the tree leaf by leaf.
///
/// A leaf that takes one row at a time is found, opened and moved about for each of them; when rows go
/// all over a large tree, none of it is in the cache.
extension ColumnTreeEditor {
  /// Keys of a tree of so few rows are remembered in the log.
  private static let knownRowCount = 4096
  /// A log that is merged with fewer rows has not paid.
  private static let worthwhileRowCount = 1024
  /// After so many rows in order, rows go straight into the tree again.
  private static let ascendingLimit = 1024
  private static let largestScatterLimit = 1 << 20

  /// Whether the row with `key` should go into a log: many before it have gone back in the tree.
  @inline(__always) func wantsLog(_ key: Int64) throws(StoreError) -> Bool {
    if unsafe finger.isSet, unsafe key < finger.low {
      unsafe scatterCount &+= 1
      return unsafe scatterCount >= scatterLimit ? try startLog() : false
    }
    return false
  }

  private func startLog() throws(StoreError) -> Bool {
    unsafe scatterCount = 0
    guard options.rowLogByteCount > 0, unsafe columnCount > 0 else { return false }
    dropFinger()
    try settleLog()
    do throws(StoreError) { try makeLog() } catch .damaged {
      // Rows go into sound leaves one by one, whatever has become of others.
      unsafe scatterLimit = Self.largestScatterLimit
      return false
    }
    return true
  }

  private func makeLog() throws(StoreError) {
    let tree = unsafe ColumnTree(root: root, source: context.source)
    var bounds: (first: Int64, last: Int64) = (.max, .min)
    var cursor = tree.leafCursor(reading: [])
    if try cursor.last() {
      bounds.last = cursor.leaf.key(at: cursor.leaf.rowCount - 1)
      _ = try cursor.first()
      bounds.first = cursor.leaf.key(at: 0)
    }
    let knowsTree = tree.count <= Self.knownRowCount
    let log = RowLog(
      layout: layout, inlineLimit: options.inlineByteCount, knowsTree: knowsTree,
      treeBounds: bounds)
    if knowsTree, try cursor.first() {
      repeat {
        let leaf = cursor.leaf
        for row in 0..<leaf.rowCount { _ = log.keys.insert(leaf.key(at: row)) }
      } while try cursor.next()
    }
    unsafe self.log = log
    noteLogMemory(log)
  }

  /// Begins another log behind `log`, which was merged because it was full, if that one knew all keys.
  ///
  /// The next one knows them, too: to look for a key in a large tree that this transaction has just
  /// written takes many times longer than to add a row. Anything but adding a row ends the log, and with
  /// it what is known. Keys that would take too much of the log's memory are forgotten.
  private func continueLog(after log: RowLog) {
    guard log.knowsTree, log.keys.byteCount <= options.rowLogByteCount / 4 else { return }
    let next = unsafe RowLog(
      layout: layout, inlineLimit: options.inlineByteCount, keys: log.keys, knowsTree: true,
      treeBounds: (min(log.treeBounds.first, log.lowest), log.highest))
    unsafe self.log = next
    noteLogMemory(next)
  }

  /// Adds a row to the log; false, and nothing changed, when its key exists.
  func insert(
    key: Int64, values: UnsafeBufferPointer<ColumnValue>, into log: RowLog
  ) throws(StoreError) -> Bool {
    if !log.knowsTree, try treeHolds(key, log) { return false }
    guard log.keys.insert(key) else { return false }
    if let start = values.baseAddress, unsafe !log.append(key: key, values: start, overflow: nil) {
      let cells = try unsafe overflowCells(values)
      let isAppended = unsafe log.append(key: key, values: start, overflow: cells)
      precondition(isAppended, "What is too long for a leaf has a cell in its place.")
    }
    unsafe root.rowCount &+= 1
    if unsafe log.count & 255 == 0 {
      noteLogMemory(log)
      if unsafe log.ascendingCount >= Self.ascendingLimit {
        try mergeLog()
      } else if log.byteCount >= options.rowLogByteCount {
        try mergeLog()
        continueLog(after: log)
      }
    }
    return true
  }

  /// Whether a row of the tree has `key`, found without moving the finger.
  private func treeHolds(_ key: Int64, _ log: RowLog) throws(StoreError) -> Bool {
    if key < log.treeBounds.first || key > log.treeBounds.last { return false }
    var reference = unsafe root.reference
    for level in unsafe stride(from: Int(root.height) - 1, to: 0, by: -1) {
      let branch = try branch(reference, level)
      reference = branch.reference(branch.child(for: key))
    }
    if reference.isDirty {
      let page = context.dirty.look(at: reference.dirtyIndex)
      let leaf = unsafe unsafeDowncast(page, to: DirtyLeaf.self)
      let row = leaf.lowerBound(key)
      return row < leaf.rowCount && leaf.key(at: row) == key
    }
    return ColumnLeaf(try context.source.page(reference, .columnLeaf)).find(key) != nil
  }

  private func noteLogMemory(_ log: RowLog) {
    let byteCount = log.byteCount
    unsafe context.dirty.addHeld(byteCount - logByteCount)
    unsafe logByteCount = byteCount
  }

  /// Takes the memory of a log that is gone off the transaction's budget.
  func forgetLogMemory() {
    unsafe context.dirty.addHeld(-logByteCount)
    unsafe logByteCount = 0
  }

  // MARK: Merging

  /// Puts the rows of the log, if there are any, into the tree.
  func mergeLog() throws(StoreError) {
    guard let log = unsafe log else { return }
    rowsMoved()
    unsafe self.log = nil
    defer { forgetLogMemory() }
    if unsafe log.count < Self.worthwhileRowCount {
      unsafe scatterLimit = unsafe min(scatterLimit * 4, Self.largestScatterLimit)
    }
    unsafe root.rowCount &-= UInt64(log.count)
    do throws(StoreError) {
      log.sort()
      let cursors = RowCursors()
      var next = 0
      while unsafe next < log.count { next = try merge(log, from: next, cursors) }
      dropFinger()
    } catch {
      // The transaction can only be rolled back; who reads before that is told later.
      fail(error)
      dropFinger()
      throw error
    }
  }

  /// As ``mergeLog()``, for those who cannot throw: the error waits for the next call that can.
  func mergeLogSilently() { try? mergeLog() }

  /// Merges the rows from place `next` on that belong into one leaf, which may become many; returns
  /// the place behind them.
  private func merge(
    _ log: RowLog, from next: Int, _ cursors: borrowing RowCursors
  ) throws(StoreError) -> Int {
    let entries = unsafe UnsafePointer(log.entries)
    try unsafe descend(entries[next].key)
    var end = unsafe log.count
    if unsafe finger.high < .max {
      end = next + 1
      while unsafe end < log.count, unsafe entries[end].key <= finger.high { end += 1 }
    }
    var leaf = try ownLeaf()
    let old = try builder(of: leaf)
    var merge = LeafMerge(old: old, log: log, next: next, end: end)
    let limit = evenRowCount(old, merge.restCount)
    var fresh = makeBuilder()
    unsafe leaf.builder = fresh
    var counted = unsafe old.rowCount
    while true {
      // No leaf of fewer rows is full.
      let checkAt = unsafe max(fresh.checkAt, min(options.minimumRowCount, options.maximumRowCount))
      merge.fill(fresh, upTo: min(limit, checkAt), cursors)
      checkSize(fresh)
      if merge.restCount == 0 { break }
      guard
        unsafe fresh.rowCount >= limit
          || fresh.isFull && isReallyFull(leaf, fresh, at: fresh.rowCount)
      else { continue }
      unsafe count(fresh.rowCount - counted)
      counted = 0
      try openNext(leaf, fresh, firstKey: merge.nextKey)
      (leaf, fresh) = try emptyLeaf()
    }
    unsafe count(fresh.rowCount - counted)
    recycle(old)
    packNow(leaf)
    unsafe leaf.builder = nil
    recycle(fresh)
    if unsafe finger.high < .max, unsafe !isUnder(leaf.byteCount, leaf.rowCount) {
      try writeAhead(leaf)
    }
    return end
  }

  /// How many rows a leaf should take, so that all that one leaf becomes are of about one size.
  private func evenRowCount(_ old: LeafBuilder, _ rowCount: Int) -> Int {
    guard unsafe finger.high < .max, unsafe old.rowCount >= 16 else { return .max }
    let estimate = unsafe Double(old.estimatedByteCount) * packedRatio / Double(old.rowCount)
    let pieces = (estimate * Double(rowCount) / Double(options.leafByteCount)).rounded(.up)
    guard pieces >= 2, pieces <= 8 else { return .max }
    let even = Int((Double(rowCount) / pieces).rounded(.up))
    return max(options.minimumRowCount, even)
  }

  /// Counts rows that the leaf under the finger has more than its branches know.
  private func count(_ difference: Int) {
    unsafe root.rowCount &+= UInt64(bitPattern: Int64(difference))
    for step in unsafe steps { branch(step).addRows(difference, at: step.child) }
  }

  /// Ends the leaf under the finger, whose builder is `builder`, and puts an empty one behind it, on
  /// which the finger then stands.
  private func openNext(
    _ leaf: DirtyLeaf, _ builder: LeafBuilder, firstKey: Int64
  ) throws(StoreError) {
    packNow(leaf)
    unsafe leaf.builder = nil
    recycle(builder)
    let slot = unsafe steps.last?.child ?? 0
    let separator = unsafe steps.last.map { branch($0)[slot].separator } ?? .min
    try writeAhead(leaf)
    let child = Child(separator: firstKey, reference: adopt(makeBuilder()), rowCount: 0)
    unsafe insertChild(
      child, at: slot + 1, depth: steps.count - 1, siblingSeparator: separator)
    try descend(firstKey)
  }

  private func emptyLeaf() throws(StoreError) -> (DirtyLeaf, LeafBuilder) {
    let leaf = try ownLeaf()
    return (leaf, try builder(of: leaf))
  }
}

/// The rows of a leaf and those of a log that join them, in the order of their keys.
///
/// Pointers: the keys belong to `old`, which the merge keeps and nobody changes meanwhile; the entries belong
/// to the log. Places stay below `old.rowCount` and `end`.
@safe private struct LeafMerge {
  private let old: LeafBuilder
  private let keys: UnsafeMutablePointer<Int64>
  private var oldNext = 0
  private let log: RowLog
  private var next: Int
  private let end: Int
  private var prefetchedEnd = 0

  init(old: LeafBuilder, log: RowLog, next: Int, end: Int) {
    self.old = old
    // Trees with keys alone have a log.
    unsafe keys = unsafe old.keys.unsafelyUnwrapped
    self.log = log
    self.next = next
    self.end = end
  }

  /// How many rows are still to come.
  var restCount: Int { unsafe old.rowCount - oldNext + end - next }

  private var comesFromLog: Bool {
    unsafe oldNext == old.rowCount || next < end && log.entries[next].key < keys[oldNext]
  }

  /// The key of the next row; there must be one.
  var nextKey: Int64 { unsafe comesFromLog ? log.entries[next].key : keys[oldNext] }

  /// Appends rows to `builder` until it has `limit` of them or none are left, at least one.
  mutating func fill(_ builder: LeafBuilder, upTo limit: Int, _ cursors: borrowing RowCursors) {
    var room = unsafe max(1, limit - builder.rowCount)
    while room > 0, restCount > 0 {
      let rows: Int
      if comesFromLog {
        let most = min(end, next + min(room, RowCursors.capacity))
        var stop = next + 1
        if unsafe oldNext == old.rowCount {
          stop = most
        } else {
          while stop < most, unsafe log.entries[stop].key < keys[oldNext] { stop += 1 }
        }
        rows = stop - next
        prefetch(upTo: stop + max(rows, 64))
        unsafe builder.append(log, log.entries + next, count: rows, cursors: cursors)
        next = stop
      } else {
        let most = unsafe min(old.rowCount, oldNext + room)
        var stop = oldNext + 1
        if next == end {
          stop = most
        } else {
          while stop < most, unsafe keys[stop] < log.entries[next].key { stop += 1 }
        }
        rows = stop - oldNext
        builder.append(old, oldNext..<stop)
        oldNext = stop
      }
      room -= rows
    }
  }

  /// Asks for the rows up to place `stop`: they lie all over the log.
  private mutating func prefetch(upTo stop: Int) {
    for place in max(prefetchedEnd, next)..<max(prefetchedEnd, next, min(end, stop)) {
      let row = unsafe log.entries[place].row
      unsafe cambium_prefetch(row)
      unsafe cambium_prefetch(row + 63)
    }
    prefetchedEnd = max(prefetchedEnd, min(end, stop))
  }
}
