import CambiumCore

/// How many units of each block are in use: the free space of a store.
///
/// Space is given out in whole blocks; inside a run of blocks pages pack at one unit. A block that
/// holds anything a held version reads is never rewritten, so a block is free only when none of its
/// units is used. Two counts per block say that:
/// - `held`: units that any held version or the running write uses. Zero means free.
/// - `reachable`: units that the newest version uses. This is what a store keeps on its medium.
///
/// The counts are the leaves of a radix tree over the numbers of blocks: 512 blocks in a leaf, 16 children in
/// a branch. A store that keeps the tree in pages reads a leaf when it needs it, so that nothing here takes
/// time or memory for the size of the store: a leaf is in memory while it differs from its page, or while
/// something is held there that the newest version does not reach, and otherwise for a while.
///
/// What changes counts needs the leaf in memory: ``load(_:)`` comes first where it may not be. Runs that were
/// found are. Not synchronized: the store guards it with its own lock.
///
/// Unchecked: the nodes belong to this map alone; nobody else has a reference to one. Exclusivity of what they
/// hold is not checked, because no access to it calls out.
package struct BlockMap: ~Copyable, @unchecked Sendable {
  /// The size of a block in bytes.
  package static let blockByteCount = 4096
  /// How many units make a block.
  package static let unitsPerBlock = blockByteCount / Extent.unitByteCount
  /// How many blocks a leaf counts: 2 MiB.
  package static let leafBlockCount = FreeMapLeaf.blockCount

  /// The first block that is given out; those before it belong to the store.
  package let firstBlock: Int
  /// One past the last block ever given out and not yet given back.
  package private(set) var blockCount: Int
  /// How many blocks below `blockCount` are free.
  package internal(set) var freeBlockCount = 0
  /// How many blocks below `blockCount` the newest version does not use.
  var unreachedBlockCount = 0
  /// Whether there are as many free blocks as there can be; stored counts are a claim.
  package var hasPlausibleCounts: Bool {
    let possible = 0...max(0, blockCount - firstBlock)
    return possible.contains(freeBlockCount) && possible.contains(unreachedBlockCount)
  }
  var root: FreeMapBranch
  /// Reads what is stored; nil for a map that is only in memory.
  let source: (any FreeMapSource)?
  /// Leaves that were not changed since are stored as they are.
  package internal(set) var storedVersion: Version
  /// About how many leaves have changed since.
  package internal(set) var changedLeafCount = 0
  /// How many leaves are in memory.
  package internal(set) var leafCount = 0
  /// The leaf that was used last.
  private var latest: (number: Int, leaf: FreeMapLeaf)?
  /// Where the next search starts: next-fit keeps the commits of a burst together.
  var cursor: Int
  /// No run of more blocks was found anywhere, and none has become longer since.
  var longestRun = Int.max
  /// Whether small holes are used however little is free: the store can hardly grow.
  package var fillsHoles = false
  /// Whether long runs are kept for large pages: each page takes one of its own length first.
  package var keepsRuns = false
  /// No block before this one is given out: it is not known what old versions see there.
  package var allocationFloor: Int
  /// Room behind this block is given out only when there is none before it; nil for no such block.
  package var allocationCeiling: Int?

  /// An empty map: nothing is used behind `firstBlock`.
  package init(firstBlock: Int) {
    self.init(firstBlock: firstBlock, root: FreeMapBranch(emptyAtLevel: 1), source: nil, version: 0)
  }

  init(
    firstBlock: Int, root: FreeMapBranch, source: (any FreeMapSource)?, version: Version
  ) {
    precondition(firstBlock <= FreeMapLeaf.blockCount, "The store's own blocks fill one leaf.")
    self.firstBlock = firstBlock
    self.root = root
    self.source = source
    storedVersion = version
    blockCount = firstBlock
    cursor = firstBlock
    allocationFloor = firstBlock
  }

  // MARK: Nodes

  /// How many levels of branches there are.
  package var level: Int { root.level }

  /// Brings the counts of `extent`, which lies below the high-water mark, into memory.
  package mutating func load(_ extent: Extent) throws(StoreError) {
    guard extent.unitCount > 0 else { return }
    let unitsPerBlock = UInt64(Self.unitsPerBlock)
    try load(
      blocks: Int(extent.address / unitsPerBlock)..<Int((extent.end - 1) / unitsPerBlock) + 1)
  }

  /// The same for some blocks.
  package mutating func load(blocks: Range<Int>) throws(StoreError) {
    guard !blocks.isEmpty else { return }
    let last = FreeMapLeaf.number(ofBlock: blocks.upperBound - 1)
    for number in FreeMapLeaf.number(ofBlock: blocks.lowerBound)...last {
      _ = try loadedLeaf(number)
    }
  }

  /// The leaf of that number, which is read when it is not in memory.
  mutating func loadedLeaf(_ number: Int) throws(StoreError) -> FreeMapLeaf {
    if let latest, latest.number == number { return latest.leaf }
    let branch = try loadedBranch(ofLeaf: number)
    let child = branch.child(ofLeaf: number)
    if let leaf = unsafe branch.leaves[child] {
      latest = (number, leaf)
      return leaf
    }
    let leaf = try unsafe readLeaf(number, branch.parts[child])
    unsafe branch.leaves[child] = leaf
    leafCount += 1
    latest = (number, leaf)
    return leaf
  }

  /// A leaf as it is stored.
  func readLeaf(_ number: Int, _ part: FreeMapPart) throws(StoreError) -> FreeMapLeaf {
    let leaf: FreeMapLeaf
    if let source, !part.isEmpty {
      leaf = FreeMapLeaf(reachable: try source.counts(of: part))
    } else {
      leaf = FreeMapLeaf()
    }
    if number == 0 {
      for block in 0..<firstBlock {
        leaf[held: block] = UInt8(Self.unitsPerBlock)
        leaf[reachable: block] = UInt8(Self.unitsPerBlock)
      }
    }
    return leaf
  }

  /// The branch above the leaf of that number.
  func loadedBranch(ofLeaf number: Int) throws(StoreError) -> FreeMapBranch {
    var branch = root
    while branch.level > 1 {
      let child = branch.child(ofLeaf: number)
      branch = try loadedChild(child, of: branch)
    }
    return branch
  }

  /// A child of a branch of branches.
  func loadedChild(
    _ child: Int, of branch: FreeMapBranch
  ) throws(StoreError) -> FreeMapBranch {
    if let known = unsafe branch.branches[child] { return known }
    let next = try unsafe readBranch(branch.parts[child], level: branch.level - 1)
    unsafe branch.branches[child] = next
    return next
  }

  /// A branch as it is stored.
  func readBranch(_ part: FreeMapPart, level: Int) throws(StoreError) -> FreeMapBranch {
    guard let source, !part.isEmpty else { return FreeMapBranch(emptyAtLevel: level) }
    return FreeMapBranch(level: level, parts: try source.children(of: part, level: level))
  }

  /// The leaf of that number, if it is in memory.
  func knownLeaf(_ number: Int) -> FreeMapLeaf? {
    if let latest, latest.number == number { return latest.leaf }
    var branch = root
    guard number < FreeMapBranch.leafCount(level: branch.level) else { return nil }
    while branch.level > 1 {
      guard let next = unsafe branch.branches[branch.child(ofLeaf: number)] else { return nil }
      branch = next
    }
    return unsafe branch.leaves[branch.child(ofLeaf: number)]
  }

  /// The leaf of that number, which has to be in memory.
  @inline(__always)
  private mutating func leaf(_ number: Int) -> FreeMapLeaf {
    if let latest, latest.number == number { return latest.leaf }
    guard let leaf = knownLeaf(number) else {
      preconditionFailure("S1: the counts of leaf \(number) were not read.")
    }
    latest = (number, leaf)
    return leaf
  }

  /// Forgets which leaf was used last.
  mutating func forgetLatest() { latest = nil }

  /// Notes a change in all branches above a leaf.
  func markPath(toLeaf number: Int, _ version: Version) {
    var branch = root
    while true {
      unsafe branch.changed = unsafe max(branch.changed, version)
      guard branch.level > 1, let next = unsafe branch.branches[branch.child(ofLeaf: number)] else {
        return
      }
      branch = next
    }
  }

  // MARK: Counting

  /// How many units of `block` are in use by any held version or the running write; its leaf has to be in
  /// memory, or nothing in use there.
  package func heldUnits(ofBlock block: Int) -> Int {
    guard block < blockCount else { return 0 }
    if block < firstBlock { return Self.unitsPerBlock }
    return Int(knownLeaf(block >> FreeMapLeaf.shift)?[held: block] ?? 0)
  }

  /// Whether `extent` lies between the store's own blocks and the high-water mark.
  package func contains(_ extent: Extent) -> Bool {
    extent.unitCount > 0 && extent.address >= UInt64(firstBlock * Self.unitsPerBlock)
      && extent.address <= UInt64(blockCount * Self.unitsPerBlock)
      && extent.unitCount <= UInt64(blockCount * Self.unitsPerBlock) - extent.address
  }

  /// What of an extent one leaf counts.
  private struct Piece {
    var number: Int
    /// Counted from the beginning of the leaf.
    var units: Range<Int>

    /// Takes the first piece off `extent`; nil when nothing is left.
    @inline(__always) init?(of extent: inout Extent) {
      if extent.unitCount == 0 { return nil }
      let unitsPerLeaf = FreeMapLeaf.blockCount * BlockMap.unitsPerBlock
      let start = Int(extent.address) & (unitsPerLeaf - 1)
      let count = min(Int(extent.unitCount), unitsPerLeaf - start)
      number = Int(extent.address) / unitsPerLeaf
      units = start..<start + count
      extent.address += UInt64(count)
      extent.unitCount -= UInt64(count)
    }
  }

  /// Whether no unit of `extent` can be in use already.
  package mutating func canHold(_ extent: Extent) -> Bool {
    contains(extent) && all(of: extent) { $0.canAdd($1, .held) }
  }

  /// Notes that `extent` is in use.
  ///
  /// The blocks must lie below the high-water mark.
  package mutating func hold(_ extent: Extent) {
    precondition(contains(extent), "S1: an extent outside of the store was given out.")
    assert(canHold(extent), "S1: units were given out twice.")
    var rest = extent
    while let piece = Piece(of: &rest) {
      freeBlockCount -= leaf(piece.number).add(piece.units, .held)
    }
  }

  /// Notes that no held version uses `extent` any more.
  package mutating func letGo(_ extent: Extent) {
    var rest = extent
    while let piece = Piece(of: &rest) {
      let leaf = leaf(piece.number)
      precondition(leaf.canRemove(piece.units, .held), "S1: units were let go twice.")
      let (count, inside) = leaf.remove(piece.units, .held)
      freeBlockCount += count
      if count > 0 { noteFree(inside, leaf, piece.number) }
    }
  }

  /// Adds `extent`, which is held, to what the newest version uses; false, and unchanged, when the counts say
  /// that cannot be.
  ///
  /// `version` is the one that does so.
  package mutating func addReachable(_ extent: Extent, _ version: Version) -> Bool {
    changeReachable(extent, version, if: { $0.canAdd($1, .reachable) }) { leaf, units in
      -leaf.add(units, .reachable)
    }
  }

  /// Takes `extent`, which stays held, from what the newest version uses; false, and unchanged, when the
  /// counts say that it was not in use.
  package mutating func removeReachable(_ extent: Extent, _ version: Version) -> Bool {
    changeReachable(extent, version, if: { $0.canRemove($1, .reachable) }) { leaf, units in
      leaf.remove(units, .reachable).count
    }
  }

  /// Changes the counts of all leaves of `extent` if all of them can be changed; `change` returns how many blocks
  /// more are not used then.
  @inline(__always)
  private mutating func changeReachable(
    _ extent: Extent, _ version: Version,
    if condition: (_ leaf: FreeMapLeaf, _ units: Range<Int>) -> Bool,
    _ change: (_ leaf: FreeMapLeaf, _ units: Range<Int>) -> Int
  ) -> Bool {
    guard contains(extent), isInOneLeaf(extent) || all(of: extent, condition) else { return false }
    var rest = extent
    while let piece = Piece(of: &rest) {
      let leaf = leaf(piece.number)
      guard condition(leaf, piece.units) else { return false }
      unreachedBlockCount += change(leaf, piece.units)
      touch(piece.number, leaf, version)
    }
    return true
  }

  private func isInOneLeaf(_ extent: Extent) -> Bool {
    let unitsPerLeaf = UInt64(FreeMapLeaf.blockCount * Self.unitsPerBlock)
    return extent.address / unitsPerLeaf == (extent.end - 1) / unitsPerLeaf
  }

  private mutating func all(
    of extent: Extent, _ condition: (_ leaf: FreeMapLeaf, _ units: Range<Int>) -> Bool
  ) -> Bool {
    var rest = extent
    while let piece = Piece(of: &rest) {
      guard condition(leaf(piece.number), piece.units) else { return false }
    }
    return true
  }

  /// Notes that `version` changes what is reachable in a leaf.
  @inline(__always)
  private mutating func touch(_ number: Int, _ leaf: FreeMapLeaf, _ version: Version) {
    guard unsafe leaf.changed < version else { return }
    if unsafe leaf.changed <= storedVersion { changedLeafCount += 1 }
    unsafe leaf.changed = version
    markPath(toLeaf: number, version)
  }

  // MARK: The high-water mark

  /// Grows the map to `blockCount` blocks; the new ones are free.
  package mutating func extend(toBlockCount count: Int) {
    guard count > blockCount else { return }
    while FreeMapBranch.leafCount(level: root.level) * FreeMapLeaf.blockCount < count {
      let higher = FreeMapBranch(emptyAtLevel: root.level + 1)
      unsafe higher.bounds[0] = root.bound
      unsafe higher.branches[0] = root
      unsafe higher.changed = unsafe root.changed
      unsafe root.isUnstored = true
      root = higher
    }
    freeBlockCount += count - blockCount
    unreachedBlockCount += count - blockCount
    longestRun = .max
    // A run at the end may have become longer, also one that begins in the leaf before.
    let last = FreeMapLeaf.number(ofBlock: blockCount)
    for leaf in max(0, last - 1)...last { raise(leaf: leaf, to: FreeMapPart.anyLength) }
    blockCount = count
  }

  /// One past the last block that is in use.
  package mutating func usedBlockCount() -> Int {
    let last = FreeMapLeaf.number(ofBlock: max(blockCount - 1, 0))
    // Nearly always nothing is free at the end.
    if let leaf = knownLeaf(last), leaf[held: FreeMapLeaf.index(of: max(blockCount - 1, 0))] > 0 {
      return max(allocationFloor, blockCount)
    }
    let used = lastUsed(in: root, first: 0, upTo: last).map { $0 + 1 } ?? 0
    return max(allocationFloor, firstBlock, min(used, blockCount))
  }

  /// The last block in use of the leaves from `first` up to `last`; the last one there when that cannot be
  /// read.
  private mutating func lastUsed(
    in branch: FreeMapBranch, first: Int, upTo last: Int
  ) -> Int? {
    var child = min(FreeMapBranch.childCount - 1, (last - first) / branch.leavesPerChild)
    while child >= 0 {
      let start = first + child * branch.leavesPerChild
      if branch.level > 1 {
        if unsafe branch.branches[child] != nil || !branch.parts[child].isEmpty || start == 0 {
          guard let next = try? loadedChild(child, of: branch) else {
            return (start + branch.leavesPerChild) * FreeMapLeaf.blockCount - 1
          }
          if let block = lastUsed(in: next, first: start, upTo: last) { return block }
        }
      } else if unsafe branch.leaves[child] != nil || !branch.parts[child].isEmpty || start == 0 {
        guard let leaf = try? loadedLeaf(start) else {
          return (start + 1) * FreeMapLeaf.blockCount - 1
        }
        let count = min(FreeMapLeaf.blockCount, blockCount - start * FreeMapLeaf.blockCount)
        let free = leaf.freeCount(before: count, atMost: count)
        if free < count { return start * FreeMapLeaf.blockCount + count - 1 - free }
      }
      child -= 1
    }
    return nil
  }

  /// Gives back free blocks at the end, so that the high-water mark falls.
  package mutating func trimTail() {
    let count = usedBlockCount()
    guard count < blockCount else { return }
    freeBlockCount -= blockCount - count
    unreachedBlockCount -= blockCount - count
    blockCount = count
  }
}
