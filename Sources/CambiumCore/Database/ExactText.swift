/// A text that is told apart from others by its bytes, as the catalog and maps do with theirs.
///
/// `String` takes two spellings of one letter (é, and e with an accent) for equal.
///
/// Pointers: the text's own bytes, during one call and within their count.
package struct ExactText: Hashable, Comparable, Sendable {
  package private(set) var text: String

  package init(_ text: String) {
    self.text = text
    // On Linux every text is; it costs a look.
    self.text.makeContiguousUTF8()
  }

  /// Calls `body` with the bytes, which lie in one place.
  private func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    guard
      let result = unsafe text.utf8.withContiguousStorageIfAvailable({
        unsafe body(UnsafeRawBufferPointer($0))
      })
    else { preconditionFailure("A text's bytes lie in one place.") }
    return result
  }

  package static func == (left: ExactText, right: ExactText) -> Bool {
    guard left.text.utf8.count == right.text.utf8.count else { return false }
    return unsafe left.withBytes { left in
      unsafe right.withBytes { unsafe ByteComparison.order(left, $0) == 0 }
    }
  }

  package static func < (left: ExactText, right: ExactText) -> Bool {
    unsafe left.withBytes { left in
      unsafe right.withBytes { unsafe ByteComparison.order(left, $0) < 0 }
    }
  }

  package func hash(into hasher: inout Hasher) {
    unsafe withBytes { unsafe hasher.combine(bytes: $0) }
  }
}
