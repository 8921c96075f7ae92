import CPlatform

/// Moves over the leaves of a ``ColumnTree`` in both directions.
///
/// Stands on a leaf or nowhere.
///
/// Pointers: the references are read from the lowest branch of `steps`, which keeps its page, and only below
/// `childCount`. The cursor is valid for as long as the tree's snapshot; in a write transaction until its
/// next change. What is fetched ahead lies within the readable bytes of the mapping.
@safe public struct ColumnLeafCursor {
  /// A branch on the way down and the child taken.
  private struct Step {
    var branch: ColumnBranch
    var child: Int
  }

  private let tree: ColumnTree
  private var ahead: ReadAhead
  /// The columns that the caller will read of each leaf.
  private let columns: [UInt16]
  /// Branches from the root down; the child of the last one is `child`.
  private var steps: [Step] = []
  /// References of the lowest branch, which `steps` keeps; plain memory, so that a step to the next
  /// leaf counts no references.
  private var references: UnsafeRawPointer
  /// How many of them there are; 0 when the root is a leaf or the cursor stands nowhere.
  private var childCount = 0
  private var child = 0
  private var current: ColumnLeaf
  /// Whether the cursor stands on a leaf.
  public private(set) var isValid = false
  /// The index of the leaf's first row within the tree.
  public private(set) var firstIndex = 0

  init(tree: ColumnTree, columns: [UInt16]) {
    self.tree = tree
    self.columns = columns
    ahead = ReadAhead(tree.source, toEnd: false)
    current = .none
    unsafe references = unsafe current.page.bytes
    steps.reserveCapacity(Int(tree.root.height))
  }

  /// The leaf; the cursor must stand on one.
  public var leaf: ColumnLeaf {
    precondition(isValid, "The cursor stands on no leaf; move it and check what that returns.")
    return current
  }

  /// Moves to the first leaf; false when the tree is empty.
  public mutating func first() throws(StoreError) -> Bool { try seek(toIndex: 0) }

  /// Moves to the last leaf; false when the tree is empty.
  public mutating func last() throws(StoreError) -> Bool { try seek(toIndex: tree.count - 1) }

  /// Moves to the leaf that holds `key` or, when no row has it, would hold it; false when the tree
  /// is empty.
  public mutating func seek(toKey key: Int64) throws(StoreError) -> Bool {
    if tree.isPositional { return try seek(toIndex: Int(truncatingIfNeeded: key)) }
    return try descend { branch, _ in branch.child(for: key) }
  }

  /// Moves to the leaf that holds the row at `index`; false out of bounds.
  public mutating func seek(toIndex index: Int) throws(StoreError) -> Bool {
    guard index >= 0, index < tree.count else {
      leave()
      return false
    }
    guard try descend({ branch, before in branch.child(at: UInt64(index) &- before).index }) else {
      return false
    }
    // Branches only say how many rows a leaf has.
    guard UInt(bitPattern: index &- firstIndex) < UInt(current.rowCount) else {
      throw ColumnTree.wrongCount(tree.root.reference)
    }
    return true
  }

  /// Stands nowhere.
  private mutating func leave() {
    steps.removeAll(keepingCapacity: true)
    (childCount, child, isValid) = (0, 0, false)
    current = .none
    ahead.restart()
  }

  /// Walks down from the root, asking `choose` for the child, given the rows before the branch.
  private mutating func descend(
    _ choose: (ColumnBranch, UInt64) -> Int
  ) throws(StoreError) -> Bool {
    leave()
    var reference = tree.root.reference
    if reference.isNone { return false }
    var before: UInt64 = 0
    for level in stride(from: Int(tree.root.height) - 1, to: 0, by: -1) {
      let branch = try tree.source.columnBranch(reference, level)
      let child = choose(branch, before)
      before &+= branch.rowsBefore(child)
      steps.append(Step(branch: branch, child: child))
      reference = branch.reference(child)
    }
    enterBranch()
    try stand(on: reference)
    firstIndex = Int(truncatingIfNeeded: before)
    return true
  }

  /// Takes over the lowest branch.
  private mutating func enterBranch() {
    guard let last = steps.last else { return }
    unsafe (references, childCount, child) = unsafe (
      last.branch.references, last.branch.count, last.child
    )
    for ahead in 1..<Self.leavesAhead {
      prefetchLeaf(child &+ ahead)
      prefetchLeaf(child &- ahead)
    }
  }

