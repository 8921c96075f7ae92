import CPlatform

/// Scans over one column of a whole tree, without a cursor: a step to the next leaf costs less than
/// the values in it.
///
/// Large trees are scanned by several threads at the same time where processors are idle.
extension ColumnTree {
  /// How many integers of column `spec` lie in `range`; nulls do not.
  public func countInts(
    of spec: ColumnSpec, in range: ClosedRange<Int64>, interruption: Interruption? = nil
  ) throws(StoreError) -> Int {
    precondition(spec.type == .int, "Only a column of integers has integers to count.")
    return try countInts(
      of: spec, in: range, partCount: idlePartCount(worthwhileFor: 8_000_000),
      interruption: interruption)
  }

  /// The same in so many parts, each by a thread of its own.
  func countInts(
    of spec: ColumnSpec, in range: ClosedRange<Int64>, partCount: Int,
    interruption: Interruption? = nil
  ) throws(StoreError) -> Int {
    let isDefaultCounted = !spec.isNullable && range.contains(0)
    let subtrees = try ScannedSubtrees(self)
    let counts = try unsafe subtrees.map(0, partCount) { subtrees, counts throws(StoreError) in
      var scan = ColumnScan(source, interruption, column: spec.id)
      var total = 0
      for subtree in subtrees {
        try scan.run(subtree) { leaf in
          if let count = leaf.countBytes(in: range) {
            total &+= count
          } else if let column = leaf.column, column.type == .int {
            total &+= column.countInts(in: range)
          } else if isDefaultCounted {
            total &+= leaf.rowCount
          }
        }
      }
      unsafe counts[0] = total
    }
    return counts.reduce(0, &+)
  }

  /// How many values of column `spec` equal `needle`; nulls and trees do not.
  public func countBytes(
    of spec: ColumnSpec, equalTo needle: UnsafeRawBufferPointer, interruption: Interruption? = nil
  ) throws(StoreError) -> Int {
    precondition(spec.type == .bytes, "Only a column of bytes has bytes to count.")
    return try unsafe countBytes(
      of: spec, equalTo: needle, partCount: idlePartCount(worthwhileFor: 200_000),
      interruption: interruption)
  }

  /// The same in so many parts, each by a thread of its own.
  func countBytes(
    of spec: ColumnSpec, equalTo needle: UnsafeRawBufferPointer, partCount: Int,
    interruption: Interruption? = nil
  ) throws(StoreError) -> Int {
    let isDefaultCounted = unsafe !spec.isNullable && needle.isEmpty
    let subtrees = try ScannedSubtrees(self)
    let counts = try unsafe subtrees.map(0, partCount) { subtrees, counts throws(StoreError) in
      var count = unsafe EqualCount(needle)
      var total = 0
      var failure: StoreError?
      // Lengths, and where the values of the right length lie, come first.
      var scan = ColumnScan(source, interruption, column: spec.id, hintByteCount: 512)
      for subtree in subtrees {
        try scan.run(subtree) { leaf in
          guard let column = leaf.column, column.type == .bytes else {
            if isDefaultCounted { total &+= leaf.rowCount }
            return
          }
          if count.add(column) { return }
          do throws(StoreError) {
            unsafe total &+= try column.countBytes(equalTo: needle, source: source)
          } catch {
            failure = error
          }
        }
      }
      if let failure { throw failure }
      unsafe counts[0] = total &+ count.finish()
    }
    return counts.reduce(0, &+)
  }

  /// The sum of the doubles or floats of column `spec` that are not null.
  ///
  /// The order in which they are added is unspecified, and with it the last bits of the result; it is the
  /// same whenever the same version is read.
  public func sumDoubles(
    of spec: ColumnSpec, interruption: Interruption? = nil
  ) throws(StoreError) -> Double {
    precondition(
      spec.type == .double || spec.type == .float, "Only floating point is summed as doubles.")
    return try sumDoubles(
      of: spec, partCount: idlePartCount(worthwhileFor: 500_000), interruption: interruption)
  }

