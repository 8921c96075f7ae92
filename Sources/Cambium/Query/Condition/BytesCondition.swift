import CPlatform
import Foundation

/// A condition on text or data.
///
/// Pointers: the caller lends the value, constants are arrays, and folded text lies in one. What is
/// compared byte by byte is no longer than the shorter of both.
package struct BytesCondition: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    case equal([UInt8])
    case notEqual([UInt8])
    /// Between two values, of which either may be missing and either may be left out.
    case range(lower: [UInt8]?, includesLower: Bool, upper: [UInt8]?, includesUpper: Bool)
    /// One of these, in ascending order.
    case set([[UInt8]])
    case beginsWith([UInt8])
    case endsWith([UInt8])
    case contains([UInt8])
    case like(LikePattern)
  }

  package let kind: Kind
  /// Applied to values before the comparison; the constants are folded already.
  package let folding: TextFolding?

  package init(_ kind: Kind, folding: TextFolding? = nil) {
    self.kind = kind
    self.folding = folding
  }

  /// The same for values that are folded already.
  package var ofFolded: BytesCondition { BytesCondition(kind) }

  /// Whether a value satisfies the condition.
  package func matches(_ value: UnsafeRawBufferPointer) -> Bool {
    guard let folding else { return unsafe matchesFolded(value) }
    var folded: [UInt8] = []
    unsafe folding.fold(value, into: &folded)
    return unsafe folded.withUnsafeBytes(matchesFolded)
  }

  /// The same, with memory for folding that a scan uses again.
  package func matches(_ value: UnsafeRawBufferPointer, scratch: inout [UInt8]) -> Bool {
    guard let folding else { return unsafe matchesFolded(value) }
    unsafe folding.fold(value, into: &scratch)
    return unsafe scratch.withUnsafeBytes(matchesFolded)
  }

  private func matchesFolded(_ value: UnsafeRawBufferPointer) -> Bool {
    switch kind {
    case .equal(let bytes): return unsafe Self.isEqual(value, bytes)
    case .notEqual(let bytes): return unsafe !Self.isEqual(value, bytes)
    case .range(let lower, let includesLower, let upper, let includesUpper):
      if let lower {
        let order = unsafe Self.compare(value, lower)
        if order < 0 || order == 0 && !includesLower { return false }
      }
      guard let upper else { return true }
      let order = unsafe Self.compare(value, upper)
      return order < 0 || order == 0 && includesUpper
    case .set(let members): return unsafe Self.contains(members, value)
    case .beginsWith(let piece):
      return unsafe value.count >= piece.count
        && Self.isEqual(UnsafeRawBufferPointer(rebasing: value.prefix(piece.count)), piece)
    case .endsWith(let piece):
      return unsafe value.count >= piece.count
        && Self.isEqual(UnsafeRawBufferPointer(rebasing: value.suffix(piece.count)), piece)
    case .contains(let piece): return unsafe Self.isFound(piece, in: value)
    case .like(let pattern): return unsafe pattern.matches(value)
    }
  }

  private static func isEqual(_ value: UnsafeRawBufferPointer, _ bytes: [UInt8]) -> Bool {
    guard value.count == bytes.count else { return false }
    return unsafe bytes.withUnsafeBytes { bytes in
      guard let left = value.baseAddress, let right = bytes.baseAddress else { return true }
      return unsafe memcmp(left, right, bytes.count) == 0
    }
  }

  /// Negative, zero or positive as `value` sorts before, with or behind `bytes`.
  static func compare(_ value: UnsafeRawBufferPointer, _ bytes: [UInt8]) -> Int {
    unsafe bytes.withUnsafeBytes { unsafe compare(value, $0) }
  }

  /// Negative, zero or positive as `left` sorts before, with or behind `right`.
  static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    let common = min(left.count, right.count)
    if common > 0, let first = left.baseAddress, let second = right.baseAddress {
      let order = unsafe memcmp(first, second, common)
      if order != 0 { return Int(order) }
    }
    return left.count - right.count
  }

  private static func contains(_ members: [[UInt8]], _ value: UnsafeRawBufferPointer) -> Bool {
    var (lower, upper) = (0, members.count)
    while lower < upper {
      let middle = (lower + upper) / 2
      let order = unsafe compare(value, members[middle])
      if order == 0 { return true }
      if order < 0 { upper = middle } else { lower = middle + 1 }
    }
    return false
  }

  private static func isFound(_ piece: [UInt8], in value: UnsafeRawBufferPointer) -> Bool {
    guard value.count >= piece.count, let start = value.baseAddress else { return piece.isEmpty }
    return unsafe piece.withUnsafeBytes { piece in
      guard let first = piece.baseAddress else { return true }
      return unsafe cambium_memmem(start, value.count, first, piece.count) != nil
    }
  }
}
