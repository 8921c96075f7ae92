/// How the elements of a collection changed from one version to a later one, by their positions.
struct ChangeSet: Sendable, Equatable {
  /// The old positions of elements that are gone or elsewhere, ascending.
  var deletions: [Int] = []
  /// The new positions of elements that came or were elsewhere, ascending.
  var insertions: [Int] = []
  /// The old positions of elements that stayed and were modified, ascending.
  var modifications: [Int] = []

  var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }

  /// All of `old` elements gone, and `new` others there.
  static func rewritten(old: Int, new: Int) -> ChangeSet {
    ChangeSet(deletions: Array(0..<old), insertions: Array(0..<new))
  }

  /// The change from `old` to `new` elements, of which those stayed that `kept` pairs, ascending in both
  /// positions; those of them were modified that are among `changed`, old positions that ascend.
  init(old: Int, new: Int, kept: [(old: Range<Int>, new: Range<Int>)], changed: [Int]) {
    var (oldEnd, newEnd) = (0, 0)
    var rest = changed[...]
    for range in kept {
      deletions += oldEnd..<range.old.lowerBound
      insertions += newEnd..<range.new.lowerBound
      (oldEnd, newEnd) = (range.old.upperBound, range.new.upperBound)
      rest = rest.drop { $0 < range.old.lowerBound }
      let modified = rest.prefix { $0 < range.old.upperBound }
      modifications += modified
      rest = rest.dropFirst(modified.count)
    }
    deletions += oldEnd..<old
    insertions += newEnd..<new
  }

  init(deletions: [Int] = [], insertions: [Int] = [], modifications: [Int] = []) {
    self.deletions = deletions
    self.insertions = insertions
    self.modifications = modifications
  }
}

extension ChangeSet {
  /// Compares a collection's elements, given by numbers that are equal for the same element.
  ///
  /// `isReplaced` tells which elements are others in spite of their number, and `isModified` which were
  /// modified. Of elements whose order differs those count as moved that were modified; where that
  /// does not explain the order, the fewest possible.
  init(
    from old: [Int64], to new: [Int64], isReplaced: (Int64) -> Bool = { _ in false },
    isTouched: (Int64) -> Bool = { _ in false }, isModified: (Int64) -> Bool
  ) {
    let shorter = min(old.count, new.count)
    var start = 0
    while start < shorter, old[start] == new[start], !isReplaced(old[start]) { start += 1 }
    var end = 0
    while end < shorter - start, old[old.count - 1 - end] == new[new.count - 1 - end],
      !isReplaced(old[old.count - 1 - end])
    {
      end += 1
    }
    var kept: [(old: Range<Int>, new: Range<Int>)] = []
    if start > 0 { kept.append((0..<start, 0..<start)) }
    let middle = KeptOrder.find(
      old[start..<old.count - end], new[start..<new.count - end], isReplaced: isReplaced,
      isTouched: isTouched)
    for pair in middle { kept.append((pair.old..<pair.old + 1, pair.new..<pair.new + 1)) }
    if end > 0 { kept.append((old.count - end..<old.count, new.count - end..<new.count)) }
    self.init(
      old: old.count, new: new.count, kept: kept,
      changed: old.indices.filter { isModified(old[$0]) })
  }
}

/// Finds which elements kept their order.
enum KeptOrder {
  typealias Pair = (old: Int, new: Int)

  static func find(
    _ old: ArraySlice<Int64>, _ new: ArraySlice<Int64>, isReplaced: (Int64) -> Bool,
    isTouched: (Int64) -> Bool
  ) -> [Pair] {
    if old.isEmpty || new.isEmpty { return [] }
    let pairs = pairs(old, new, isReplaced: isReplaced)
    if isAscending(pairs) { return pairs }
    let still = pairs.filter { !isTouched(old[$0.old]) }
    if isAscending(still) { return completed(still, with: pairs) }
    return longestAscending(pairs)
  }

  /// The elements that are in both, in the old order; of several equal ones the first with the first, and
  /// so on.
  private static func pairs(
    _ old: ArraySlice<Int64>, _ new: ArraySlice<Int64>, isReplaced: (Int64) -> Bool
  ) -> [Pair] {
    var places: [Int64: Int] = [:]
    places.reserveCapacity(new.count)
    // The next place of an equal element, if it occurs again.
    var next: [Int: Int] = [:]
    for place in new.indices.reversed() {
      if let later = places.updateValue(place, forKey: new[place]) { next[place] = later }
    }
    var pairs: [Pair] = []
    for place in old.indices {
      guard let found = places[old[place]], !isReplaced(old[place]) else { continue }
      pairs.append((place, found))
      places[old[place]] = next[found]
    }
    return pairs
  }

  private static func isAscending(_ pairs: [Pair]) -> Bool {
    zip(pairs, pairs.dropFirst()).allSatisfy { $0.new < $1.new }
  }

  /// `still`, which are in order, with those of `pairs` that lie between them in both orders.
  private static func completed(_ still: [Pair], with pairs: [Pair]) -> [Pair] {
    var kept: [Pair] = []
    kept.reserveCapacity(pairs.count)
    var next = 0
    for pair in pairs {
      if next < still.count, still[next].old == pair.old {
        kept.append(pair)
        next += 1
        continue
      }
      let isBehindLast = kept.last.map { $0.new < pair.new } ?? true
      let isBeforeNext = next == still.count || pair.new < still[next].new
      if isBehindLast, isBeforeNext { kept.append(pair) }
    }
    return kept
  }

  /// As many pairs as possible that ascend, by patience sorting.
  ///
  /// Source: C. Schensted, Longest increasing and decreasing subsequences, 1961.
  static func longestAscending(_ pairs: [Pair]) -> [Pair] {
    // The last pair of the best sequence of each length, and for each pair the one before it.
    var ends: [Int] = []
    var before = [Int](repeating: -1, count: pairs.count)
    for (index, pair) in pairs.enumerated() {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if pairs[ends[middle]].new < pair.new { low = middle + 1 } else { high = middle }
      }
      if low > 0 { before[index] = ends[low - 1] }
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var kept: [Pair] = []
    var index = ends.last ?? -1
    while index >= 0 {
      kept.append(pairs[index])
      index = before[index]
    }
    return kept.reversed()
  }
}
