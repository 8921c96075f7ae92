import CambiumCore

/// How the elements of a list came to be those of a later version: which stayed, in their order, and
/// what lies between them now.
///
/// A list of runs, so that an edit costs as much as there were edits before, whatever the length of the
/// list. Beyond ``largestRunCount`` runs the edits are not known any more (``isLost``).
struct PositionalEdits: Sendable, Equatable {
  private enum Run: Equatable {
    /// Elements that were there before, by their old positions; up to `Int.max` means all the rest.
    case kept(Range<Int>)
    /// So many new elements.
    case new(Int)

    var count: Int {
      switch self {
      case .kept(let range): range.count
      case .new(let count): count
      }
    }
  }

  private var runs: [Run] = [.kept(0..<Int.max)]
  /// The old positions of elements that were assigned, also of some that were removed since.
  private(set) var assigned: Set<Int> = []
  /// Whether every element counts as deleted and inserted again.
  private(set) var isRewritten = false
  /// Whether there were too many edits: the elements of both versions have to be compared.
  private(set) var isLost = false
  /// No more runs are told apart.
  static let largestRunCount = 4096
  /// No more assignments are told apart.
  static let largestAssignedCount = TouchedRows.largestCount

  /// Whether all elements are where they were, and none was assigned.
  var isEmpty: Bool {
    !isRewritten && !isLost && assigned.isEmpty && runs == [.kept(0..<Int.max)]
  }

  /// Whether what happens further adds nothing.
  private var isOver: Bool { isRewritten || isLost }

  /// Notes that `count` elements were put in before `position`.
  mutating func insert(_ count: Int, at position: Int) {
    if isOver || count == 0 { return }
    let place = split(at: position)
    if place > 0, case .new(let before) = runs[place - 1] {
      runs[place - 1] = .new(before + count)
    } else {
      runs.insert(.new(count), at: place)
      limit()
    }
  }

  /// Notes that elements were taken out.
  mutating func remove(_ range: Range<Int>) {
    if isOver || range.isEmpty { return }
    let first = split(at: range.lowerBound)
    runs.removeSubrange(first..<split(at: range.upperBound))
    limit()
  }

  /// Notes that an element was taken out and put in where it has that position then.
  mutating func move(_ position: Int, to target: Int) {
    remove(position..<position + 1)
    insert(1, at: target)
  }

  /// Notes that an element was assigned, to an equal value or another.
  mutating func assign(_ position: Int) {
    if isOver { return }
    if let old = oldPosition(of: position) { assigned.insert(old) }
    limit()
  }

  /// Notes that everything was replaced.
  mutating func rewrite() {
    (runs, assigned, isRewritten, isLost) = ([], [], true, false)
  }

  private mutating func lose() { (runs, assigned, isLost) = ([], [], true) }

  /// Adds edits of the version after these.
  mutating func append(_ later: PositionalEdits) {
    if isRewritten { return }
    if later.isRewritten { return rewrite() }
    if isLost || later.isLost { return lose() }
    for position in later.assigned {
      if let old = oldPosition(of: position) { assigned.insert(old) }
    }
    var result: [Run] = []
    for run in later.runs {
      switch run {
      case .new: result.append(run)
      case .kept(let range): appendRuns(of: range, to: &result)
      }
    }
    runs = result
    limit()
  }

  /// The elements that stayed, by their old and new positions, ascending.
  ///
  /// Calls `visit` with ranges of the same length.
  func forEachKept(oldCount: Int, _ visit: (_ old: Range<Int>, _ new: Range<Int>) -> Void) {
    var position = 0
    for run in runs {
      switch run {
      case .new(let count): position += count
      case .kept(let range):
        let old = range.clamped(to: 0..<oldCount)
        if !old.isEmpty { visit(old, position..<position + old.count) }
        position += old.count
      }
    }
  }

  // MARK: Parts