  /// The same in so many parts, each by a thread of its own.
  func sumDoubles(
    of spec: ColumnSpec, partCount: Int, interruption: Interruption? = nil
  ) throws(StoreError) -> Double {
    let subtrees = try ScannedSubtrees(self)
    // One for each subtree, however many threads there are: the last bits are those of one thread.
    let sums = try unsafe subtrees.map(0.0, partCount) { subtrees, sums throws(StoreError) in
      var scan = ColumnScan(source, interruption, column: spec.id)
      for (index, subtree) in subtrees.enumerated() {
        var total = 0.0
        try scan.run(subtree) { leaf in
          if let sum = leaf.sumDoubles() {
            total += sum
          } else if let column = leaf.column, column.type == spec.type {
            unsafe total += column.sumDoubles()
          }
        }
        unsafe sums[index] = total
      }
    }
    return sums.reduce(0, +)
  }

  /// Into how many parts the work on all rows is cut if threads pay from `rows` on.
  func idlePartCount(worthwhileFor rows: Int) -> Int {
    // Pages of a running transaction have one user.
    count < rows || source.dirty != nil ? 1 : ParallelParts.idleCount
  }
}

/// A node below which a scan visits all leaves.
private struct ScannedSubtree: BitwiseCopyable {
  let reference: PageReference
  /// 0 for a leaf.
  let level: Int
}

/// Subtrees that make up a tree, of about the same size but for the last ones of each branch.
///
/// Pointers: the values belong to an array that lends them while all parts run. Each part gets the values of
/// its own subtrees, and no two parts have a subtree in common.
private struct ScannedSubtrees {
  private var subtrees: [ScannedSubtree] = []
  /// With fewer of them, those below are taken in their place.
  private static let wantedCount = 16

  init(_ tree: ColumnTree) throws(StoreError) {
    if tree.root.reference.isNone { return }
    var level = Int(tree.root.height) - 1
    subtrees = [ScannedSubtree(reference: tree.root.reference, level: level)]
    while level > 1, subtrees.count < Self.wantedCount {
      var children: [ScannedSubtree] = []
      level -= 1
      for subtree in subtrees {
        let branch = try tree.source.scannedBranch(subtree)
        for child in 0..<branch.count {
          children.append(ScannedSubtree(reference: branch.reference(child), level: level))
        }
      }
      subtrees = children
    }
  }

  typealias Body<Value> = (
    ArraySlice<ScannedSubtree>, UnsafeMutablePointer<Value>
  ) throws(StoreError) -> Void

