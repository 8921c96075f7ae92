/// The keys that a subtree may hold, as the branches above it say.
///
/// Pointers: a bound's own bytes, during one comparison with a key of a page that the caller keeps.
enum KeySpan: Equatable {
  /// Keys of a ``KeyTree`` from `lower` on, up to, not including, `upper`; nil where nothing bounds them.
  case keys(lower: [UInt8]?, upper: [UInt8]?)
  /// Keys of rows; in a tree by position positions.
  case rows(ClosedRange<Int64>)

  /// All that the tree at `root` may hold.
  init(_ root: TreeRoot) {
    switch root.kind {
    case .key: self = .keys(lower: nil, upper: nil)
    case .column: self = .rows(.min ... .max)
    case .position: self = .rows(0...max(0, Int64(root.count) - 1))
    }
  }

  /// The part of this that child `index` of `branch` may hold.
  func part(_ index: Int, of branch: Page) -> KeySpan {
    switch self {
    case .keys(let lower, let upper):
      let node = KeyNode(branch)
      let separator = { node.key($0, header: KeyNode.branchCellHeader) }
      return .keys(
        lower: index == 0 ? lower : separator(index),
        upper: index + 1 < node.count ? separator(index + 1) : upper)
    case .rows(let keys):
      let branch = ColumnBranch(branch)
      var (lower, upper) = (keys.lowerBound, keys.upperBound)
      if branch.isPositional {
        lower &+= Int64(clamping: branch.rowsBefore(index))
        upper = lower &+ Int64(clamping: branch.rowCount(index)) &- 1
      } else {
        if index > 0 { lower = branch.separator(index) }
        if index + 1 < branch.count, branch.separator(index + 1) > .min {
          upper = branch.separator(index + 1) - 1
        }
      }
      return .rows(lower...max(lower, upper))
    }
  }

  /// Whether the first key of a node lies before this, and whether the last one lies behind it; of a branch
  /// its separators.
  ///
  /// Their own order was checked with the page, so that the first and last tell.
  func excess(of page: Page, _ role: PageRole) -> (before: Bool, behind: Bool) {
    switch self {
    case .keys(let lower, let upper):
      let node = KeyNode(page)
      let header = role.height == 1 ? KeyNode.leafCellHeader : KeyNode.branchCellHeader
      // A branch's first separator is none; the next lies above the lowest key of its first child.
      let (first, least) = role.height == 1 ? (0, 0) : (1, 1)
      guard first < node.count else { return (false, false) }
      return (
        lower.map {
          unsafe $0.withUnsafeBytes { unsafe node.order(first, header: header, $0) < least }
        } ?? false,
        upper.map {
          unsafe $0.withUnsafeBytes { unsafe node.order(node.count - 1, header: header, $0) >= 0 }
        }
          ?? false
      )
    case .rows(let keys):
      if role.height == 1 {
        let leaf = ColumnLeaf(page)
        guard !leaf.isPositional, leaf.rowCount > 0 else { return (false, false) }
        return (
          leaf.key(at: 0) < keys.lowerBound, leaf.key(at: leaf.rowCount - 1) > keys.upperBound
        )
      }
      let branch = ColumnBranch(page)
      guard !branch.isPositional, branch.count > 1 else { return (false, false) }
      return (
        branch.separator(1) <= keys.lowerBound,
        branch.separator(branch.count - 1) > keys.upperBound
      )
    }
  }

  /// Whether `key` is one of them.
  func contains(_ key: [UInt8]) -> Bool {
    guard case .keys(let lower, let upper) = self else { return false }
    if let lower, key.lexicographicallyPrecedes(lower) { return false }
    guard let upper else { return true }
    return key.lexicographicallyPrecedes(upper)
  }
}

extension KeySpan: CustomStringConvertible {
  /// In words, for reports.
  var description: String {
    switch self {
    case .keys(nil, nil): "all"
    case .keys(let lower?, nil): "from \(Salvage.describe(lower)) on"
    case .keys(nil, let upper?): "up to, not including, \(Salvage.describe(upper))"
    case .keys(let lower?, let upper?):
      "from \(Salvage.describe(lower)) up to, not including, \(Salvage.describe(upper))"
    case .rows(let keys):
      switch (keys.lowerBound, keys.upperBound) {
      case (.min, .max): "all"
      case (.min, let upper): "up to \(upper)"
      case (let lower, .max): "from \(lower) on"
      case (let lower, let upper): lower == upper ? "\(lower)" : "\(lower) to \(upper)"
      }
    }
  }
}