  /// Sees to it that a run begins at `position`; its place among the runs.
  private mutating func split(at position: Int) -> Int {
    var start = 0
    for (place, run) in runs.enumerated() {
      if start == position { return place }
      let count = run.count
      if position - start < count {
        let offset = position - start
        switch run {
        case .kept(let range):
          let middle = range.lowerBound + offset
          runs[place] = .kept(range.lowerBound..<middle)
          runs.insert(.kept(middle..<range.upperBound), at: place + 1)
        case .new(let count):
          runs[place] = .new(offset)
          runs.insert(.new(count - offset), at: place + 1)
        }
        return place + 1
      }
      start += count
    }
    return runs.count
  }

  private func oldPosition(of position: Int) -> Int? {
    var start = 0
    for run in runs {
      let count = run.count
      if position - start < count {
        guard case .kept(let range) = run else { return nil }
        return range.lowerBound + (position - start)
      }
      start += count
    }
    return nil
  }

  /// Appends the parts of the runs that lie at `range`.
  private func appendRuns(of range: Range<Int>, to result: inout [Run]) {
    var start = 0
    for (place, run) in runs.enumerated() {
      let isLast = place == runs.count - 1
      let count = run.count
      // The last run of kept elements has no end.
      let end = isLast ? Int.max : start + count
      let lower = max(range.lowerBound, start)
      let upper = min(range.upperBound, end)
      if lower < upper {
        switch run {
        case .kept(let kept):
          let first = kept.lowerBound + (lower - start)
          let last = upper == Int.max ? kept.upperBound : first + (upper - lower)
          result.append(.kept(first..<last))
        case .new: result.append(.new(min(upper - lower, count - (lower - start))))
        }
      }
      if isLast { return }
      start += count
    }
  }

  private mutating func limit() {
    if runs.count > Self.largestRunCount || assigned.count > Self.largestAssignedCount { lose() }
  }
}

// MARK: - Stored form

extension PositionalEdits {
  /// Appends the stored form: how many runs there are and one more, the runs, and what was assigned.
  ///
  /// Each run as where it begins in the old list and how long it is, or as 0 and how many new elements there
  /// are. Instead of all that 0 and 0 where the list was rewritten, 0 and 1 where the edits are not known.
  func put(to bytes: inout [UInt8]) {
    if isOver {
      bytes.putNumber(0)
      return bytes.putNumber(isLost ? 1 : 0)
    }
    bytes.putNumber(UInt64(runs.count + 1))
    for run in runs {
      switch run {
      case .new(let count):
        bytes.putNumber(0)
        bytes.putNumber(UInt64(count))
      case .kept(let range):
        bytes.putNumber(UInt64(range.lowerBound) + 1)
        // All the rest is none.
        bytes.putNumber(range.upperBound == .max ? 0 : UInt64(range.count))
      }
    }
    bytes.putNumber(UInt64(assigned.count))
    for position in assigned.sorted() { bytes.putNumber(UInt64(position)) }
  }

  /// Reads the stored form; nil for what no edits lead to.
  init?(from reader: inout ByteReader) {
    guard let runCount = reader.number(), runCount <= UInt64(Self.largestRunCount) + 1 else {
      return nil
    }
    runs = []
    if runCount == 0 {
      guard let form = reader.number(), form < 2 else { return nil }
      isLost = form == 1
      isRewritten = form == 0
      return
    }
    var end = 0
    for _ in 1..<runCount {
      guard let start = reader.number(), let count = reader.number(), start < 1 << 40,
        count < 1 << 40
      else { return nil }
      if start == 0 {
        guard count > 0 else { return nil }
        runs.append(.new(Int(count)))
      } else {
        let lower = Int(start) - 1
        guard lower >= end else { return nil }
        end = count == 0 ? .max : lower + Int(count)
        runs.append(.kept(lower..<end))
      }
    }
    guard let assignedCount = reader.number(),
      assignedCount <= UInt64(Self.largestAssignedCount)
    else { return nil }
    for _ in 0..<assignedCount {
      guard let position = reader.number().flatMap({ Int(exactly: $0) }) else { return nil }
      assigned.insert(position)
    }
  }

  /// Whether these edits make of a list of `old` elements one of `new`.
  func leads(from old: Int, to new: Int) -> Bool {
    if isRewritten { return true }
    var count = 0
    for run in runs {
      switch run {
      case .new(let more): count += more
      case .kept(let range): count += range.clamped(to: 0..<old).count
      }
    }
    return count == new
  }
}
