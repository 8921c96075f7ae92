/// How the values that rows are sorted by are packed into the prefixes of items.
///
/// One term's bits follow those of another, most significant first, as long as there is room. What
/// does not fit is compared where it lies.
///
/// Pointers: items and scratch are the caller's and have room for all rows of the leaf that is read,
/// which he keeps for the call.
struct SortPlan {
  /// A term's share of the prefix.
  struct Part {
    var term: SortTerm
    /// What is subtracted from an integer.
    var base: Int64 = 0
    /// The bits that the value takes, one that tells nulls apart included; 128 for values that
    /// may be longer.
    var width: Int
    /// The bits of the prefix before it.
    var offset: Int
    /// Whether prefixes that agree say that the values are the same.
    var isExact: Bool
    /// How many bytes at the beginning of every value are left out, because all share them.
    var skip = 0
  }

  /// The terms that have a share.
  let parts: ArraySlice<Part>
  /// All terms.
  let terms: [SortTerm]
  /// How many of the first terms need no look when prefixes agree.
  let exactCount: Int
  /// Asks whoever sorts to give up.
  let interruption: Interruption?
  static let prefixWidth = 96

  /// Plans prefixes for the rows of `tree`; without bounds, which take a look at all leaves, integers
  /// take more bits than they need.
  init(
    _ terms: [SortTerm], of tree: ColumnTree, looksForBounds: Bool,
    _ interruption: Interruption? = nil
  ) throws(StoreError) {
    self.terms = terms
    self.interruption = interruption
    var parts: [Part] = []
    var offset = 0
    var isExact = true
    for term in terms where isExact && offset < Self.prefixWidth {
      var part = Part(term: term, width: 128, offset: offset, isExact: false)
      let nullBit = term.column.isNullable ? 1 : 0
      switch term.column.type {
      case .int:
        let bounds =
          looksForBounds
          ? try Self.bounds(of: term.column, in: tree, interruption) : .min ... .max
        part.base = bounds.lowerBound
        let span = UInt64(bitPattern: bounds.upperBound &- bounds.lowerBound)
        part.width = 64 - span.leadingZeroBitCount + nullBit
      case .bool: part.width = 1 + nullBit
      case .float, .double: part.width = 64 + nullBit
      case .bytes: part.skip = try SharedPrefix.count(of: term.column, in: tree, interruption)
      case .wide: break
      }
      part.isExact = part.width < 128 && offset + part.width <= Self.prefixWidth
      isExact = part.isExact
      offset += part.width
      parts.append(part)
    }
    self.parts = parts[...]
    exactCount = parts.count { $0.isExact }
  }

  /// Whether prefixes tell all.
  var isExact: Bool { exactCount == terms.count }

  /// The terms that need a look where prefixes agree.
  var openTerms: ArraySlice<SortTerm> { terms.dropFirst(exactCount) }

  /// The column of the first term that prefixes do not tell all of, if it is one of bytes.
  var textColumn: UInt16? {
    let open = openTerms.first
    return open?.column.type == .bytes ? open?.column.id : nil
  }

  /// How many bytes of the values of that column all share.
  var textSkip: Int { parts.count > exactCount ? parts[exactCount].skip : 0 }

  /// Bounds of all integers of a column, as narrow as the directories of leaves tell.
  private static func bounds(
    of column: ColumnSpec, in tree: ColumnTree, _ interruption: Interruption?
  ) throws(StoreError) -> ClosedRange<Int64> {
    var (low, high): (Int64, Int64) = (.max, .min)
    var cursor = tree.leafCursor()
    var isValid = try cursor.first()
    while isValid {
      try interruption?.check()
      let bounds = cursor.leaf.column(column.id).map { $0.type == .int ? $0.integerBounds : 0...0 }
      low = min(low, bounds?.lowerBound ?? 0)
      high = max(high, bounds?.upperBound ?? 0)
      isValid = try cursor.next()
    }
    return low <= high ? low...high : 0...0
  }
}
