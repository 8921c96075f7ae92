import CambiumCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Memory at an address that never changes, taken from the system as the store grows.
///
/// A large range of addresses is reserved once and made accessible in steps, so that pages can be
/// lent without copies for as long as a pin lives. The only file of the module that calls C.
///
/// Unchecked: the address is constant; who may write where is the store's business.
@safe final class ReservedMemory: @unchecked Sendable {
  /// The first byte; nil when the system refused the addresses.
  let base: UnsafeMutableRawPointer?
  /// How many bytes of addresses are reserved.
  let byteCount: Int
  private static let stepByteCount = 4 << 20

  init() {
    var wanted = Self.wantedByteCount
    while wanted >= 64 << 20 {
      let memory = unsafe mmap(nil, wanted, PROT_NONE, Self.flags, -1, 0)
      if let memory = unsafe memory, unsafe memory != MAP_FAILED {
        unsafe base = unsafe memory
        byteCount = wanted
        return
      }
      // Limits on address space are honoured by asking for less.
      wanted /= 2
    }
    unsafe base = nil
    byteCount = 0
  }

  deinit { if let base = unsafe base { unsafe munmap(base, byteCount) } }

  private static var flags: Int32 {
    #if canImport(Darwin)
      MAP_PRIVATE | MAP_ANON | MAP_NORESERVE
    #else
      MAP_PRIVATE | Int32(MAP_ANONYMOUS) | Int32(MAP_NORESERVE)
    #endif
  }

  /// Twice the machine's memory, between 16 GiB and 1 TiB: no store outgrows it before memory ends.
  private static var wantedByteCount: Int {
    let pageCount = sysconf(Int32(_SC_PHYS_PAGES))
    let physical = pageCount > 0 ? pageCount * sysconf(Int32(_SC_PAGESIZE)) : 16 << 30
    return min(max(2 * physical, 16 << 30), 1 << 40)
  }

  /// Makes the range from `current` up to `needed` bytes accessible, and a little more; how many
  /// bytes are accessible then, or nil when memory or addresses do not suffice.
  func commit(current: Int, needed: Int) -> Int? {
    guard needed > current else { return current }
    guard let base = unsafe base, needed <= byteCount else { return nil }
    let target = min(byteCount, (needed + Self.stepByteCount - 1) & ~(Self.stepByteCount - 1))
    guard unsafe mprotect(base + current, target - current, PROT_READ | PROT_WRITE) == 0 else {
      return nil
    }
    #if os(Linux)
      // A store that has grown gets large pages: fewer faults and fewer address translations.
      if current > 0 { unsafe madvise(base + current, target - current, Int32(MADV_HUGEPAGE)) }
    #endif
    return target
  }
}
