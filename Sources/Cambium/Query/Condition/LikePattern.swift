/// A pattern of `LIKE`: `?` stands for one character, `*` for any number, everything else for itself.
///
/// In text a character is a Unicode scalar value, in data a byte.
///
/// Pointers: the caller lends the value; a place in it or in the pattern is compared with the count
/// before it is read.
package struct LikePattern: Hashable, Sendable {
  /// The pattern's bytes, folded where the comparison is.
  let bytes: [UInt8]
  let isText: Bool

  /// Whether all of `value` fits the pattern.
  package func matches(_ value: UnsafeRawBufferPointer) -> Bool {
    unsafe bytes.withUnsafeBytes { unsafe matches(value, pattern: $0) }
  }

  private func matches(
    _ value: UnsafeRawBufferPointer, pattern: UnsafeRawBufferPointer
  ) -> Bool {
    // Greedy with one place to come back to: only the last star ever needs to take more.
    var (position, place) = (0, 0)
    var retry: (position: Int, place: Int)?
    while position < value.count {
      if place < pattern.count, unsafe pattern[place] == UInt8(ascii: "*") {
        place += 1
        retry = (position, place)
      } else if place < pattern.count, unsafe pattern[place] == UInt8(ascii: "?") {
        unsafe position += width(value, position)
        place += 1
      } else if place < pattern.count, unsafe pattern[place] == value[position] {
        position += 1
        place += 1
      } else if let (lastPosition, lastPlace) = retry {
        position = unsafe lastPosition + width(value, lastPosition)
        place = lastPlace
        retry = (position, place)
      } else {
        return false
      }
    }
    return unsafe pattern[place...].allSatisfy { $0 == UInt8(ascii: "*") }
  }

  /// The bytes of the character at `position`.
  private func width(_ value: UnsafeRawBufferPointer, _ position: Int) -> Int {
    guard isText, unsafe value[position] >= 0xC0 else { return 1 }
    var end = position + 1
    while end < value.count, unsafe value[end] & 0xC0 == 0x80 { end += 1 }
    return end - position
  }
}