  @inline(__always) private mutating func stand(on reference: PageReference) throws(StoreError) {
    current = ColumnLeaf(try tree.source.page(reference, .columnLeaf))
    isValid = true
  }

  /// Moves to the next leaf; false, and nowhere, past the last one.
  public mutating func next() throws(StoreError) -> Bool {
    guard isValid else { return false }
    let index = firstIndex &+ current.rowCount
    guard try step(by: 1) else { return false }
    firstIndex = index
    return true
  }

  /// Moves to the previous leaf; false, and nowhere, before the first one.
  public mutating func previous() throws(StoreError) -> Bool {
    guard isValid, try step(by: -1) else { return false }
    firstIndex &-= current.rowCount
    return true
  }

  /// Moves to the neighbour of the leaf.
  @inline(__always) private mutating func step(by direction: Int) throws(StoreError) -> Bool {
    let next = child &+ direction
    guard next >= 0, next < childCount else { return try climb(direction) }
    child = next
    if ahead.isWanted { readAhead(direction) }
    prefetchLeaf(next &+ direction &* Self.leavesAhead)
    if !columns.isEmpty { prefetchColumns(next &+ direction &* Self.columnsAhead) }
    try unsafe stand(on: PageReference(loadingFrom: references + next &* 24))
    return true
  }

  /// Moves to a neighbour under another branch, climbing as far as needed.
  private mutating func climb(_ direction: Int) throws(StoreError) -> Bool {
    var depth = steps.count - 2
    while depth >= 0 {
      let child = steps[depth].child &+ direction
      if child >= 0 && child < steps[depth].branch.count {
        steps[depth].child = child
        var reference = steps[depth].branch.reference(child)
        for lower in (depth + 1)..<steps.count {
          let branch = try tree.source.columnBranch(reference, steps.count - lower)
          let child = direction > 0 ? 0 : branch.count - 1
          steps[lower] = Step(branch: branch, child: child)
          reference = branch.reference(child)
        }
        enterBranch()
        if ahead.isWanted { readAhead(direction) }
        try stand(on: reference)
        return true
      }
      depth -= 1
    }
    leave()
    return false
  }

  /// Tells the store what comes after the leaf that the cursor moves to.
  private mutating func readAhead(_ direction: Int) {
    if ahead.needsPlace(direction) {
      var path = steps.map { LeafFrontier.Level($0.branch, at: $0.child &+ direction) }
      if let last = steps.last { path[path.count - 1] = LeafFrontier.Level(last.branch, at: child) }
      ahead.place(LeafFrontier(path, depth: path.count, by: direction))
    }
    ahead.step()
  }

  /// How many leaves ahead the first bytes of a leaf are hinted at.
  private static let leavesAhead = 12
  /// How many leaves ahead the columns are, when those first bytes have arrived.
  private static let columnsAhead = 6

  /// Hints at what is read first of a leaf: whether it is trusted, and its directory.
  @inline(__always) private func prefetchLeaf(_ child: Int) {
    guard let bytes = unsafe mappedBytes(child) else { return }
    unsafe tree.source.trust.prefetch(bytes.reference)
    for line in 0..<4 { unsafe cambium_prefetch(bytes.pointer + line &* 64) }
  }

  /// Hints at the columns that the caller named; the leaf's directory has arrived.
  @inline(__always) private func prefetchColumns(_ child: Int) {
    guard let bytes = unsafe mappedBytes(child) else { return }
    // Not checked yet: what it says is only believed as far as the page reaches.
    let page = unsafe Page(bytes: bytes.pointer, byteCount: bytes.reference.byteCount, owner: nil)
    let leaf = ColumnLeaf(page)
    for column in columns { leaf.prefetch(column) }
  }

  /// Where a leaf of the lowest branch lies in memory; nil when there is no such leaf, or it is not
  /// mapped.
  @inline(__always) private func mappedBytes(
    _ child: Int
  ) -> (reference: PageReference, pointer: UnsafeRawPointer)? {
    guard let base = unsafe tree.source.base, child >= 0, child < childCount else { return nil }
    let reference = unsafe PageReference(loadingFrom: references + child &* 24)
    guard reference.byteOffset &+ reference.byteCount <= tree.source.readableByteCount else {
      return nil
    }
    return unsafe (reference, base + reference.byteOffset)
  }
}
