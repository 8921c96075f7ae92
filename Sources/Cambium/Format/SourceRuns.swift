/// The sources of links, ascending, each with the number of its links.
///
/// Stored delta-coded, as variable-length integers (LEB128). After the first source come the differences
/// from one to the next; a difference of 0 says that the source before it has as many further links as the
/// number behind it says.
///
/// Pointers: the caller lends the stored bytes, which are read one by one up to their end.
package struct SourceRuns: Hashable {
  package struct Run: Hashable {
    package var source: Int64
    package var count: Int
  }

  package private(set) var runs: [Run] = []

  package init() {}

  /// Sources in ascending order, once for each link.
  package init(sources: some Sequence<Int64>) {
    for source in sources { append(source, 1) }
  }

  /// The number of links.
  package var linkCount: Int { runs.reduce(0) { $0 + $1.count } }

  mutating func append(_ source: Int64, _ count: Int) {
    if let last = runs.last, last.source == source {
      runs[runs.count - 1].count += count
    } else {
      runs.append(Run(source: source, count: count))
    }
  }

  /// Adds others, which are in order.
  package mutating func add(_ others: ArraySlice<Int64>) {
    var merged = SourceRuns()
    merged.runs.reserveCapacity(runs.count + others.count)
    var rest = others
    for run in runs {
      while let next = rest.first, next < run.source {
        merged.append(next, 1)
        rest.removeFirst()
      }
      merged.append(run.source, run.count)
    }
    for source in rest { merged.append(source, 1) }
    self = merged
  }

  /// Takes one link out for each of `others`, which are in order and may be missing.
  package mutating func remove(_ others: ArraySlice<Int64>) {
    var rest = others
    var isChanged = false
    for index in runs.indices {
      while let next = rest.first, next < runs[index].source { rest.removeFirst() }
      while rest.first == runs[index].source {
        rest.removeFirst()
        runs[index].count -= 1
        isChanged = true
      }
    }
    if isChanged { runs.removeAll { $0.count <= 0 } }
  }

  // MARK: Stored form

  /// More links cannot be: each of them has a cell, and no tree has more rows.
  static let linkCountLimit: UInt64 = 1 << 48
  /// The most bytes of sources that a head or a block has.
  package static let byteLimit = 240

  /// Appends the stored form; without the first source where its key says that.
  package func append(to bytes: inout [UInt8], hasFirst: Bool) {
    var previous: Int64?
    for run in runs { Self.append(run, after: &previous, to: &bytes, hasFirst: hasFirst) }
  }

  private static func append(
    _ run: Run, after previous: inout Int64?, to bytes: inout [UInt8], hasFirst: Bool
  ) {
    if let previous {
      append(UInt64(bitPattern: run.source &- previous), to: &bytes)
    } else if hasFirst {
      append(zigZag(run.source), to: &bytes)
    }
    previous = run.source
    if run.count > 1 {
      bytes.append(0)
      append(UInt64(run.count - 1), to: &bytes)
    }
  }

  /// The sources in blocks: each with its stored form, without the first source.
  ///
  /// Full ones from the beginning, or else as many as it takes with room to grow.
  package func blocks(isFull: Bool) -> [(source: Int64, bytes: [UInt8])] {
    var whole: [UInt8] = []
    append(to: &whole, hasFirst: false)
    if whole.count <= Self.byteLimit { return runs.first.map { [($0.source, whole)] } ?? [] }
    let pieceCount = whole.count / (Self.byteLimit * 2 / 3) + 1
    let limit = isFull ? Self.byteLimit - 20 : whole.count / pieceCount
    var blocks: [(source: Int64, bytes: [UInt8])] = []
    var bytes: [UInt8] = []
    var (first, previous): (Int64?, Int64?) = (nil, nil)
    for run in runs {
      if let source = first, bytes.count >= limit {
        blocks.append((source, bytes))
        bytes = []
        (first, previous) = (nil, nil)
      }
      if first == nil { first = run.source }
      Self.append(run, after: &previous, to: &bytes, hasFirst: false)
    }
    if let first { blocks.append((first, bytes)) }
    return blocks
  }

  /// Calls `body` with the runs in stored bytes until it returns false; whether it never did.
  ///
  /// Nil when the bytes break the format.
  static func forEach<Failure: Error>(
    _ bytes: UnsafeRawBufferPointer, first: Int64?, _ body: (Run) throws(Failure) -> Bool
  ) throws(Failure) -> Bool? {
    var rest = unsafe bytes[...]
    var run: Run
    if let first {
      run = Run(source: first, count: 1)
    } else {
      guard let number = unsafe number(&rest) else { return nil }
      run = Run(source: unZigZag(number), count: 1)
    }
    while unsafe !rest.isEmpty {
      guard let difference = unsafe number(&rest) else { return nil }
      if difference == 0 {
        guard run.count == 1, let further = unsafe number(&rest), further > 0,
          further < linkCountLimit
        else { return nil }
        run.count += Int(further)
        continue
      }
      if try !body(run) { return false }
      let (next, overflows) = run.source.addingReportingOverflow(Int64(bitPattern: difference))
      // Differences may be larger than the largest key.
      guard !overflows || difference > UInt64(Int64.max), next > run.source else { return nil }
      run = Run(source: next, count: 1)
    }
    return try body(run)
  }

  /// Reads the stored form; nil when the bytes break the format.
  package init?(_ bytes: UnsafeRawBufferPointer, first: Int64?) {
    var runs: [Run] = []
    let isSound = unsafe Self.forEach(bytes, first: first) { (run) -> Bool in
      runs.append(run)
      return true
    }
    if isSound == nil { return nil }
    self.runs = runs
  }

  // MARK: Numbers

  static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// Takes a number from the beginning; nil when none is there.
  static func number(_ bytes: inout Slice<UnsafeRawBufferPointer>) -> UInt64? {
    var number: UInt64 = 0
    var shift: UInt64 = 0
    while let byte = unsafe bytes.first {
      unsafe bytes.removeFirst()
      guard shift < 63 || byte <= 1 else { return nil }
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return number }
      shift += 7
    }
    return nil
  }

  private static func zigZag(_ number: Int64) -> UInt64 {
    UInt64(bitPattern: number << 1 ^ number >> 63)
  }

  private static func unZigZag(_ number: UInt64) -> Int64 {
    Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
  }
}
