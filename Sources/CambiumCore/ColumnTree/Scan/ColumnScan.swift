import CPlatform

/// A node below which a scan visits all leaves.
struct ScannedSubtree: BitwiseCopyable {
  let reference: PageReference
  /// 0 for a leaf.
  let level: Int
}

/// Subtrees that make up a tree, of about the same size but for the last ones of each branch.
///
/// Pointers: the values belong to an array that lends them while all parts run. Each part gets the values of
/// its own subtrees, and no two parts have a subtree in common.
struct ScannedSubtrees {
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
        let branch = try tree.source.columnBranch(subtree.reference, subtree.level)
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

/// A walk over all leaves of subtrees that hints at what comes next.
///
/// Pointers: what is hinted at, and read of a leaf ahead, lies within the readable bytes of the mapping,
/// which the source's pin keeps; offsets found there are only used for hints.
struct ColumnScan {
  let source: PageSource
  let interruption: Interruption?
  let column: UInt16
  /// Where the column's directory entry was in the last leaf: likely the same in the next.
  var entryOffset = LeafHeader.byteCount
  /// How many bytes of the column are hinted at.
  let hintByteCount: Int
  private var ahead: ReadAhead

  /// How many leaves ahead the first bytes of a leaf are hinted at.
  private static let leavesAhead = 24
  /// How many leaves ahead the column is, when those first bytes have arrived.
  private static let columnsAhead = 10

  /// A scan of `subtrees`, which are to be visited one after the other.
  init(
    _ source: PageSource, _ interruption: Interruption?, column: UInt16,
    of subtrees: ArraySlice<ScannedSubtree>, hintByteCount: Int = 2048
  ) {
    self.source = source
    self.interruption = interruption
    self.column = column
    self.hintByteCount = hintByteCount
    ahead = ReadAhead(source, toEnd: true)
    if ahead.isWanted, let level = subtrees.first?.level {
      let top = LeafFrontier.Level(subtrees.map(\.reference), at: 0)
      ahead.place(LeafFrontier([top], depth: level + 1, by: 1))
    }
  }

  /// Calls `visit` with each leaf of the next subtree.
  @inline(__always) mutating func run(
    _ subtree: ScannedSubtree, _ visit: (borrowing ScannedLeaf) -> Void
  ) throws(StoreError) {
    // Branches that are entered, from the top down, with the child to visit next.
    var path: [(branch: ColumnBranch, next: Int)] = []
    var node = subtree
    while true {
      if node.level > 0 {
        let branch = try source.columnBranch(node.reference, node.level)
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
    for child in 0..<min(Self.leavesAhead, count) { prefetchLeaf(branch.reference(child)) }
    for child in 0..<min(Self.columnsAhead, count) { prefetchColumn(branch.reference(child)) }
    for child in 0..<count {
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
    ahead.step()
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
