import CPlatform

/// Scans over one column of a whole tree, without a cursor: a step to the next leaf costs less than
/// the values in it.
///
/// Large trees are scanned by several threads at the same time where processors are idle.
extension ColumnTree {
  /// How many integers of column `spec` lie in `range`; nulls do not.
  public func countInts(
    of spec: ColumnSpec, in range: ClosedRange<Int64>, interruption: Interruption? = nil
  ) throws(StoreError) -> Int {
    precondition(spec.type == .int, "Only a column of integers has integers to count.")
    return try countInts(
      of: spec, in: range, partCount: idlePartCount(worthwhileFor: 8_000_000),
      interruption: interruption)
  }

  /// The same in so many parts, each by a thread of its own.
  func countInts(
    of spec: ColumnSpec, in range: ClosedRange<Int64>, partCount: Int,
    interruption: Interruption? = nil
  ) throws(StoreError) -> Int {
    let isDefaultCounted = !spec.isNullable && range.contains(0)
    let subtrees = try ScannedSubtrees(self)
    let counts = try unsafe subtrees.map(0, partCount) { subtrees, counts throws(StoreError) in
      var scan = ColumnScan(source, interruption, column: spec.id, of: subtrees)
      var total = 0
      for subtree in subtrees {
        try scan.run(subtree) { leaf in
          if let count = leaf.countBytes(in: range) {
            total &+= count
          } else if let column = leaf.column, column.type == .int {
            total &+= column.countInts(in: range)
          } else if isDefaultCounted {
            total &+= leaf.rowCount
          }
        }
      }
      unsafe counts[0] = total
    }
    return counts.reduce(0, &+)
  }

  /// How many values of column `spec` equal `needle`; nulls and trees do not.
  public func countBytes(
    of spec: ColumnSpec, equalTo needle: UnsafeRawBufferPointer, interruption: Interruption? = nil
  ) throws(StoreError) -> Int {
    precondition(spec.type == .bytes, "Only a column of bytes has bytes to count.")
    return try unsafe countBytes(
      of: spec, equalTo: needle, partCount: idlePartCount(worthwhileFor: 200_000),
      interruption: interruption)
  }

  /// The same in so many parts, each by a thread of its own.
  func countBytes(
    of spec: ColumnSpec, equalTo needle: UnsafeRawBufferPointer, partCount: Int,
    interruption: Interruption? = nil
  ) throws(StoreError) -> Int {
    let isDefaultCounted = unsafe !spec.isNullable && needle.isEmpty
    let subtrees = try ScannedSubtrees(self)
    let counts = try unsafe subtrees.map(0, partCount) { subtrees, counts throws(StoreError) in
      var count = unsafe EqualCount(needle)
      var total = 0
      var failure: StoreError?
      // Lengths, and where the values of the right length lie, come first.
      var scan = ColumnScan(
        source, interruption, column: spec.id, of: subtrees, hintByteCount: 512)
      for subtree in subtrees {
        try scan.run(subtree) { leaf in
          guard let column = leaf.column, column.type == .bytes else {
            if isDefaultCounted { total &+= leaf.rowCount }
            return
          }
          if count.add(column) { return }
          do throws(StoreError) {
            unsafe total &+= try column.countBytes(equalTo: needle, source: source)
          } catch {
            failure = error
          }
        }
      }
      if let failure { throw failure }
      unsafe counts[0] = total &+ count.finish()
    }
    return counts.reduce(0, &+)
  }

  /// The sum of the doubles or floats of column `spec` that are not null.
  ///
  /// The order in which they are added is unspecified, and with it the last bits of the result; it is the
  /// same whenever the same version is read.
  public func sumDoubles(
    of spec: ColumnSpec, interruption: Interruption? = nil
  ) throws(StoreError) -> Double {
    precondition(
      spec.type == .double || spec.type == .float, "Only floating point is summed as doubles.")
    return try sumDoubles(
      of: spec, partCount: idlePartCount(worthwhileFor: 500_000), interruption: interruption)
  }

  /// The same in so many parts, each by a thread of its own.
  func sumDoubles(
    of spec: ColumnSpec, partCount: Int, interruption: Interruption? = nil
  ) throws(StoreError) -> Double {
    let subtrees = try ScannedSubtrees(self)
    // One for each subtree, however many threads there are: the last bits are those of one thread.
    let sums = try unsafe subtrees.map(0.0, partCount) { subtrees, sums throws(StoreError) in
      var scan = ColumnScan(source, interruption, column: spec.id, of: subtrees)
      for (index, subtree) in subtrees.enumerated() {
        var total = 0.0
        try scan.run(subtree) { leaf in
          if let sum = leaf.sumDoubles() {
            total += sum
          } else if let column = leaf.column, column.type == spec.type {
            unsafe total += column.sumDoubles()
          }
        }
        unsafe sums[index] = total
      }
    }
    return sums.reduce(0, +)
  }

  /// Into how many parts the work on all rows is cut if threads pay from `rows` on.
  func idlePartCount(worthwhileFor rows: Int) -> Int {
    // Pages of a running transaction have one user.
    count < rows || source.dirty != nil ? 1 : ParallelParts.idleCount
  }
}
