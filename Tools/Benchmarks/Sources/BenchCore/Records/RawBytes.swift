import CFloor
import Foundation

extension UnsafeRawBufferPointer {
  /// Whether `part` lies somewhere in these bytes.
  @inline(__always)
  func contains(_ part: UnsafeRawBufferPointer) -> Bool {
    guard let start = baseAddress, let needle = part.baseAddress else { return part.isEmpty }
    return floor_contains(start, count, needle, part.count) != 0
  }
}

/// Below zero, zero or above it, as `left` comes before, is, or comes after `right`.
@inline(__always)
func compareBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
  if let first = left.baseAddress, let second = right.baseAddress {
    let order = memcmp(first, second, min(left.count, right.count))
    if order != 0 { return Int(order) }
  }
  return left.count - right.count
}
