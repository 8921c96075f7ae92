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

  /// Gives what the memory holds back to the system, which provides it again when it is touched.
  ///
  /// Afterwards, and for whoever reads meanwhile, each byte is zero or what it was. (Linux gives zeros; on Darwin
  /// `MADV_DONTNEED` is a hint.)
  static func letGo(_ memory: UnsafeMutableRawPointer, byteCount: Int) {
    _ = unsafe madvise(memory, byteCount, MADV_DONTNEED)
  }

  static func deallocate(_ memory: UnsafeMutableRawPointer, byteCount: Int) {
    unsafe munmap(memory, byteCount)
  }
}
