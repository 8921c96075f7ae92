import CPlatform
import Synchronization

/// Remembers which pages have been checked, so that a page is hashed and walked once, not at every
/// read.
///
/// A direct-mapped table of 64-bit tags. A tag mixes the whole reference, checksum included, never
/// only the address: another process may put another page at the same address. Losing a tag to a
/// neighbour costs a second check, nothing more.
///
/// Who makes a file chooses its references, and must not be able to choose two with the same tag: the
/// second page would pass unchecked. So checksum and location are multiplied after being mixed with
/// secrets of the table (the folded product of wyhash), and the origin, in which kind and version lie,
/// is mixed in by an odd factor, so that no two origins look alike. One that was never checked is
/// trusted with a chance of one in 2^64, and who makes a file cannot raise it.
///
/// Pages that lie side by side have their tags side by side, so that a scan walks the table as it
/// walks the store: scattered tags cost a scan more than all its pages, in cache and TLB misses.
///
/// Unchecked: the tags are atomics in memory that lives as long as the table.
@safe public final class TrustTable: @unchecked Sendable {
  @usableFromInline let tags: UnsafeMutablePointer<Atomic<UInt64>>
  @usableFromInline let bitCount: UInt64
  /// What tags are mixed with; another for each table, never stored.
  @usableFromInline let secrets: (UInt64, UInt64)

  /// A table of 2^`bitCount` tags of 8 bytes; memory that is never used is never touched.
  public init(bitCount: Int = 20) {
    precondition(bitCount > 3, "A trust table has at least 16 tags.")
    self.bitCount = UInt64(bitCount)
    secrets = (.random(in: .min ... .max), .random(in: .min ... .max))
    let memory = unsafe ZeroedMemory.allocate(byteCount: 8 << bitCount)
    unsafe tags = unsafe memory.bindMemory(to: Atomic<UInt64>.self, capacity: 1 << bitCount)
  }

  deinit { unsafe ZeroedMemory.deallocate(UnsafeMutableRawPointer(tags), byteCount: 8 << bitCount) }

  /// One slot for 512 bytes of the store.
  ///
  /// Pages that start within the same 512 bytes lie far apart, in eight regions; where the store is
  /// larger than the table reaches, each round is one slot further, so that pages at even distances
  /// share no slots.
  @inlinable @inline(__always)
  func slot(_ reference: PageReference) -> Int {
    let address = reference.address
    let slot =
      (address &>> 3) &+ ((address & 7) &<< (bitCount &- 3)) &+ (address &>> (bitCount &+ 3))
    return Int(truncatingIfNeeded: slot & ((1 &<< bitCount) &- 1))
  }

  @inlinable @inline(__always)
  func tag(_ reference: PageReference) -> UInt64 {
    let product = (reference.checksum ^ secrets.0).multipliedFullWidth(
      by: reference.location ^ secrets.1)
    return product.high ^ product.low ^ (reference.origin &* 0x1656_67B1_9E37_79F9)
  }

  /// Whether this very page was checked before.
  @inlinable @inline(__always)
  public func contains(_ reference: PageReference) -> Bool {
    unsafe tags[slot(reference)].load(ordering: .relaxed) == tag(reference)
  }

  /// Hints that ``contains(_:)`` will be asked soon.
  @inlinable @inline(__always)
  func prefetch(_ reference: PageReference) { unsafe cambium_prefetch(tags + slot(reference)) }

  /// Gives the memory back, and with it forgets the pages; others may ask and note meanwhile.
  func letGo() {
    unsafe ZeroedMemory.letGo(UnsafeMutableRawPointer(tags), byteCount: 8 << bitCount)
  }

  /// Notes that the page has been checked.
  public func insert(_ reference: PageReference) {
    unsafe tags[slot(reference)].store(tag(reference), ordering: .relaxed)
  }
}
