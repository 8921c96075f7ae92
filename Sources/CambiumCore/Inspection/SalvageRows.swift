/// Which rows of a table can be read whole, and which cannot.
struct SalvageRows {
  /// The trees of the column groups.
  let trees: [ColumnTree]
  /// What cannot be read, by group.
  private var lost: [[(rows: TreePart, damage: Damage)]] = []
  /// The rows in leaves that can be read of which a value cannot, in the order they were found.
  private var unreadable: [(key: Int64, damage: Damage)] = []
  private var unreadableKeys: Set<Int64> = []
  /// The keys that every group has; nil when there is one group only.
  private var common: [Int64]?
  /// The greatest key that was found.
  private(set) var lastKey: Int64?

  /// Reads all of `trees`, the column groups of one table; throws only what says nothing about their
  /// bytes.
  init(_ trees: [ColumnTree]) throws(StoreError) {
    self.trees = trees
    for tree in trees {
      var keys: [Int64] = []
      var lost: [(TreePart, Damage)] = []
      try TreeWalk(tree.root, tree.source).salvage(
        { page throws(StoreError) in
          let leaf = ColumnLeaf(page)
          if trees.count > 1 { for row in 0..<leaf.rowCount { keys.append(leaf.key(at: row)) } }
          if leaf.rowCount > 0 {
            lastKey = max(lastKey ?? .min, leaf.key(at: leaf.rowCount - 1))
          }
          for (row, damage) in try leaf.unreadableRows(in: tree.source) {
            let key = leaf.key(at: row)
            if unreadableKeys.insert(key).inserted { unreadable.append((key, damage)) }
          }
        }, lost: { lost.append(($0, $1)) })
      if trees.count > 1 {
        keys.sort()
        common = common.map { Self.intersection($0, keys) } ?? keys
      }
      self.lost.append(lost)
    }
  }

  private static func intersection(_ left: [Int64], _ right: [Int64]) -> [Int64] {
    var both: [Int64] = []
    var index = 0
    for key in left {
      while index < right.count, right[index] < key { index += 1 }
      if index < right.count, right[index] == key { both.append(key) }
    }
    return both
  }

  /// Whether the row with that key can be read whole.
  func isKept(_ key: Int64) -> Bool {
    if unreadableKeys.contains(key) { return false }
    guard let common else { return true }
    var low = 0
    var high = common.count
    while low < high {
      let middle = (low + high) / 2
      if common[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low < common.count && common[low] == key
  }

  /// Whether `part` is what was lost as number `index` of a group.
  func isKnownAsLost(_ part: TreePart, _ index: Int, group: Int) -> Bool {
    lost[group].indices.contains(index) && lost[group][index].rows == part
  }

  /// What is lost of the table `name`.
  func losses(_ name: String) -> [SalvageReport.Loss] {
    lost.joined().map { rows, damage in
      SalvageReport.Loss(
        name: name, keys: "\(rows.keys)", rowCount: rows.count, reason: "\(damage)")
    }
      + unreadable.map { key, damage in
        SalvageReport.Loss(name: name, keys: "\(key)", rowCount: 1, reason: "\(damage)")
      }
  }
}

extension ColumnLeaf {
  /// The rows with a value outside of the leaf that cannot be read, ascending.
  func unreadableRows(in source: PageSource) throws(StoreError) -> [(row: Int, damage: Damage)] {
    var unreadable: [Int: Damage] = [:]
    try page.forEachLink(as: .column(height: 1)) { link throws(StoreError) in
      guard case .value(let value) = link.target, unreadable[link.index] == nil else { return }
      do throws(StoreError) {
        try unsafe value.forEachChunk(in: source) { _ throws(StoreError) in }
      } catch {
        guard let damage = error.damage(at: value.reference) else { throw error }
        unreadable[link.index] = damage
      }
    }
    return unreadable.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
