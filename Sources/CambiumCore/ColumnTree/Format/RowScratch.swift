/// Memory for one element a row of a leaf.
///
/// Pointers: the memory belongs to this value and goes with it. What `room(_:)` gives is valid until
/// the next call, for as many elements as were asked for.
@safe struct RowScratch<Element: BitwiseCopyable>: ~Copyable {
  private var memory = UnsafeMutablePointer<Element>.allocate(capacity: 512)
  private var capacity = 512

  deinit { unsafe memory.deallocate() }

  /// Room for `count` of them; what was there is forgotten when there was less.
  mutating func room(_ count: Int) -> UnsafeMutablePointer<Element> {
    if count > capacity {
      unsafe memory.deallocate()
      capacity = count
      unsafe memory = .allocate(capacity: count)
    }
    return unsafe memory
  }
}