  /// Calls `body` with subtrees that follow each other, and a value for each of them that is `first` at
  /// the start and to be changed; returns the values of all subtrees in their order.
  func map<Value: BitwiseCopyable>(
    _ first: Value, _ partCount: Int, _ body: @escaping Body<Value>
  ) throws(StoreError) -> [Value] {
    if subtrees.isEmpty { return [] }
    var values = [Value](repeating: first, count: subtrees.count)
    var failure: StoreError?
    unsafe values.withUnsafeMutableBufferPointer { values in
      guard let start = values.baseAddress else { return }
      let partCount = min(partCount, subtrees.count)
      do throws(StoreError) {
        try ParallelParts.run(partCount) { part throws(StoreError) in
          let first = subtrees.count * part / partCount
          let end = subtrees.count * (part + 1) / partCount
          try unsafe body(subtrees[first..<end], start + first)
        }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return values
  }
}

extension PageSource {
  /// The branch where a scan goes down, at the level where it is expected.
  fileprivate func scannedBranch(_ node: ScannedSubtree) throws(StoreError) -> ColumnBranch {
    let branch = ColumnBranch(try page(node.reference, .columnBranch))
    guard branch.level == node.level, branch.count > 0 else {
      throw ColumnTree.wrongHeight(node.reference)
    }
    return branch
  }
}

/// A walk over all leaves of subtrees that hints at what comes next.
///
/// Pointers: what is hinted at, and read of a leaf ahead, lies within the readable bytes of the mapping,
/// which the source's pin keeps; offsets found there are only used for hints.
private struct ColumnScan {
  let source: PageSource
  let interruption: Interruption?
  let column: UInt16
  /// Where the column's directory entry was in the last leaf: likely the same in the next.
  var entryOffset = LeafHeader.byteCount
  /// How many bytes of the column are hinted at.
  let hintByteCount: Int

  /// How many leaves ahead the first bytes of a leaf are hinted at.
  private static let leavesAhead = 24
  /// How many leaves ahead the column is, when those first bytes have arrived.
  private static let columnsAhead = 10

  init(
    _ source: PageSource, _ interruption: Interruption?, column: UInt16, hintByteCount: Int = 2048
  ) {
    self.source = source
    self.interruption = interruption
    self.column = column
    self.hintByteCount = hintByteCount
  }

  /// Calls `visit` with each leaf of a subtree.
  @inline(__always) mutating func run(
    _ subtree: ScannedSubtree, _ visit: (borrowing ScannedLeaf) -> Void
  ) throws(StoreError) {
    // Branches that are entered, from the top down, with the child to visit next.
    var path: [(branch: ColumnBranch, next: Int)] = []
    var node = subtree
    while true {
      if node.level > 0 {
        let branch = try source.scannedBranch(node)
        if node.level > 1 {
          path.append((branch, 0))
        } else {
          try leaves(of: branch, visit)
        }
      } else {
        try self.leaf(node.reference, visit)
      }
      while let last = path.last, last.next == last.branch.count { path.removeLast() }
      guard let last = path.last else { return }
      node = ScannedSubtree(
        reference: last.branch.reference(last.next), level: last.branch.level - 1)
      path[path.count - 1].next += 1
    }
  }

  /// Visits all leaves of a branch at level 1.
  @inline(__always) private mutating func leaves(
    of branch: ColumnBranch, _ visit: (borrowing ScannedLeaf) -> Void
  ) throws(StoreError) {
    let count = branch.count
    var ahead = ReadAhead(source, toEnd: true)
    for child in 0..<min(Self.leavesAhead, count) { prefetchLeaf(branch.reference(child)) }
    for child in 0..<min(Self.columnsAhead, count) { prefetchColumn(branch.reference(child)) }
    for child in 0..<count {
      ahead.step(to: child, of: count) { branch.reference($0) }
      if child &+ Self.leavesAhead < count {
        prefetchLeaf(branch.reference(child &+ Self.leavesAhead))
      }
      if child &+ Self.columnsAhead < count {
        prefetchColumn(branch.reference(child &+ Self.columnsAhead))
      }
      try leaf(branch.reference(child), visit)
    }
    // The branch, and its owner, outlive what was read through it.
    withExtendedLifetime(branch.page.owner) {}
  }

  @inline(__always) private mutating func leaf(
    _ reference: PageReference, _ visit: (borrowing ScannedLeaf) -> Void
  ) throws(StoreError) {
    try interruption?.check()
    let page = try source.page(reference, .columnLeaf)
    let leaf = ScannedLeaf(page, column: column, likelyOffset: entryOffset)
    if leaf.entryOffset > 0 { entryOffset = leaf.entryOffset }
    visit(leaf)
    withExtendedLifetime(page.owner) {}
  }

  /// Where a page of a mapped store lies.
  @inline(__always) private func mapped(_ reference: PageReference) -> UnsafeRawPointer? {
    guard let base = unsafe source.base,
      reference.byteOffset &+ reference.byteCount <= source.readableByteCount,
      reference.byteCount > LeafHeader.byteCount
    else { return nil }
    return unsafe base + reference.byteOffset
  }

  /// Hints at whether a leaf is trusted, its header and the likely entry of its directory.
  @inline(__always) private func prefetchLeaf(_ reference: PageReference) {
    guard let bytes = unsafe mapped(reference) else { return }
    source.trust.prefetch(reference)
    unsafe cambium_prefetch(bytes)
    unsafe cambium_prefetch(bytes + entryOffset)
  }

  /// Hints at the first bytes of the column; not checked yet, so only believed within the page.
  @inline(__always) private func prefetchColumn(_ reference: PageReference) {
    guard let bytes = unsafe mapped(reference),
      entryOffset &+ LeafEntry.byteCount <= reference.byteCount
    else { return }
    let entry = unsafe bytes + entryOffset
    guard unsafe entry.half(LeafEntry.id) == column else { return }
    let offset = unsafe Int(entry.single(LeafEntry.dataOffset))
    let count = unsafe min(Int(entry.single(LeafEntry.dataByteCount)), hintByteCount)
    let end = min(offset &+ count, reference.byteCount)
    var line = offset & ~63
    while line < end {
      unsafe cambium_prefetch(bytes + line)
      line &+= 64
    }
  }
}

/// A leaf as a scan sees it: where the column's directory entry is, and little more.
///
/// Pointers: they lead into `page`, whose owner the scan keeps until the visit has ended; without one the pin
/// of the source or the transaction does. Every offset that is read from the page is held against the page's
/// length.
private struct ScannedLeaf {
  private let page: Page
  let rowCount: Int
  /// Where the column's entry is; 0 when the leaf lacks the column.
  let entryOffset: Int

  @inline(__always) init(_ page: Page, column: UInt16, likelyOffset: Int) {
    self.page = page
    let bytes = unsafe page.bytes
    guard page.byteCount >= LeafHeader.byteCount + LeafHeader.slackByteCount else {
      (rowCount, entryOffset) = (0, 0)
      return
    }
    let rows = unsafe Int(bytes.single(LeafHeader.rowCount))
    rowCount = rows <= LeafHeader.rowLimit ? rows : 0
    let end =
      unsafe LeafHeader.byteCount &+ Int(bytes.half(LeafHeader.columnCount)) &* LeafEntry.byteCount
    if end <= page.byteCount, likelyOffset &+ LeafEntry.byteCount <= end,
      unsafe bytes.half(likelyOffset) == column
    {
      entryOffset = likelyOffset
    } else {
      entryOffset = unsafe ColumnLeaf(page).entry(of: column).map { unsafe $0 - bytes } ?? 0
    }
  }

  /// The column, for whatever the quick ways do not know.
  var column: LeafColumn? {
    if entryOffset == 0 { return nil }
    return unsafe LeafColumn(
      entry: page.bytes + entryOffset, bytes: page.bytes, byteCount: page.byteCount,
      rowCount: rowCount, owner: page.owner)
  }

  /// Where the data of the column lies when it is of this form, has no nulls and takes `stride` bytes
  /// a row.
  @inline(__always) private func data(
    _ type: ColumnType, _ encoding: ColumnEncoding, stride: Int, allowsNulls: Bool
  ) -> UnsafeRawPointer? {
    if entryOffset == 0 { return nil }
    let entry = unsafe page.bytes + entryOffset
    guard unsafe entry.byte(LeafEntry.type) == type.rawValue,
      unsafe entry.byte(LeafEntry.encoding) == encoding.rawValue,
      unsafe allowsNulls || entry.single(LeafEntry.nulls) == 0
    else { return nil }
    let offset = unsafe Int(entry.single(LeafEntry.dataOffset))
    guard offset &+ rowCount &* stride <= page.byteCount &- LeafHeader.slackByteCount else {
      return nil
    }
    return unsafe page.bytes + offset
  }

  /// How many integers lie in `range`; nil unless they are offsets of one byte.
  @inline(__always) func countBytes(in range: ClosedRange<Int64>) -> Int? {
    guard entryOffset > 0, unsafe (page.bytes + entryOffset).byte(LeafEntry.width) == 8,
      let data = unsafe data(.int, .packed, stride: 1, allowsNulls: false)
    else { return nil }
    let base = unsafe Int64(bitPattern: (page.bytes + entryOffset).word(LeafEntry.base))
    let (top, isOver) = base.addingReportingOverflow(255)
    if isOver { return nil }
    if range.upperBound < base || range.lowerBound > top { return 0 }
    if range.lowerBound <= base && range.upperBound >= top { return rowCount }
    let low = max(range.lowerBound, base) &- base
    let high = min(range.upperBound, top) &- base
    return unsafe cambium_count8(
      data.assumingMemoryBound(to: UInt8.self), rowCount, UInt8(truncatingIfNeeded: low),
      UInt8(truncatingIfNeeded: high &- low))
  }

  /// The sum of the doubles; nil unless they lie there one by one.
  @inline(__always) func sumDoubles() -> Double? {
    // Null rows hold zero.
    guard let data = unsafe data(.double, .raw, stride: 8, allowsNulls: true) else { return nil }
    return unsafe cambium_sum_double(data.assumingMemoryBound(to: Double.self), rowCount)
  }
}

extension LeafColumn {
  /// How many values equal `needle`, whatever their form.
  fileprivate func countBytes(
    equalTo needle: UnsafeRawBufferPointer, source: PageSource
  ) throws(StoreError) -> Int {
    let words = bitmapWordCount
    let bitmap = UnsafeMutablePointer<UInt64>.allocate(capacity: words)
    defer { unsafe bitmap.deallocate() }
    try unsafe selectBytes(equalTo: needle, into: bitmap, source: source)
    return (0..<words).reduce(0) { unsafe $0 + bitmap[$1].nonzeroBitCount }
  }
}
