import CambiumCore

/// The map in pages.
extension BlockMap {
  /// The tree as it is stored: what leads to everything else.
  package struct Stored: Sendable {
    /// The version whose counts they are.
    package var version: Version
    /// How many levels of branches there are; the top one is this.
    package var level: Int
    /// The children of the top.
    package var parts: [FreeMapPart]
    /// The high-water mark, and how many blocks below it are not used.
    package var blockCount: Int
    package var freeBlockCount: Int

    package init(
      version: Version, level: Int, parts: [FreeMapPart], blockCount: Int, freeBlockCount: Int
    ) {
      self.version = version
      self.level = level
      self.parts = parts
      self.blockCount = blockCount
      self.freeBlockCount = freeBlockCount
    }

    /// Whether the numbers can belong to a store.
    package func isPlausible(firstBlock: Int) -> Bool {
      (1...Self.highestLevel).contains(level) && parts.count == FreeMapBranch.childCount
        && blockCount >= firstBlock
        && blockCount <= FreeMapBranch.leafCount(level: level) * FreeMapLeaf.blockCount
        && (0...blockCount - firstBlock).contains(freeBlockCount)
    }

    /// What addresses allow: 2^42 blocks.
    package static var highestLevel: Int { 9 }
    /// How many children a branch has.
    package static var childCount: Int { FreeMapBranch.childCount }
  }

  /// The map as it is stored; its pages are read from `source` when they are needed.
  package init(firstBlock: Int, _ stored: Stored, from source: any FreeMapSource) {
    precondition(stored.isPlausible(firstBlock: firstBlock))
    self.init(
      firstBlock: firstBlock, root: FreeMapBranch(level: stored.level, parts: stored.parts),
      source: source, version: stored.version)
    extend(toBlockCount: stored.blockCount)
    freeBlockCount = stored.freeBlockCount
    unreachedBlockCount = stored.freeBlockCount
  }

  /// An empty map of a store that keeps it in pages.
  package init(firstBlock: Int, from source: any FreeMapSource) {
    self.init(
      firstBlock: firstBlock, root: FreeMapBranch(emptyAtLevel: 1), source: source, version: 0)
  }

  // MARK: Writing

  /// The parts of the map that have changed since they were stored, as they are now.
  ///
  /// `@unchecked Sendable`: the nodes belong to the map that made it, and only that looks at them.
  package struct Changes: @unchecked Sendable {
    fileprivate var stored: Stored
    fileprivate var children: [Child]

    /// A child that is to be written anew.
    fileprivate struct Child {
      var branch: FreeMapBranch
      var index: Int
      /// How it is stored.
      var part: FreeMapPart
      var content: Content

      enum Content {
        case leaf([UInt8], longest: Int)
        case branch([FreeMapPart], [Child])
      }
    }
  }

  /// Pages of the map that were written, but are not yet what the store leads to.
  ///
  /// `@unchecked Sendable`: as ``Changes``.
  package struct Update: @unchecked Sendable {
    /// The top of the new tree.
    package var stored: Stored
    fileprivate var changes: [(branch: FreeMapBranch, child: Int, part: FreeMapPart)] = []

    /// Writes the pages of all parts that have changed; everything else stays where it is.
    ///
    /// `write` writes a page and says where it lies; `giveUp` is told of each page that is no longer needed
    /// then, and its level, 0 for a leaf. In the map nothing changes before ``BlockMap/adopt(_:)``.
    package init(
      _ changes: Changes, giveUp: (_ part: FreeMapPart, _ level: Int) -> Void,
      write: (_ page: FreeMapPage) throws(StoreError) -> (checksum: UInt64, address: UInt64)
    ) throws(StoreError) {
      stored = changes.stored
      let top = stored.parts
      stored.parts = try parts(top, changes.children, stored.level, giveUp, write)
    }

    /// `parts` with the changed ones of `children` written.
    private mutating func parts(
      _ parts: [FreeMapPart], _ children: [Changes.Child], _ level: Int,
      _ giveUp: (_ part: FreeMapPart, _ level: Int) -> Void,
      _ write: (_ page: FreeMapPage) throws(StoreError) -> (checksum: UInt64, address: UInt64)
    ) throws(StoreError) -> [FreeMapPart] {
      var parts = parts
      for child in children {
        let page: FreeMapPage
        var longest: Int
        switch child.content {
        case .leaf(let counts, let longestRun):
          (page, longest) = (.leaf(counts), longestRun)
        case .branch(let old, let changed):
          let new = try self.parts(old, changed, level - 1, giveUp, write)
          (page, longest) = (.branch(new), new.reduce(0) { max($0, $1.longest) })
        }
        if !child.part.isEmpty { giveUp(child.part, level - 1) }
        var part = FreeMapPart.empty
        if !page.isEmpty {
          let (checksum, address) = try write(page)
          part = FreeMapPart(checksum: checksum, address: address, longest: longest)
        }
        parts[child.index] = part
        changes.append((child.branch, child.index, part))
      }
      return parts
    }
  }

