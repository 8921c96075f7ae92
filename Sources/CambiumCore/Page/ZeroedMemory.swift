#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension UnsafeMutableRawPointer {
  /// Zeroed memory that the system provides when it is first touched.
  static func allocateZeroed(byteCount: Int) -> UnsafeMutableRawPointer {
    guard let memory = calloc(1, byteCount) else {
      fatalError("Out of memory: \(byteCount) bytes were refused.")
    }
    return memory
  }

  /// Gives back what ``allocateZeroed(byteCount:)`` gave.
  func deallocateZeroed() { free(self) }
}
