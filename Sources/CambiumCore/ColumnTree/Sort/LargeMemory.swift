import CPlatform

/// Memory for elements that are worked on for a moment and may be many; unlike an array it asks the
/// system for large pages, which a wide scatter needs few translations for.
///
/// Pointers: the memory belongs to this value and goes with it: whoever uses `start` keeps the value
/// until he is through, and stays below `capacity`.
@safe struct LargeMemory<Element: BitwiseCopyable>: ~Copyable {
  /// The first element; nothing is initialised.
  let start: UnsafeMutablePointer<Element>
  /// How many there is room for.
  let capacity: Int

  init(capacity: Int) {
    guard let memory = Self(trying: capacity) else {
      fatalError("Out of memory: \(capacity) elements were refused.")
    }
    self = memory
  }

  /// Nil when the system refuses so much.
  init?(trying capacity: Int) {
    let byteCount = max(1, capacity) * MemoryLayout<Element>.stride
    guard let memory = unsafe cambium_allocate_large(byteCount) else { return nil }
    self.capacity = capacity
    unsafe start = unsafe memory.bindMemory(to: Element.self, capacity: max(1, capacity))
  }

  deinit { unsafe UnsafeMutableRawPointer(start).deallocateLarge() }
}

extension UnsafeMutableRawPointer {
  /// Memory in large pages, where the system has such and it is large.
  ///
  /// Pointers: it belongs to the caller, who gives it back once by `deallocateLarge()`.
  static func allocateLarge(byteCount: Int) -> UnsafeMutableRawPointer {
    guard let memory = unsafe cambium_allocate_large(byteCount) else {
      fatalError("Out of memory: \(byteCount) bytes were refused.")
    }
    return unsafe memory
  }

  /// Gives back what ``allocateLarge(byteCount:)`` gave.
  func deallocateLarge() { unsafe cambium_deallocate_large(self) }
}
