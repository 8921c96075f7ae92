/// A condition on an integer or on a link's target.
package enum IntegerCondition: Sendable, Hashable {
  /// Within the bounds.
  case range(ClosedRange<Int64>)
  /// Not within the bounds.
  case outside(ClosedRange<Int64>)
  case set(IntegerSet)

  @inline(__always) package func matches(_ value: Int64) -> Bool {
    switch self {
    case .range(let range): range.contains(value)
    case .outside(let range): !range.contains(value)
    case .set(let set): set.contains(value)
    }
  }
}

/// A set of integers that answers in a few instructions: a bitmap where they lie close together, a
/// hash table elsewhere.
package struct IntegerSet: Sendable, Hashable {
  /// The members in ascending order.
  package let sorted: [Int64]
  private let bits: [UInt64]
  private let lowest: Int64
  private let hashed: Set<Int64>

  /// Takes integers in any order, duplicates included.
  package init(_ values: [Int64]) {
    var isAscending = true
    for (left, right) in zip(values, values.dropFirst()) where left >= right {
      isAscending = false
      break
    }
    sorted = isAscending ? values : Array(Set(values)).sorted()
    guard let first = sorted.first, let last = sorted.last else {
      (bits, lowest, hashed) = ([], 0, [])
      return
    }
    let (span, isOver) = last.subtractingReportingOverflow(first)
    // A bitmap may take as much memory as the list itself.
    guard !isOver, span < Int64(max(4096, sorted.count * 64)) else {
      (bits, lowest, hashed) = ([], 0, Set(sorted))
      return
    }
    var bits = [UInt64](repeating: 0, count: Int(span) / 64 + 1)
    for value in sorted {
      let offset = Int(value &- first)
      bits[offset >> 6] |= 1 << UInt64(offset & 63)
    }
    (self.bits, lowest, hashed) = (bits, first, [])
  }

  package var count: Int { sorted.count }
  package var isEmpty: Bool { sorted.isEmpty }

  /// The smallest and largest member; nil when there is none.
  package var bounds: ClosedRange<Int64>? {
    guard let first = sorted.first, let last = sorted.last else { return nil }
    return first...last
  }

  @inline(__always) package func contains(_ value: Int64) -> Bool {
    if bits.isEmpty { return !hashed.isEmpty && hashed.contains(value) }
    let offset = UInt64(bitPattern: value &- lowest)
    guard value >= lowest, offset < UInt64(bits.count) << 6 else { return false }
    return bits[Int(offset >> 6)] >> (offset & 63) & 1 != 0
  }
}
