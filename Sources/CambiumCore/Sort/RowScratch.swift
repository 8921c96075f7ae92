/// Memory for one element a row of a leaf.
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
