extension ColumnTree {
  /// The keys of all rows, in a tree by position their places, in the order of `terms`; rows that agree
  /// in all of them keep the order of the tree.
  ///
  /// `limit` rows at most, if it is given: a few first rows of many are found without sorting the
  /// others.
  ///
  /// Many rows are sorted by up to four threads at the same time where processors are idle, the
  /// caller's one of them; not those of a running transaction. Takes 32 bytes a row meanwhile, or 48 if
  /// the first term has few values. Throws ``StoreError/exhausted(what:limit:)`` for more than
  /// 2,147,483,647 rows, ``StoreError/system(operation:path:code:)`` when the system refuses the
  /// memory, and ``StoreError/interrupted`` when `interruption` asks for it.
  public func keys(
    sortedBy terms: [SortTerm], limit: Int? = nil, interruption: Interruption? = nil
  ) throws(StoreError) -> [Int64] {
    try keys(sortedBy: terms, limit: limit, partCount: nil, interruption: interruption)
  }

  /// The same in so many parts, each by a thread of its own.
  func keys(
    sortedBy terms: [SortTerm], limit: Int?, partCount: Int?, interruption: Interruption? = nil
  ) throws(StoreError) -> [Int64] {
    guard count <= Int32.max else {
      throw .exhausted(what: "rows to sort", limit: Int(Int32.max))
    }
    let limit = min(limit ?? count, count)
    if limit <= 0 { return [] }
    if limit < count / 8 {
      let count = partCount ?? idlePartCount(worthwhileFor: 400_000)
      let parts = try TreeParts(of: self, count, interruption)
      let plan = try SortPlan(terms, of: self, looksForBounds: false, interruption)
      return try FirstRows.keys(parts, plan, limit: limit)
    }
    let parts = try TreeParts(
      of: self, partCount ?? idlePartCount(worthwhileFor: 50_000), interruption)
    let plan = try SortPlan(terms, of: self, looksForBounds: true, interruption)
    return try RowSorter(parts, plan).keys(limit: limit)
  }
}