  /// What has changed since it was stored, as of `version`, which is the newest one.
  package func changes(version: Version) -> Changes {
    unsafe Changes(
      stored: Stored(
        version: version, level: root.level, parts: root.parts, blockCount: blockCount,
        freeBlockCount: unreachedBlockCount),
      children: changedChildren(of: root))
  }

  private func changedChildren(of branch: FreeMapBranch) -> [Changes.Child] {
    var changed: [Changes.Child] = []
    for index in unsafe branch.parts.indices {
      let content: Changes.Child.Content
      if branch.level > 1 {
        guard let next = unsafe branch.branches[index],
          unsafe next.isUnstored || next.changed > storedVersion
        else { continue }
        content = unsafe .branch(next.parts, changedChildren(of: next))
      } else {
        guard let leaf = unsafe branch.leaves[index], unsafe leaf.changed > storedVersion else {
          continue
        }
        content = .leaf(leaf.reachable, longest: leaf.bound(.reachable))
      }
      unsafe changed.append(
        Changes.Child(
          branch: branch, index: index, part: branch.parts[index], content: content))
    }
    return changed
  }

  /// Takes what was written for what is stored.
  package mutating func adopt(_ update: Update) {
    for (branch, child, part) in update.changes {
      unsafe branch.parts[child] = part
      if branch.level > 1 { unsafe branch.branches[child]?.isUnstored = false }
    }
    storedVersion = update.stored.version
    changedLeafCount = 0
    if leafCount > Self.largestLeafCount { dropUnchanged() }
  }

  /// More leaves than this are let go when they are as they are stored: 1 KiB each.
  private static var largestLeafCount: Int { 1024 }

  /// Lets leaves and branches go that are as they are stored.
  package mutating func dropUnchanged() {
    guard source != nil else { return }
    forgetLatest()
    _ = dropUnchanged(in: root)
  }

  /// Whether nothing in `branch` needs memory.
  private mutating func dropUnchanged(in branch: FreeMapBranch) -> Bool {
    var isIdle = unsafe branch.changed <= storedVersion && !branch.isUnstored
    for child in unsafe branch.leaves.indices {
      guard let leaf = unsafe branch.leaves[child] else { continue }
      if unsafe leaf.changed <= storedVersion, unsafe leaf.excess == 0 {
        unsafe branch.leaves[child] = nil
        unsafe branch.bounds[child] = unsafe min(branch.bounds[child], branch.parts[child].longest)
        leafCount -= 1
      } else {
        isIdle = false
      }
    }
    for child in unsafe branch.branches.indices {
      guard let next = unsafe branch.branches[child] else { continue }
      if dropUnchanged(in: next) {
        unsafe branch.branches[child] = nil
        unsafe branch.bounds[child] = unsafe min(branch.bounds[child], branch.parts[child].longest)
      } else {
        isIdle = false
      }
    }
    return isIdle
  }

  // MARK: Looking at all of it

  /// Calls `body` with every page of the stored tree and its level.
  package func forEachStoredPart(
    _ body: (_ part: FreeMapPart, _ level: Int) throws(StoreError) -> Void
  ) throws(StoreError) {
    try unsafe forEachStoredPart(root.parts, level: root.level, root, body)
  }

