/// Brings rows into order that the prefixes of their items do not tell apart.
///
/// A few are compared where they lie. Of many the values are read into prefixes again, from where the
/// last ones ended on.
final class RowComparison {
  private let terms: [SortTerm]
  /// The first term of which prefixes do not tell all.
  private let firstOpenTerm: Int
  private let source: PageSource
  /// The leaves whose rows are compared.
  private let leaves: LeafList
  /// Where items with the same prefix begin, and how many there are.
  // Exclusivity is not checked: one user, and no access calls out.
  @exclusivity(unchecked) private final var groups = GrowingMemory<Group>()
  /// Whether the first open term is one of bytes, whose texts the leaves know.
  private let comparesTexts: Bool
  /// How many bytes of these all share.
  private let textSkip: Int
  private let sorter = ItemSorter()
  private let interruption: Interruption?

  private struct Group: BitwiseCopyable {
    var start: Int32
    var count: Int32
  }

  /// Fewer rows are compared with each other.
  private static let comparedLimit = 32
  /// From so many bytes on texts are compared as wholes.
  private static let prefixLimit = 1024
  /// How many bytes of a text go into a prefix, with one that tells how many there are.
  private static let textStride = 11
  /// How many groups ahead of its use a text is asked for, and twice as far what tells where it lies.
  private static let distance = 8

  /// Compares rows of `leaves`, which it only reads: others may do so at the same time.
  init(_ plan: SortPlan, _ leaves: LeafList, _ source: PageSource) {
    terms = plan.terms
    firstOpenTerm = plan.exactCount
    self.leaves = leaves
    self.source = source
    comparesTexts = plan.textColumn != nil
    textSkip = plan.textSkip
    interruption = plan.interruption
  }

  // MARK: Ties

  /// Brings items with the same prefix, which stand together, into order.
  func sortTies(_ items: UnsafeMutablePointer<SortItem>, _ count: Int) throws(StoreError) {
    if firstOpenTerm == terms.count { return }
    unsafe groups.removeAll()
    var start = 0
    while start &+ 1 < count {
      var end = start &+ 1
      while end < count, unsafe items[end].isTied(with: items[start]) { end &+= 1 }
      if end &- start > 1 {
        unsafe groups.append(
          Group(
            start: Int32(truncatingIfNeeded: start),
            count: Int32(truncatingIfNeeded: end &- start)))
      }
      start = end
    }
    for index in unsafe 0..<groups.count {
      if index % 64 == 0 { try interruption?.check() }
      unsafe prefetch(items, index &+ Self.distance)
      let (first, count) = unsafe (items + Int(groups[index].start), Int(groups[index].count))
      let prefix = unsafe first[0]
      try unsafe sort(first, count, term: firstOpenTerm, depth: textSkip)
      // Sorting by more has put other prefixes there.
      for item in 0..<count {
        unsafe first[item] = unsafe SortItem(
          high: prefix.high,
          low: prefix.low & 0xffff_ffff_0000_0000 | first[item].low & 0xffff_ffff)
      }
    }
  }

  /// Hints at the texts of a group, and at what tells where those of a later one lie.
  @inline(__always) private func prefetch(
    _ items: UnsafeMutablePointer<SortItem>, _ index: Int
  ) {
    guard comparesTexts, unsafe index &+ Self.distance < groups.count else { return }
    unsafe forFirst(items, groups[index]) { texts, row in texts.prefetch(row) }
    unsafe forFirst(items, groups[index &+ Self.distance]) { texts, row in texts.prefetchPlace(row)
    }
  }

  /// Calls `body` with the texts and the row of the first items of a group.
  @inline(__always) private func forFirst(
    _ items: UnsafeMutablePointer<SortItem>, _ group: Group,
    _ body: (PlainTexts, Int) -> Void
  ) {
    for index in 0..<min(4, Int(group.count)) {
      let (leaf, row) = unsafe leaves.find(items[Int(group.start) &+ index].place)
      if unsafe leaves.texts[leaf].isPlain { unsafe body(leaves.texts[leaf], row) }
    }
  }

