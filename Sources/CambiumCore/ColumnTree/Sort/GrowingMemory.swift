/// Elements of plain memory, of which there come more and more; unlike an array it is read and written
/// without counting references.
///
/// Pointers: the memory belongs to this value, moves when there is no room for what comes, and goes
/// with it. The caller vouches for indices and for the counts that are dropped or were written by
/// himself; some of them are asserted.
@safe struct GrowingMemory<Element: BitwiseCopyable>: ~Copyable {
  /// The first element.
  private(set) var start: UnsafeMutablePointer<Element>
  /// How many there are.
  private(set) var count = 0
  private var capacity: Int

  init(capacity: Int = 0) {
    self.capacity = capacity
    unsafe start = .allocate(capacity: max(1, capacity))
  }

  deinit { unsafe start.deallocate() }

  @inline(__always) subscript(index: Int) -> Element {
    assert(index >= 0 && index < count, "An element that is there.")
    return unsafe start[index]
  }

  /// All of them; valid until the next change.
  var elements: UnsafeBufferPointer<Element> {
    unsafe UnsafeBufferPointer(start: start, count: count)
  }

  @inline(__always) mutating func append(_ element: Element) {
    if count == capacity { reserve(max(16, capacity * 2)) }
    unsafe start[count] = element
    count &+= 1
  }

  /// Appends all of `elements`.
  mutating func append(_ elements: UnsafeBufferPointer<Element>) {
    reserveMore(elements.count)
    if let first = elements.baseAddress {
      unsafe (start + count).update(from: first, count: elements.count)
    }
    count &+= elements.count
  }

  /// Appends `element` as often as `count` says.
  mutating func append(repeating element: Element, count: Int) {
    reserveMore(count)
    unsafe (start + self.count).update(repeating: element, count: count)
    self.count &+= count
  }

  /// Counts `count` elements that were written behind the last one.
  mutating func extend(by count: Int) {
    self.count &+= count
    assert(self.count <= capacity, "Elements are where there is room.")
  }

  /// Drops the first `count` elements.
  mutating func removeFirst(_ count: Int) {
    unsafe start.update(from: start + count, count: self.count &- count)
    self.count &-= count
  }

  /// Makes room for `more` elements behind those there are.
  @inline(__always) mutating func reserveMore(_ more: Int) {
    if count &+ more > capacity { reserve(max(count &+ more, capacity &* 2)) }
  }

  @inline(never) mutating func reserve(_ capacity: Int) {
    if capacity <= self.capacity { return }
    let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
    unsafe larger.update(from: start, count: count)
    unsafe start.deallocate()
    unsafe (start, self.capacity) = unsafe (larger, capacity)
  }

  /// Forgets all, keeping the memory.
  mutating func removeAll() { count = 0 }
}
