/// Memory for the rows of a leaf, which serves for one leaf after another.
///
/// Pointers: the memory belongs to this value and goes with it. What `room(_:)` gives is valid until
/// the next call, for as many elements as were asked for.
@safe package struct RowScratch<Element: BitwiseCopyable>: ~Copyable {
  private var memory = unsafe UnsafeMutableBufferPointer<Element>(start: nil, count: 0)

  package init() {}

  deinit { unsafe memory.deallocate() }

  /// Room for `count` of them, undefined until they are written.
  package mutating func room(_ count: Int) -> UnsafeMutablePointer<Element> {
    if unsafe memory.count < count || memory.baseAddress == nil {
      unsafe memory.deallocate()
      unsafe memory = .allocate(capacity: max(count * 2, 64))
    }
    return unsafe memory.baseAddress.unsafelyUnwrapped
  }
}
