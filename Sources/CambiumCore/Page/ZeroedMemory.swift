#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Zeroed memory that the system provides page by page, when it is first touched.
///
/// Taken from the system itself: an allocator that has had such a block before may give it out again,
/// and must then fill all of it with zeros.
///
/// Pointers: the memory belongs to the caller, who gives it back once and says the same length.
enum ZeroedMemory {
  /// `byteCount` bytes, to be given back with ``deallocate(_:byteCount:)``.
  static func allocate(byteCount: Int) -> UnsafeMutableRawPointer {
    let memory = unsafe mmap(
      nil, byteCount, PROT_READ | PROT_WRITE, MAP_PRIVATE | CInt(MAP_ANONYMOUS), -1, 0)
    guard let memory = unsafe memory, unsafe memory != MAP_FAILED else {
      fatalError("Out of memory: \(byteCount) bytes were refused.")
    }
    return unsafe memory
  }

  static func deallocate(_ memory: UnsafeMutableRawPointer, byteCount: Int) {
    unsafe munmap(memory, byteCount)
  }
}