  /// Brings items with one prefix into order.
  private func sort(
    _ items: UnsafeMutablePointer<SortItem>, _ count: Int, term: Int, depth: Int
  ) throws(StoreError) {
    if count > Self.comparedLimit, depth < Self.prefixLimit {
      return try unsafe sortByPrefixes(items, count, term: term, depth: depth)
    }
    if count <= Self.comparedLimit {
      for end in 1..<count {
        let item = unsafe items[end]
        var place = end
        while place > 0, try unsafe precedes(item, items[place &- 1], term) {
          unsafe items[place] = unsafe items[place &- 1]
          place &-= 1
        }
        unsafe items[place] = item
      }
      return
    }
    var failure: StoreError?
    var group = unsafe UnsafeMutableBufferPointer(start: items, count: count)
    unsafe group.sort { left, right in
      if failure != nil { return false }
      do throws(StoreError) {
        return try precedes(left, right, term)
      } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
  }

  /// Reads the values of a term, from a byte on, into the prefixes, and sorts by them.
  private func sortByPrefixes(
    _ items: UnsafeMutablePointer<SortItem>, _ count: Int, term: Int, depth: Int
  ) throws(StoreError) {
    let isText = terms[term].column.type == .bytes || terms[term].column.type == .wide
    for index in 0..<count {
      if index % 64 == 0 { try interruption?.check() }
      unsafe items[index] = try unsafe item(items[index].place, terms[term], depth: depth)
    }
    unsafe sorter.sort(items, count)
    var start = 0
    while start < count {
      var end = start &+ 1
      while end < count, unsafe items[end].isTied(with: items[start]) { end &+= 1 }
      if end &- start > 1 {
        var marker = unsafe UInt8(truncatingIfNeeded: items[start].low &>> 32)
        if !terms[term].isAscending { marker = ~marker }
        if isText, marker > Self.textStride + 1 {
          try unsafe sort(items + start, end &- start, term: term, depth: depth + Self.textStride)
        } else if term + 1 < terms.count {
          try unsafe sort(items + start, end &- start, term: term + 1, depth: 0)
        }
      }
      start = end
    }
  }

  /// The item of a row by one term: of bytes as many as fit from `depth` on, and how many there are and
  /// one, or two more than fit; zeros for null.
  private func item(_ place: Int, _ term: SortTerm, depth: Int) throws(StoreError) -> SortItem {
    let (leaf, row) = leaves.find(place)
    let column = leaves[leaf].column(term.column)
    var word: SortWord
    switch term.column.type {
    case .bytes:
      // No more is asked for than the first chunk of a value has.
      word = try unsafe withText(column, row, term.column, isWhole: false) {
        text throws(StoreError) in
        guard let text = unsafe text else { return SortWord(0, 0) }
        let rest = unsafe UnsafeRawBufferPointer(rebasing: text.dropFirst(depth))
        return unsafe Self.marked(SortWord(rest), rest.count)
      }
    case .wide:
      let (low, high) = column?.wide(row) ?? (0, 0)
      let isNull = !Self.isValue(column, row, term.column)
      word =
        isNull
        ? SortWord(0, 0)
        : depth == 0
          ? Self.marked(SortWord(high, low), 16)
          : Self.marked(SortWord(low << UInt64((Self.textStride - 8) * 8), 0), 5)
    default:
      let value = Self.number(column, row, term.column)
      word = value.map { SortWord(1 &<< 63 | $0 &>> 1, $0 &<< 63) } ?? SortWord(0, 0)
    }
    if !term.isAscending { word = SortWord(~word.first, ~word.second) }
    return SortItem(
      high: word.first, low: word.second & 0xffff_ffff_0000_0000 | UInt64(place))
  }

  private static func marked(_ word: SortWord, _ count: Int) -> SortWord {
    let marker = UInt64(min(count, textStride + 1) + 1)
    return SortWord(word.first, word.second & 0xffff_ff00_0000_0000 | marker &<< 32)
  }

  // MARK: Comparing

  /// Whether an item sorts before another one with the same prefix.
  func precedes(_ left: SortItem, _ right: SortItem) throws(StoreError) -> Bool {
    try precedes(left, right, firstOpenTerm)
  }

  /// Whether a row sorts before another one by the terms from `first` on, and by their places.
  private func precedes(
    _ left: SortItem, _ right: SortItem, _ first: Int
  ) throws(StoreError) -> Bool {
    let (leftLeaf, leftRow) = leaves.find(left.place)
    let (rightLeaf, rightRow) = leaves.find(right.place)
    var index = first
    if index == firstOpenTerm, comparesTexts, unsafe leaves.texts[leftLeaf].isPlain,
      unsafe leaves.texts[rightLeaf].isPlain
    {
      let order = unsafe ByteComparison.order(
        leaves.texts[leftLeaf].text(leftRow), leaves.texts[rightLeaf].text(rightRow))
      if order != 0 { return terms[index].isAscending ? order < 0 : order > 0 }
      index &+= 1
    }
    while index < terms.count {
      let term = terms[index]
      let order = try order(
        leaves[leftLeaf].column(term.column), leftRow, leaves[rightLeaf].column(term.column),
        rightRow, term.column)
      if order != 0 { return term.isAscending ? order < 0 : order > 0 }
      index &+= 1
    }
    return left.place < right.place
  }

  private func order(
    _ left: LeafColumn?, _ leftRow: Int, _ right: LeafColumn?, _ rightRow: Int,
    _ spec: ColumnSpec
  ) throws(StoreError) -> Int {
    switch spec.type {
    case .bytes:
      return try unsafe withText(left, leftRow, spec) { one throws(StoreError) in
        try unsafe withText(right, rightRow, spec) { other throws(StoreError) in
          guard let one = unsafe one, let other = unsafe other else {
            return unsafe (one == nil ? 0 : 1) - (other == nil ? 0 : 1)
          }
          return unsafe ByteComparison.order(one, other)
        }
      }
    case .wide:
      let isValue = (Self.isValue(left, leftRow, spec), Self.isValue(right, rightRow, spec))
      guard isValue.0, isValue.1 else {
        return (isValue.0 ? 1 : 0) - (isValue.1 ? 1 : 0)
      }
      let one = left?.wide(leftRow) ?? (low: 0, high: 0)
      let other = right?.wide(rightRow) ?? (low: 0, high: 0)
      let order = Self.order(one.high, other.high)
      return order == 0 ? Self.order(one.low, other.low) : order
    default:
      let one = Self.number(left, leftRow, spec)
      let other = Self.number(right, rightRow, spec)
      guard let one, let other else { return (one == nil ? 0 : 1) - (other == nil ? 0 : 1) }
      return Self.order(one, other)
    }
  }

  private static func isValue(_ column: LeafColumn?, _ row: Int, _ spec: ColumnSpec) -> Bool {
    column.map { !$0.isNull(row) } ?? !spec.isNullable
  }

  private static func order(_ left: UInt64, _ right: UInt64) -> Int {
    left < right ? -1 : left == right ? 0 : 1
  }

  /// A value of 64 bits or less as a number that sorts as it does; nil for null.
  private static func number(_ column: LeafColumn?, _ row: Int, _ spec: ColumnSpec) -> UInt64? {
    guard isValue(column, row, spec) else { return nil }
    switch spec.type {
    case .int: return UInt64(bitPattern: column?.int(row) ?? 0) ^ 1 << 63
    case .bool: return column?.bool(row) == true ? 1 : 0
    case .float: return SortWord.order(Double(column?.float(row) ?? 0))
    case .double: return SortWord.order(column?.double(row) ?? 0)
    case .wide, .bytes: return nil
    }
  }

  /// Calls `body` with the bytes of a cell, or with the first chunk of a value in pages of its own; nil for null and
  /// trees.
  @inline(__always) private func withText<Result>(
    _ column: LeafColumn?, _ row: Int, _ spec: ColumnSpec, isWhole: Bool = true,
    _ body: (UnsafeRawBufferPointer?) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    guard let column, let parts = column.bytesColumn else {
      return try unsafe body(spec.isNullable ? nil : UnsafeRawBufferPointer(start: nil, count: 0))
    }
    let cell = parts.cell(row)
    switch cell.form {
    case .null, .tree: return try body(nil)
    case .inline:
      if let contiguous = unsafe cell.contiguous { return try unsafe body(contiguous) }
      return try unsafe cell.array.withBytes { text throws(StoreError) in try unsafe body(text) }
    case .overflow:
      if let value = cell.overflow, !isWhole || value.byteCount <= OverflowValue.chunkByteCount {
        return try unsafe value.withFirstChunk(in: source, body)
      }
      let bytes = try cell.overflow?.read(from: source) ?? []
      return try unsafe bytes.withBytes { text throws(StoreError) in try unsafe body(text) }
    }
  }
}
