/// Elements of plain memory, of which there come more and more; unlike an array it is read and written
/// without counting references.
struct GrowingMemory<Element: BitwiseCopyable>: ~Copyable {
  /// The first element.
  private(set) var start: UnsafeMutablePointer<Element>
  /// How many there are.
  private(set) var count = 0
  private var capacity: Int

  init(capacity: Int = 0) {
    self.capacity = capacity
    start = .allocate(capacity: max(1, capacity))
  }

  deinit { start.deallocate() }

  @inline(__always) subscript(index: Int) -> Element {
    assert(index >= 0 && index < count, "An element that is there.")
    return start[index]
  }

  @inline(__always) mutating func append(_ element: Element) {
    if count == capacity { reserve(max(16, capacity * 2)) }
    start[count] = element
    count &+= 1
  }

  @inline(never) mutating func reserve(_ capacity: Int) {
    if capacity <= self.capacity { return }
    let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
    larger.update(from: start, count: count)
    start.deallocate()
    (start, self.capacity) = (larger, capacity)
  }

  /// Forgets all, keeping the memory.
  mutating func removeAll() { count = 0 }
}