  private func forEachStoredPart(
    _ parts: [FreeMapPart], level: Int, _ known: FreeMapBranch?,
    _ body: (_ part: FreeMapPart, _ level: Int) throws(StoreError) -> Void
  ) throws(StoreError) {
    for (child, part) in parts.enumerated() {
      let next = unsafe level > 1 ? known?.branches[child] : nil
      if !part.isEmpty { try body(part, level - 1) }
      guard level > 1 else { continue }
      // A branch without a page of its own has children that have some.
      if let next {
        try unsafe forEachStoredPart(next.parts, level: level - 1, next, body)
      } else if let source, !part.isEmpty {
        let children = try source.children(of: part, level: level - 1)
        try forEachStoredPart(children, level: level - 1, nil, body)
      }
    }
  }

  /// Calls `body` with the counts of each leaf below the high-water mark, and whether more blocks in a row are
  /// free there than its bound says.
  package mutating func forEachLeaf(
    _ body: (_ firstBlock: Int, _ held: [Int], _ reachable: [Int], _ isBoundTooLow: Bool) -> Void
  ) throws(StoreError) {
    let last = FreeMapLeaf.number(ofBlock: max(blockCount - 1, 0))
    for number in 0...last {
      if number & (Self.largestLeafCount - 1) == 0, number > 0 { dropUnchanged() }
      let leaf = try loadedLeaf(number)
      let bound = storedBound(ofLeaf: number)
      let longest =
        unsafe leaf.changed > storedVersion
        ? 0 : leaf.longestRun(.reachable, in: 0..<FreeMapLeaf.blockCount)
      let blocks = 0..<min(FreeMapLeaf.blockCount, blockCount - number * FreeMapLeaf.blockCount)
      body(
        number * FreeMapLeaf.blockCount, blocks.map { Int(leaf[held: $0]) },
        blocks.map { Int(leaf[reachable: $0]) }, longest > bound)
    }
  }

  private func storedBound(ofLeaf number: Int) -> Int {
    var (branch, bound) = (root, FreeMapPart.anyLength)
    while true {
      let child = branch.child(ofLeaf: number)
      if unsafe branch.level == 1 || branch.branches[child]?.isUnstored != true {
        bound = unsafe min(bound, branch.parts[child].longest)
      }
      guard branch.level > 1, let next = unsafe branch.branches[child] else { return bound }
      branch = next
    }
  }

  /// Sees to it that pages behind `address` are written anew by who stores the map next, of
  /// at most `count` branches above leaves from the one on that leads to `leaf`; where to go on the next time.
  package mutating func mark(
    behind address: UInt64, fromLeaf leaf: Int, count: Int
  ) throws(StoreError) -> Int {
    var number = leaf / FreeMapBranch.childCount * FreeMapBranch.childCount
    let end = FreeMapLeaf.number(ofBlock: max(blockCount - 1, 0))
    for _ in 0..<count {
      guard number <= end else { return 0 }
      try mark(behind: address, aboveLeaf: number)
      number += FreeMapBranch.childCount
    }
    return number
  }

  private mutating func mark(
    behind address: UInt64, aboveLeaf number: Int
  ) throws(StoreError) {
    let version = storedVersion + 1
    var branch = root
    while branch.level > 1 {
      let child = branch.child(ofLeaf: number)
      let next = try loadedChild(child, of: branch)
      if unsafe branch.parts[child].address >= address {
        markPath(toLeaf: number, version)
      }
      branch = next
    }
    for child in unsafe branch.leaves.indices where unsafe branch.parts[child].address >= address {
      let leaf = try loadedLeaf(number + child)
      unsafe leaf.changed = unsafe max(leaf.changed, version)
      markPath(toLeaf: number + child, version)
    }
  }

  // MARK: Copies

  /// A copy that shares nothing with this map.
  package borrowing func copy() -> BlockMap {
    var copy = BlockMap(
      firstBlock: firstBlock, root: FreeMapBranch(copyOf: root), source: source,
      version: storedVersion)
    copy.extend(toBlockCount: blockCount)
    copy.freeBlockCount = freeBlockCount
    copy.unreachedBlockCount = unreachedBlockCount
    copy.leafCount = leafCount
    copy.cursor = cursor
    copy.allocationFloor = allocationFloor
    copy.allocationCeiling = allocationCeiling
    copy.fillsHoles = fillsHoles
    copy.keepsRuns = keepsRuns
    return copy
  }
}
