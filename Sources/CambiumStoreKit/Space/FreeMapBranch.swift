import CambiumCore

/// Sixteen parts of the free map.
///
/// Exclusivity is not checked, as in leaves.
final class FreeMapBranch {
  static let childCount = 16
  static let shift = 4

  /// Level 1 leads to leaves.
  let level: Int
  /// The children as they are stored.
  @exclusivity(unchecked) var parts: [FreeMapPart]
  /// No longer run of free blocks begins in the leaves of each child.
  ///
  /// A bound may be too high, which costs time; it is never too low, which would lose room. It falls when a search has looked at the whole child
  /// in vain, and rises when blocks become free.
  @exclusivity(unchecked) var bounds: [Int]
  /// The children that are in memory; one of the two lists is empty.
  @exclusivity(unchecked) var branches: [FreeMapBranch?]
  @exclusivity(unchecked) var leaves: [FreeMapLeaf?]
  /// As of a leaf.
  @exclusivity(unchecked) var changed: Version = 0
  /// Whether it has no page of its own yet, because it was the top when the map was stored.
  @exclusivity(unchecked) var isUnstored = false

  init(level: Int, parts: [FreeMapPart]) {
    self.level = level
    unsafe self.parts = parts
    unsafe bounds = parts.map(\.longest)
    unsafe branches = [FreeMapBranch?](repeating: nil, count: level > 1 ? Self.childCount : 0)
    unsafe leaves = [FreeMapLeaf?](repeating: nil, count: level > 1 ? 0 : Self.childCount)
  }

  /// A branch in whose part nothing is in use.
  convenience init(emptyAtLevel level: Int) {
    self.init(level: level, parts: [FreeMapPart](repeating: .empty, count: Self.childCount))
  }

  init(copyOf other: FreeMapBranch) {
    level = other.level
    unsafe parts = unsafe other.parts
    unsafe bounds = unsafe other.bounds
    unsafe branches = unsafe other.branches.map { $0.map(FreeMapBranch.init(copyOf:)) }
    unsafe leaves = unsafe other.leaves.map { $0.map(FreeMapLeaf.init(copyOf:)) }
    unsafe changed = unsafe other.changed
    unsafe isUnstored = unsafe other.isUnstored
  }

  /// Which child leads to the leaf of that number.
  @inline(__always) func child(ofLeaf number: Int) -> Int {
    number >> (Self.shift * (level - 1)) & (Self.childCount - 1)
  }

  /// How many leaves a child has.
  var leavesPerChild: Int { 1 << (Self.shift * (level - 1)) }
  /// How many leaves this branch leads to.
  static func leafCount(level: Int) -> Int { 1 << (shift * level) }

  /// No longer run of free blocks begins here.
  var bound: Int { unsafe bounds.max() ?? 0 }
}
