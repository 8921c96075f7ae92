import Synchronization

/// Decoded pages that are kept for as long as anybody reads through this object, and are found
/// without a lock and lent without a reference count.
///
/// Sources share it and keep it alive; nothing is taken out of it before the last of them goes. So a
/// page of it is as good as one in a mapping: it stays while the source does. What goes in is bounded
/// by bytes and by entries, and what does not fit is left to the cache, whose pages are counted.
///
/// A table with open addressing, a cache line for each entry, so that a read that finds its page
/// touches one line besides the page.
///
/// Unchecked: an entry is written by whoever has claimed it, then published by its tag with a release
/// store, and never changes again.
@safe final class HeldPages: @unchecked Sendable {
  @safe private struct Entry {
    /// Zero while free, ``busy`` while it is being written, otherwise the tag of its reference.
    var tag: UInt64
    var reference: PageReference
    var bytes: UnsafeRawPointer
    var byteCount: Int
    var buffer: Unmanaged<PageBuffer>
  }

  private static let entryByteCount = 64
  private static let busy: UInt64 = 1
  /// How many places a search looks at, at most.
  private static let reach = 8

  private let entries: UnsafeMutableRawPointer
  private let mask: Int
  private let byteLimit: Int
  private let entryLimit: Int
  private let heldByteCount = Atomic<Int>(0)
  private let heldCount = Atomic<Int>(0)
  private let refusedCount = Atomic<Int>(0)

  /// Room for `byteCount` bytes of leaves, and an eighth of that more for branches.
  init(byteCount: Int) {
    precondition(
      MemoryLayout<Entry>.size <= Self.entryByteCount && MemoryLayout<Entry>.offset(of: \.tag) == 0,
      "An entry is one cache line that begins with its tag.")
    var count = 64
    while count < byteCount / 2048 { count *= 2 }
    unsafe entries = unsafe ZeroedMemory.allocate(byteCount: count * Self.entryByteCount)
    mask = count - 1
    byteLimit = byteCount
    entryLimit = count / 4 * 3
  }

  deinit {
    for index in 0...mask where unsafe tag(index).pointee.load(ordering: .acquiring) > Self.busy {
      unsafe entry(index).pointee.buffer.release()
    }
    unsafe ZeroedMemory.deallocate(entries, byteCount: (mask + 1) * Self.entryByteCount)
  }

  /// How many bytes of pages it keeps.
  var byteCount: Int { heldByteCount.load(ordering: .relaxed) }

  /// Whether pages that are read again and again have found no room as often as others have, so that
  /// those who begin to read are better off with a new one.
  var isOutworn: Bool {
    refusedCount.load(ordering: .relaxed) > max(64, heldCount.load(ordering: .relaxed))
  }

  // MARK: Entries

  @inline(__always)
  private func entry(_ index: Int) -> UnsafeMutablePointer<Entry> {
    unsafe (entries + index &* Self.entryByteCount).assumingMemoryBound(to: Entry.self)
  }

  @inline(__always)
  private func tag(_ index: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
    unsafe (entries + index &* Self.entryByteCount).assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  /// Checksums are as good as random; the two values with a meaning of their own are left out.
  @inline(__always)
  private func tag(of reference: PageReference) -> UInt64 { reference.checksum | 2 }

  /// Where the search for a page begins.
  @inline(__always)
  private func home(_ reference: PageReference) -> Int {
    Int(truncatingIfNeeded: reference.checksum &>> 8)
  }

  /// The page at `reference`, if it is held; it stays as long as this object.
  @inline(__always)
  func page(_ reference: PageReference) -> Page? {
    let wanted = tag(of: reference)
    var index = home(reference) & mask
    for _ in 0..<Self.reach {
      let found = unsafe tag(index).pointee.load(ordering: .acquiring)
      if found == wanted {
        let entry = unsafe entry(index)
        if unsafe entry.pointee.reference == reference {
          return unsafe Page(
            bytes: entry.pointee.bytes, byteCount: entry.pointee.byteCount, owner: nil)
        }
      } else if found == 0 {
        return nil
      }
      index = (index &+ 1) & mask
    }
    return nil
  }

  /// Holds `buffer` from now on; false when there is no room for it.
  ///
  /// Two threads that hold the same page at the same moment may take two entries for it.
  @discardableResult
  func insert(_ buffer: PageBuffer, for reference: PageReference, isBranch: Bool) -> Bool {
    let limit = isBranch ? byteLimit + byteLimit / 8 : byteLimit
    // Counted first, so that no number of threads gets past the limit together.
    let bytes = heldByteCount.add(buffer.byteCount, ordering: .relaxed).newValue
    let count = heldCount.add(1, ordering: .relaxed).newValue
    if bytes <= limit, count <= entryLimit, place(buffer, reference) { return true }
    heldByteCount.subtract(buffer.byteCount, ordering: .relaxed)
    heldCount.subtract(1, ordering: .relaxed)
    refusedCount.add(1, ordering: .relaxed)
    return false
  }

  private func place(_ buffer: PageBuffer, _ reference: PageReference) -> Bool {
    var index = home(reference) & mask
    for _ in 0..<Self.reach {
      let isClaimed = unsafe tag(index).pointee.compareExchange(
        expected: 0, desired: Self.busy, ordering: .acquiringAndReleasing
      ).exchanged
      if isClaimed {
        let tag = tag(of: reference)
        // The tag is not written here: others may be looking at it.
        let entry = unsafe entry(index)
        unsafe entry.pointee.reference = reference
        unsafe entry.pointee.bytes = unsafe UnsafeRawPointer(buffer.bytes)
        unsafe entry.pointee.byteCount = buffer.byteCount
        unsafe entry.pointee.buffer = unsafe Unmanaged.passRetained(buffer)
        unsafe self.tag(index).pointee.store(tag, ordering: .releasing)
        return true
      }
      index = (index &+ 1) & mask
    }
    return false
  }
}
